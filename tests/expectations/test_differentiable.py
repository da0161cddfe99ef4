"""Gradients of Gaussian expectations, jumps included, against finite differences and closed forms."""

import pytest
import torch
from torch.nn import functional

from gnomon.kernels.duals import Erf, Heaviside, Quadrature, ReLU

F64 = torch.float64


def arguments(*rows):
    return [torch.tensor(row, dtype=F64, requires_grad=True) for row in rows]


@pytest.mark.parametrize(
    "function, method",
    [
        (torch.tanh, "dual"),
        (functional.selu, "dual_derivative"),
        (functional.hardtanh, "dual_derivative"),
        (functional.hardshrink, "dual"),
        (lambda x: torch.floor(2 * x.clamp(-1.1, 1.1)), "dual"),
    ],
)
def test_first_derivatives(function, method):
    inputs = arguments([0.5, 1.2], [0.8, 2.0], [0.3, -0.9])
    dual = getattr(Quadrature(function), method)
    found = torch.autograd.grad(dual(*inputs).sum(), inputs)
    for i, slope in enumerate(found):
        assert torch.allclose(slope, differences(dual, inputs, i), rtol=1e-5, atol=1e-6)


def differences(function, inputs, i, step=1e-3):
    """Derivative in argument i by central differences of order four: error 1e-12 from the step, 1e-7 from rounding."""
    weights = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
    rows = []
    for shift in weights:
        moved = [x.detach().clone() for x in inputs]
        moved[i] += shift * step
        rows.append(moved)
    values = function(*(torch.stack(column) for column in zip(*rows, strict=True)))
    return sum(w * v for w, v in zip(weights.values(), values, strict=True)) / step


def test_second_derivatives():
    inputs = arguments([0.9], [1.4], [0.5])
    dual = Quadrature(torch.tanh).dual

    def slope(*args):
        args = [x.detach().clone().requires_grad_() for x in args]
        return torch.autograd.grad(dual(*args).sum(), args[2])[0]

    (first,) = torch.autograd.grad(dual(*inputs).sum(), inputs[2], create_graph=True)
    second = torch.autograd.grad(first.sum(), inputs)
    for i, found in enumerate(second):
        assert torch.allclose(found, differences(slope, inputs, i), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "function, closed", [(torch.erf, Erf()), (torch.relu, ReLU()), (lambda x: (x > 0).to(x.dtype), Heaviside())]
)
def test_gradients_equal_those_of_the_closed_form(function, closed):
    inputs = arguments(
        [1.0, 0.7, 1e-4, 2.0, 0.5, 0.5], [1.0, 0.9, 3.0, 2.0, 0.5, 0.5], [0.3, 0.79, 0.01, -1.99, 0.5, -0.5]
    )
    found, expected = (torch.autograd.grad(d.dual(*inputs).sum(), inputs) for d in (Quadrature(function), closed))
    for f, e in zip(found, expected, strict=True):
        assert torch.allclose(f, e, rtol=1e-7, atol=1e-8)


def test_gradients_of_moments_and_at_zero_variance():
    a = torch.tensor([0.0, 0.5, 2.0], dtype=F64, requires_grad=True)
    dual = Quadrature(torch.cos)
    (slope,) = torch.autograd.grad(dual.mean(a).sum(), a)
    assert torch.allclose(slope, -torch.exp(-a.detach() / 2) / 2, rtol=1e-12)  # exp(-a / 2)
    (slope,) = torch.autograd.grad(dual.variance(a).sum(), a)
    assert torch.allclose(slope, -torch.exp(-2 * a.detach()), rtol=1e-12)  # (1 + exp(-2 a)) / 2
    zero, b, c = (torch.tensor(x, dtype=F64, requires_grad=True) for x in (0.0, 1.0, 0.0))
    slopes = torch.autograd.grad(dual.dual(zero, b, c), (zero, b, c))
    half = torch.exp(torch.tensor(-0.5, dtype=F64))
    assert torch.allclose(torch.stack(slopes), torch.stack([-half / 2, -half / 2, 0 * half]), atol=1e-12)


def test_jumps_count_in_moments():
    """E[1(u > k)] = 1/2 erfc(k / sqrt(2 a)), of slope k N(k; 0, a) / (2 a)."""
    k = 0.7
    a = torch.tensor([0.3, 1.5], dtype=F64, requires_grad=True)
    (found,) = torch.autograd.grad(Quadrature(lambda x: (x > k).to(x.dtype)).mean(a).sum(), a)
    (expected,) = torch.autograd.grad((torch.erfc(k / (2 * a).sqrt()) / 2).sum(), a)
    assert torch.allclose(found, expected, rtol=1e-10)
