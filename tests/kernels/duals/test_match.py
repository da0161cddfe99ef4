"""Expressions that are recognized: the closed form equals the quadrature of the same expression, and scales are exact."""

import pytest
import torch
from torch import nn

from gnomon.kernels.duals import Quadrature
from gnomon.kernels.match import dual_of, polynomial
from gnomon.program import read_program
from gnomon.program.steps import Activation


class Net(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.a, self.function = nn.Linear(2, 2), function

    def forward(self, x):
        return self.function(self.a(x))


def tree(function):
    """The expression that reading a network finds."""
    (found,) = (
        s.op.expression for s in read_program(Net(function), torch.zeros(1, 2)).steps if isinstance(s.op, Activation)
    )
    return found


POLYNOMIALS = {
    "line": (lambda x: 3 - (2 * x) / 4, (3.0, -0.5)),
    "negative": (lambda x: -(x * x) + x - 1, (-1.0, 1.0, -1.0)),
    "difference": (lambda x: x**3 - (x * x - 5 * x), (0.0, 5.0, -1.0, 1.0)),
    "powers": (lambda x: (1 + x) ** 3 + torch.square(x) * 7, (1.0, 3.0, 10.0, 1.0)),
    "none of it": (lambda x: x**0, (1.0,)),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_coefficients_of_polynomials(name):
    function, wanted = POLYNOMIALS[name]
    assert polynomial(tree(function)) == pytest.approx(wanted, rel=1e-15)


def test_other_expressions_are_not_polynomials():
    for function in (torch.tanh, lambda x: x**0.5, lambda x: 1 / x, lambda x: x * torch.relu(x)):
        assert polynomial(tree(function)) is None


FUNCTIONS = {
    "a negative relu": lambda x: 3 - 2 * torch.relu(-1.5 * x),
    "a relu over a number": lambda x: torch.relu(x / 0.4) / 3 - 0.7,
    "a number minus it": lambda x: 0.5 - torch.erf(2 * x),
    "it plus a number": lambda x: 0.25 + torch.sin(-x) * 4,
    "it minus a number": lambda x: torch.cos(3 * x) - 0.25,
    "cut at zero": lambda x: torch.clamp(2 * x, min=0),
    "leaky": lambda x: -torch.nn.functional.leaky_relu(2 * x, 0.3),
    "leaky as torch has it": lambda x: torch.nn.functional.leaky_relu(x),
    "absolute": lambda x: torch.abs(0.3 * x) * -2,
    "an exponential": lambda x: torch.exp(0.7 - 0.5 * x) * 2,
    "a bell": lambda x: torch.exp(0.3 - 2 * x * x) + 1,
    "a wide gelu": lambda x: torch.nn.functional.gelu(0.8 * x) * 1.7,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_closed_forms_are_those_of_the_expression(name):
    a, b, c = (torch.tensor(v, dtype=torch.float64) for v in (0.9, 1.7, -0.6))
    found, plain = dual_of(tree(FUNCTIONS[name])), Quadrature(FUNCTIONS[name])
    assert not isinstance(found, Quadrature)
    assert float(found.dual(a, b, c)) == pytest.approx(float(plain.dual(a, b, c)), rel=1e-7)
    assert float(found.dual_derivative(a, b, c)) == pytest.approx(float(plain.dual_derivative(a, b, c)), rel=1e-7)
    assert float(found.dual_gain(a, b, c)) == pytest.approx(float(plain.dual_gain(a, b, c)), rel=1e-7)
    assert float(found.mean(a)) == pytest.approx(float(plain.mean(a)), rel=1e-7, abs=1e-9)
    assert float(found.variance(a)) == pytest.approx(float(plain.variance(a)), rel=1e-7)
