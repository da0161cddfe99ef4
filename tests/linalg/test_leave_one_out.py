"""Leave-one-out scores against fits that really left one out."""

import pytest
import torch
from scipy.stats import binomtest

from gnomon.linalg.leave_one_out import RIDGES, leave_one_out, leave_one_out_of_modes


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
    result = leave_one_out(kernel, y)
    assert result.ridge == pytest.approx(best)
    assert torch.allclose(result.predictions, refitted(kernel, y, best), rtol=1e-8)
    spread = ((y - y.mean(0)) ** 2).mean()  # over n, not n - 1: the error of their mean is 1
    assert result.error == pytest.approx(errors[best / scale] / float(spread), rel=1e-8)


def test_predictions_elsewhere_are_those_of_the_fit_to_all():
    kernel, y = problem()
    result = leave_one_out(kernel, y)
    cross = torch.randn(3, 12, dtype=torch.float64)
    inner = kernel + result.ridge * torch.eye(12, dtype=torch.float64)
    wanted = cross @ torch.linalg.solve(inner, y - y.mean(0)) + y.mean(0)
    assert torch.allclose(result.at(cross), wanted, rtol=1e-7)


def test_eigenpairs_in_any_order_give_the_same():
    kernel, y = problem()
    values, vectors = torch.linalg.eigh(kernel)
    order = torch.randperm(12)
    again, direct = leave_one_out_of_modes(values[order], vectors[:, order], y), leave_one_out(kernel, y)
    assert torch.allclose(again.predictions, direct.predictions, rtol=1e-9) and again.ridge == direct.ridge


def test_classes_are_told_by_sign_or_by_the_largest_output_with_an_exact_binomial_interval():
    """Two groups of points, alike inside and unlike between, one point with the label of the other group."""
    x = torch.tensor([1.0] * 6 + [-1.0] * 6, dtype=torch.float64)
    signs = x.clone()
    signs[0] = -1.0
    for y in (signs[:, None], torch.stack([signs > 0, signs < 0], 1).double()):
        result = leave_one_out(torch.outer(x, x), y)
        assert result.accuracy == pytest.approx(11 / 12)
        exact = binomtest(11, 12).proportion_ci(0.95, method="exact")
        assert result.accuracy_interval.low == pytest.approx(exact.low)
        assert result.accuracy_interval.high == pytest.approx(exact.high)
    assert "91.7%" in result.verdict and "predictions" not in result.to_dict()


def test_numbers_are_no_classes():
    kernel, y = problem()
    result = leave_one_out(kernel, y)
    assert result.accuracy is None and result.accuracy_interval is None and "of the variance" in result.verdict
    assert len(result.plots()[0].marks[0].x) == y.numel()
