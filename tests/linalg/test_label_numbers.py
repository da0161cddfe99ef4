"""The test of labels against shuffles, and smoothed densities, written out by hand."""

import inspect

import numpy as np
import pytest
import torch
from scipy.stats import norm

from gnomon.core.errors import InputError
from gnomon.linalg.label_test import LabelTest, label_test
from gnomon.linalg.lanczos import SpectralDensity

G = np.random.default_rng(0)
ROOT = G.standard_normal((7, 4))
K, Y = ROOT @ ROOT.T, G.standard_normal((7, 2)) + [5.0, -3.0]


def centered_alignment(labels):
    """Cosine of the centered kernel and the centered products of the labels."""
    h = np.eye(7) - 1 / 7
    k, c = h @ K @ h, h @ labels
    return (k * (c @ c.T)).sum() / np.linalg.norm(k) / np.linalg.norm(c @ c.T)


def test_labels_are_compared_with_shuffles_of_themselves():
    found = label_test(torch.tensor(K), torch.tensor(Y), shuffles=9, seed=3)
    g = torch.Generator().manual_seed(3)
    shuffled = np.array([centered_alignment(Y[torch.randperm(7, generator=g).numpy()]) for _ in range(9)])
    assert found.shuffled.numpy() == pytest.approx(shuffled)
    assert found.alignment == pytest.approx(centered_alignment(Y))
    assert found.p_value == pytest.approx((1 + (shuffled >= centered_alignment(Y)).sum()) / 10)
    power = shuffled.mean() + (norm.ppf(0.99) + norm.ppf(0.8)) * shuffled.std(ddof=1)
    assert found.detectable == pytest.approx(power, rel=1e-3)
    low, high = np.quantile(shuffled, [0.025, 0.975])
    assert (found.shuffled_interval.low, found.shuffled_interval.high) == pytest.approx((low, high))
    assert inspect.signature(label_test).parameters["shuffles"].default == 400
    with pytest.raises(InputError):
        label_test(torch.ones(2, 3), torch.ones(2))


@pytest.mark.parametrize(("p", "related"), [(0.009, True), (0.011, False)])
def test_labels_are_related_below_one_percent(p, related):
    assert LabelTest(0.5, p, torch.zeros(3).double()).related is related


def test_a_density_is_smoothed_by_normal_densities():
    points, weights = np.array([1.0, 4.0]), np.array([0.25, 0.75])
    density = SpectralDensity(torch.tensor(points), torch.tensor(weights), 1)
    grid = np.array([0.0, 1.5, 4.0])
    expected = sum(w * norm.pdf(grid, p, 0.5) for p, w in zip(points, weights, strict=True))
    assert density.smooth(torch.tensor(grid), 0.5).numpy() == pytest.approx(expected)
