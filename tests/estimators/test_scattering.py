"""Scattering features of short rows, and what temperatures of classifiers are fitted on."""

import numpy as np
import pytest
import torch

from gnomon.estimators import NTKClassifier, ScatteringClassifier, ScatteringTransformer, classification
from gnomon.estimators.machine import AbstractKernelMachine

G = np.random.default_rng(0)


@pytest.mark.parametrize(("side", "J", "used"), [(4, 3, 2), (4, 2, 2), (8, 3, 3), (8, 4, 3), (7, 3, 2)])
def test_images_are_averaged_as_far_as_they_go_and_kept_if_that_is_less_than_asked_for(side, J, used):
    X = G.standard_normal((3, side * side))
    model = ScatteringTransformer(J=J, shape=(side, side), L=2, max_order=1).fit(X)
    features = model.transform(X)
    assert model.scattering_.J == used and features.shape[1] == model._n_features_out
    kept = np.array_equal(features[:, : side * side], X)
    assert kept is (used < J)


def test_signals_are_averaged_as_far_as_they_go():
    X = G.standard_normal((3, 6))
    model = ScatteringTransformer(J=4, Q=1).fit(X)
    assert model.scattering_.J == 2 and np.array_equal(model.transform(X)[:, :6], X)
    assert model.transform(X).shape[1] == model._n_features_out


def test_the_classifier_is_logistic_regression_with_a_thousand_steps():
    X, y = G.standard_normal((8, 16)), np.array([0, 1] * 4)
    last = ScatteringClassifier(shape=(4, 4), L=2).fit(X, y).pipeline_[-1]
    assert (last.C, last.max_iter) == (0.1, 1000)


def test_a_temperature_is_fitted_to_the_labels_and_leave_one_out_scores(monkeypatch):
    """Classes of unequal size: the mean of the indicators is added again before the largest is taken."""
    seen = []
    monkeypatch.setattr(classification, "score_factor", lambda *found: seen.append(found) or 1.0)
    labels = np.array([0] * 9 + [1] * 3 + [2] * 2)
    X = G.standard_normal((14, 2)) + labels[:, None]
    model = NTKClassifier(depth=1, ridge=0.1).fit(X, labels)
    scores, codes, weights = seen[0]
    assert codes.tolist() == labels.tolist() and weights.tolist() == [1.0] * 14
    gram = model.kernel_(torch.from_numpy(model.scaling_(X))).numpy()
    centered = np.eye(3)[labels] - np.bincount(labels) / 14
    ridge = 0.1 * model.kernel_scale_
    hat = gram @ np.linalg.inv(gram + ridge * np.eye(14))
    left = np.eye(3)[labels] - (centered - hat @ centered) / (1 - np.diag(hat))[:, None]
    np.testing.assert_allclose(scores.numpy(), left, rtol=1e-8)


def test_every_machine_starts_with_weights_of_variance_two():
    assert (AbstractKernelMachine.weight_std, AbstractKernelMachine.bias_std) == (2**0.5, 1.0)
    X = G.standard_normal((6, 2))
    assert NTKClassifier(depth=1, ridge=0.1).fit(X, [0, 1] * 3).weight_std == 2**0.5
