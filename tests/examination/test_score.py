"""Leave-one-out scores against fits that really left one out."""

import numpy as np
import pytest
import torch

from gnomon.examination.score import RIDGES, leave_one_out, right


def problem(n=12, k=2):
    x = torch.randn(n, 5, dtype=torch.float64)
    kernel = 3.0 * torch.exp(-torch.cdist(x, x).square() / 8)
    return kernel, torch.stack([x[:, 0], x[:, 1] * x[:, 2]], 1)[:, :k] + 4.0


def refitted(kernel, y, ridge):
    """Each row predicted by the fit to the others, which are centered by the mean of all."""
    n, mean = len(y), y.mean(0)
    rows = []
    for i in range(n):
        kept = [j for j in range(n) if j != i]
        inner = kernel[kept][:, kept] + ridge * torch.eye(n - 1, dtype=torch.float64)
        rows.append(kernel[i, kept] @ torch.linalg.solve(inner, y[kept] - mean) + mean)
    return torch.stack(rows)


def test_predictions_are_those_of_fits_without_the_row_at_the_best_ridge_of_the_grid():
    kernel, y = problem()
    scale = float(kernel.diagonal().mean())
    errors = {r: float((refitted(kernel, y, r * scale) - y).square().mean()) for r in RIDGES}
    best = min(errors, key=errors.get) * scale
    found = leave_one_out(kernel, y)
    assert found.ridge == pytest.approx(best)
    assert torch.allclose(found.predictions, refitted(kernel, y, best), rtol=1e-8)
    spread = ((y - y.mean(0)) ** 2).mean()  # over n, not n - 1: the error of their mean is 1
    assert found.error(y) == pytest.approx(errors[best / scale] / float(spread), rel=1e-8)


def test_predictions_elsewhere_are_those_of_the_fit_to_all():
    kernel, y = problem()
    found = leave_one_out(kernel, y)
    cross = torch.randn(3, 12, dtype=torch.float64)
    inner = kernel + found.ridge * torch.eye(12, dtype=torch.float64)
    wanted = cross @ torch.linalg.solve(inner, y - y.mean(0)) + y.mean(0)
    assert torch.allclose(found.at(cross), wanted, rtol=1e-7)


def test_what_is_right():
    y = torch.tensor([[1.0], [-1.0], [1.0]])
    assert right(torch.tensor([[0.2], [0.1], [3.0]]), y) == pytest.approx(2 / 3)
    table = torch.from_numpy(np.eye(3)).float()
    assert right(torch.tensor([[0.5, 0.1, 0.2], [0.9, 0.1, 0.0], [0.0, 0.1, 0.2]]), table) == pytest.approx(2 / 3)
