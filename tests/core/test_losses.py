"""Losses against torch's own, and their derivatives against autograd."""

from math import inf

import pytest
import torch
from torch.nn import functional as F

from gnomon.core.errors import InputError
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


@pytest.mark.parametrize(("error", "accepted"), [(5e-7, True), (-5e-7, True), (2e-6, False), (-2e-6, False)])
def test_probabilities_sum_to_one_up_to_float32_rounding(error, accepted):
    table = torch.tensor([[0.25, 0.75 + error]], dtype=torch.float64)
    if accepted:
        assert torch.equal(CrossEntropy().targets(table), table)
    else:
        with pytest.raises(InputError, match="class labels"):
            CrossEntropy().targets(table)


def test_probabilities_are_not_negative():
    with pytest.raises(InputError, match="class labels"):
        CrossEntropy().targets(torch.tensor([[-0.5, 1.5]]))


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Hinge()], ids=lambda loss: loss.name)
def test_two_classes_become_signs(loss):
    assert loss.targets(torch.tensor([0, 1, 1])).tolist() == [-1.0, 1.0, 1.0]
    assert loss.targets(torch.tensor([-1, 1, -1])).tolist() == [-1.0, 1.0, -1.0]
    assert loss.targets(torch.tensor([0, 2]), outputs=3).tolist() == [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]
    assert loss.targets(torch.tensor([0, 1]), outputs=1).tolist() == [-1.0, 1.0]
    with pytest.raises(InputError, match="y holds 2, but|y holds 2"):
        loss.targets(torch.tensor([0, 1, 2]))


def test_cross_entropy_of_rows_that_do_not_sum_to_one_has_the_gradient_of_its_value():
    f = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[0.5, 0.1, 1.0]], dtype=torch.float64)
    (slope,) = torch.autograd.grad(CrossEntropy().value(f, y), f)
    assert torch.allclose(CrossEntropy().gradient(f.detach(), y), slope, rtol=1e-12)


def test_a_hinge_has_a_positive_width():
    assert Hinge().width == 1e-3 and Hinge(width=0.2).curvature == 5
    for width in (0.0, -1.0, inf):
        with pytest.raises(InputError, match="a positive width"):
            Hinge(width=width)
