"""Stability of kernel ridge regression, computed again in numpy and by refits."""

from math import log, sqrt

import numpy as np
import pytest
import torch

from gnomon.bounds import ridge_stability


def test_every_number_of_ridge_stability_is_its_formula():
    """Equations (1) to (3) with unequal targets, a kernel whose diagonal is not constant, and held-out examples."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(12, 3)), rng.normal(size=(7, 3))
    kernel, between = 0.7 * x @ x.T, 0.7 * z @ x.T
    y, t, decay, delta, n = 1.7 * np.sin(x[:, 0]) + 0.2, rng.normal(size=7), 0.3, 0.1, 12
    found = ridge_stability(
        torch.tensor(kernel),
        torch.tensor(y),
        decay=decay,
        confidence=1 - delta,
        test=(torch.tensor(between), torch.tensor(t)),
    )
    alpha = np.linalg.solve(kernel + n * decay * np.eye(n), y)
    fitted = (kernel @ alpha - y) ** 2
    left = []
    for i in range(n):
        keep = np.arange(n) != i
        own = np.linalg.solve(kernel[np.ix_(keep, keep)] + n * decay * np.eye(n - 1), y[keep])
        left.append((kernel[i, keep] @ own - y[i]) ** 2)
    top, largest = sqrt(kernel.diagonal().max()), np.abs(y).max()
    slope = 2 * (largest + top * largest / sqrt(decay))
    uniform = slope**2 * top**2 / (2 * decay * n)
    tail = sqrt(log(1 / delta) / (2 * n))
    assert found.uniform == pytest.approx(uniform) and found.training == pytest.approx(fitted.mean())
    assert float(found.measured.value) == pytest.approx(np.abs(fitted - left).max())
    parts = [fitted.mean(), 2 * uniform, 4 * n * uniform * tail, (slope / 2) ** 2 * tail]
    assert [float(p.value) for p in found.bound.factors] == pytest.approx(parts)
    assert found.bound.value == pytest.approx(sum(parts))
    losses = (between @ alpha - t) ** 2
    half = 1.96 * losses.std(ddof=1) / sqrt(7)
    seen = found.bound.measured
    assert float(seen.value) == pytest.approx(losses.mean())
    assert (seen.interval.low, seen.interval.high) == pytest.approx((losses.mean() - half, losses.mean() + half))


@pytest.mark.parametrize(("shift", "holds"), [(0.0, True), (-1e-3, False)])
def test_a_kernel_with_a_negative_eigenvalue_breaks_a_hypothesis(shift, holds):
    kernel = torch.diag(torch.tensor([2.0, 1.0, shift])).double()
    found = ridge_stability(kernel, torch.tensor([0.3, -0.2, 0.1]).double(), decay=0.5)
    assert found.bound.hypotheses[1].holds is holds
