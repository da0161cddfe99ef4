"""The simple model: leave-one-out against refits, its score, and what more data bring it."""

import numpy as np
import pytest
import torch

from gnomon.checks import simple_model_baseline
from gnomon.checks.data.ridge import RIDGES, leave_one_out_ridge_predictions


def refitted(f, y, ridge):
    """Each example predicted from a fit to all others; the mean is that of all, as equation (1) has it."""
    f, y = f.numpy(), y.numpy()
    top = np.linalg.eigvalsh((f - f.mean(0)).T @ (f - f.mean(0)))[-1]
    z = np.hstack([f - f.mean(0), np.ones((len(f), 1))])
    penalty = ridge * top * np.diag([*np.ones(f.shape[1]), 0.0])  # the constant is not shrunk
    out = []
    for i in range(len(f)):
        keep = np.arange(len(f)) != i
        w = np.linalg.solve(z[keep].T @ z[keep] + penalty, z[keep].T @ y[keep])
        out.append(z[i] @ w)
    return np.array(out)


def test_votes_leave_each_example_out():
    g = torch.Generator().manual_seed(0)
    f = torch.randn(40, 5, generator=g, dtype=torch.float64)
    y = f[:, :2] + 0.3 * torch.randn(40, 2, generator=g, dtype=torch.float64)
    found = leave_one_out_ridge_predictions(f, y, torch.arange(40)).numpy()
    wanted = min((refitted(f, y, float(r)) for r in RIDGES), key=lambda v: ((v - y.numpy()) ** 2).mean())
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)


def test_what_it_was_not_fitted_to_is_predicted_plainly():
    x = torch.linspace(-1, 1, 30, dtype=torch.float64)[:, None]
    v = leave_one_out_ridge_predictions(x, 3 * x - 1, torch.arange(10, 20))
    torch.testing.assert_close(v[:5], 3 * x[:5] - 1, rtol=1e-3, atol=1e-3)


def test_more_data_help_where_they_teach_and_not_where_all_is_known():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(600, 30, generator=g)
    hard = (x[:, :15] * x[:, 15:]).sum(1, keepdim=True)  # products of pairs: many examples needed
    easy, noise = x[:, :1], torch.randn(600, 1, generator=g)
    assert simple_model_baseline((x, easy)).score > 0.99 and abs(simple_model_baseline((x, easy)).gain) < 0.01
    assert simple_model_baseline((x, hard)).gain > 0.01
    assert simple_model_baseline((x, noise)).score < 0.05


@pytest.mark.parametrize("n, fitted", [(149, 0), (200, 150)])
def test_too_few_examples_are_said_to_be(n, fitted):
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(0))
    assert simple_model_baseline((x, (x[:, 0] > 0).long())).examples == fitted
