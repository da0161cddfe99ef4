"""Probabilities mean what they say: on data whose probabilities are known, and against a temperature that cheats."""

import numpy as np
import pytest
import torch

from gnomon.estimators import NNGPClassifier, NTKClassifier
from gnomon.estimators.classification import score_factor


def drawn(n, seed, k=2):
    """Points and labels drawn from known probabilities; Bayes' own log loss is about 0.5."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    logits = 2.0 * np.stack([np.sin(2 * X[:, 0]), X[:, 1], X[:, 2]][:k], 1)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return X, (p.cumsum(1) > rng.random((n, 1))).argmax(1), p


def log_loss(p, y):
    return float(-np.log(p[np.arange(len(y)), y]).mean())


def calibration_error(p, y, bins=10):
    confidence, right = p.max(1), p.argmax(1) == y
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(abs(confidence[place == b].sum() - right[place == b].sum()) for b in range(bins)) / len(y)


def test_the_temperature_is_the_minimum():
    rng = np.random.default_rng(0)
    scores, y = torch.from_numpy(rng.normal(size=(200, 3))), torch.from_numpy(rng.integers(0, 3, 200))
    scores[torch.arange(200), y] += 0.4
    weights = torch.from_numpy(rng.random(200) + 0.5)
    e = 3 / (float(weights.sum()) + 3)
    wanted = (1 - e) * torch.eye(3)[y] + e / 3

    def loss(s):
        return float(-(weights[:, None] * wanted * torch.log_softmax(s * scores, 1)).sum())

    s = score_factor(scores, y, weights)
    assert loss(s) < min(loss(0.999 * s), loss(1.001 * s))


def test_perfect_scores_are_no_certainty_and_useless_ones_say_nothing():
    perfect = torch.eye(2).double().repeat(20, 1)
    s = score_factor(perfect, torch.arange(40) % 2, torch.ones(40).double())
    # e = 2 / 42: p of the right class is 1 - e / 2
    assert 1 / (1 + np.exp(-s)) == pytest.approx(1 - 1 / 42, rel=1e-9)
    assert score_factor(-perfect, torch.arange(40) % 2, torch.ones(40).double()) < 1e-5


@pytest.mark.parametrize("kind", [NTKClassifier, NNGPClassifier])
@pytest.mark.parametrize("k", [2, 3])
def test_held_out_probabilities_are_calibrated(kind, k):
    """The error of a calibrated classifier in ten bins of 4,000 rows is 0.5 sqrt(10 / 4000) = 0.025 by chance alone.

    The rest of the bound is the error of a temperature fitted on 300 rows, which moves the log odds by some 10 %.
    """
    X, y, _ = drawn(300, 0, k)
    Z, truth, known = drawn(4000, 1, k)
    model = kind(depth=2).fit(X, y)
    p = model.predict_proba(Z)
    np.testing.assert_allclose(p.sum(1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(Z)), p, rtol=1e-12)
    assert (model.classes_[p.argmax(1)] == model.predict(Z)).all()
    assert calibration_error(p, truth) < 0.06
    assert log_loss(known, truth) < log_loss(p, truth) < log_loss(known, truth) + 0.12
    frequencies = np.bincount(y, minlength=k) / len(y)
    assert log_loss(p, truth) < log_loss(np.tile(frequencies, (4000, 1)), truth) - 0.1


def test_scores_on_training_rows_would_make_it_overconfident():
    """The control: the same temperature, fitted where the function has seen the labels."""
    X, y, _ = drawn(300, 0)
    Z, truth, _ = drawn(4000, 1)
    model = NTKClassifier(depth=2, ridge=1e-3).fit(X, y)
    seen, new = (torch.from_numpy(model.decision_function(A)) for A in (X, Z))
    both = torch.stack([-seen, seen], 1) / 2
    cheat = score_factor(both, torch.from_numpy(y), torch.ones(300).double())
    p = torch.softmax(cheat * torch.stack([-new, new], 1) / 2, 1).numpy()
    honest = model.predict_proba(Z)
    assert cheat > 2 * model.temperature_
    assert calibration_error(p, truth) > 2 * calibration_error(honest, truth)
    assert log_loss(p, truth) > log_loss(honest, truth) + 0.1
