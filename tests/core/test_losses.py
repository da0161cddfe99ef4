"""Losses against torch's own, and their derivatives against autograd."""

from math import inf

import pytest
import torch
from torch.nn import functional as F

from gnomon.core.losses import CrossEntropy, Exponential, Hinge, Logistic, Squared
from gnomon.core.metrics import accuracy

LOSSES = [Squared(), CrossEntropy(), Logistic(), Exponential(), Hinge(width=0.5)]
WRITTEN = {
    "squared loss": lambda f, y: 0.5 * F.mse_loss(f, y, reduction="none").sum(1),
    "cross-entropy": lambda f, y: F.cross_entropy(f, y, reduction="none"),
    "logistic loss": lambda f, y: F.binary_cross_entropy_with_logits(f, (y + 1) / 2, reduction="none").sum(1),
    "exponential loss": lambda f, y: torch.exp(-y * f).sum(1),
    # torch's Huber loss of the positive part of 1 - m is w times the rounded hinge
    "hinge loss": lambda f, y: (
        F.huber_loss((1 - y * f).clamp_min(0), torch.zeros_like(f), reduction="none", delta=0.5).sum(1) / 0.5
    ),
}


def points(loss, n=40, k=3):
    f = 2 * torch.randn(n, k, dtype=torch.float64)
    if isinstance(loss, CrossEntropy):
        return f, torch.softmax(torch.randn(n, k, dtype=torch.float64), 1)
    return f, torch.randn(n, k, dtype=torch.float64) if isinstance(loss, Squared) else torch.randn(n, k).double().sign()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_value_gradient_and_hessian_are_those_of_the_written_function(loss):
    (f, y), written = points(loss), WRITTEN[loss.name]
    assert torch.isclose(loss.value(f, y), written(f, y).mean(), rtol=1e-12)
    leaf = f.clone().requires_grad_()
    (slope,) = torch.autograd.grad(written(leaf, y).sum(), leaf)
    assert torch.allclose(loss.gradient(f, y), slope, rtol=1e-12, atol=1e-14)
    for i in range(10):
        wanted = torch.autograd.functional.hessian(lambda v, i=i: written(v[None], y[i : i + 1]).sum(), f[i])
        assert torch.allclose(loss.hessian(f, y)[i], wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_curvature_is_the_least_bound_of_the_hessian(loss):
    """Largest eigenvalues over a grid that holds the steepest place: equal outputs, or margins inside the corner."""
    line = torch.linspace(-4, 4, 81, dtype=torch.float64)
    f = torch.cartesian_prod(line, line)
    y = torch.tensor([[1.0, 0.0]] if isinstance(loss, CrossEntropy) else [[1.0, -1.0]]).double().expand(len(f), 2)
    most = float(torch.linalg.eigvalsh(loss.hessian(f, y)).max())
    if loss.curvature == inf:
        assert most > 50  # exp(4)
    else:
        assert most == pytest.approx(loss.curvature, rel=1e-12)


def test_an_output_of_zero_says_neither_class():
    y = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])
    assert accuracy(torch.tensor([[0.5], [-0.5], [0.0], [0.0]]), y) == 0.5
    assert accuracy(torch.tensor([[0.5, 0.1], [0.2, 0.9]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])) == 0.5
    assert accuracy(torch.zeros(2, 1), torch.tensor([[0.3], [0.7]])) is None
