"""Piecewise linear functions in closed form: against an independent quadrature, to their certificate, in every tail."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import erfcx, log_ndtr, ndtr
from torch import nn
from torch.nn import functional

from gnomon.expectations.functions import Derivative, InputTimesDerivative
from gnomon.expectations.line import Sampler, second_moment
from gnomon.expectations.linear import lines, road
from gnomon.expectations.normal import POLYNOMIAL_DEGREE, tail_polynomial
from gnomon.expectations.wedges import wedges
from tests.oracles import quadrature as oracle

F64 = torch.float64
CERTIFIED, ALIGNED = 1e-10, 1 - 32 * 2.0**-52
FUNCTIONS = {
    "relu": torch.relu,
    "relu6": nn.ReLU6(),
    "hardtanh": nn.Hardtanh(-0.7, 1.3),
    "hardshrink": nn.Hardshrink(),
    "softshrink": nn.Softshrink(),
    "threshold": nn.Threshold(0.1, 0.2),
    "hardtanh'": Derivative(nn.Hardtanh()),
    "hardshrink, gain": InputTimesDerivative(nn.Hardshrink()),
    "stairs": lambda x: torch.where(x > 1, 2.0, 0.0) + torch.where(x < -1.5, x, 0.3 * x),
}
KINKS = (-1.5, -1.0, -0.7, -0.5, 0.0, 0.1, 0.5, 1.0, 1.3, 6.0)


def found(function, root, i, j, rho):
    """Values of pairs, and E[f^2] of each variance."""
    sampler, given, out = Sampler(function), torch.from_numpy(root), np.empty(len(rho))
    second = second_moment(sampler, given).numpy()
    made = road(sampler, sampler, given, given, (second, second), certified=CERTIFIED, aligned=ALIGNED)
    again = np.empty(len(rho))
    left = made(i.astype(np.int32), j.astype(np.int32), rho * root[i] * root[j], again, out)
    assert left == np.isnan(out).sum()
    return out, second


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lines_are_the_function(name):
    f = FUNCTIONS[name]
    made = lines(Sampler(f), torch.tensor([0.1, 2.0], dtype=F64))
    x = torch.linspace(-9.01, 9.02, 501, dtype=F64)
    value = made.level + made.slope * x.numpy()
    for distance, jump, bend in zip(made.distance, made.jump, made.bend, strict=True):
        for side, sign in enumerate((1, -1)):
            beyond = sign * x.numpy() - distance
            value += np.where(beyond > 0, jump[side] + bend[side] * beyond, 0.0)
    assert value == pytest.approx(f(x).numpy(), abs=1e-13)


@pytest.mark.parametrize("f", [torch.tanh, nn.Hardswish(), nn.ELU(), torch.square])
def test_other_functions_are_not_taken_for_lines(f):
    assert lines(Sampler(f), torch.tensor([0.1, 2.0], dtype=F64)) is None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_an_independent_quadrature(name):
    f, rng = FUNCTIONS[name], np.random.default_rng(1)
    root = np.array([0.2, 0.23, 0.9, 1.0, 7.0])
    i, j = rng.integers(0, len(root), (2, 12))
    gaps = np.array([1.0, 0.3, 1e-2, 1e-4, 1e-6, 1e-9])[np.arange(12) % 6]
    rho = (1 - gaps) * rng.choice([-1, 1, 1], 12)
    values, second = found(f, root, i, j, rho)
    assert not np.isnan(values).any()

    def plain(u):
        return f(torch.from_numpy(np.ascontiguousarray(u))).numpy()

    for q in range(12):
        a, b = root[i[q]] ** 2, root[j[q]] ** 2
        expected = oracle.pair(plain, plain, a, b, rho[q] * root[i[q]] * root[j[q]], KINKS)
        assert abs(values[q] - expected) <= CERTIFIED * np.sqrt(second[i[q]] * second[j[q]])


def step_beyond(distance):
    return lambda x: (x > distance).double()


@pytest.mark.parametrize(
    "h, k", [(0.0, 0.0), (1e-9, 2e-9), (0.0, 3.0), (0.5, 0.5), (2.0, 5.0), (5.0, 5.001), (9.0, 8.0)]
)
def test_probabilities_of_wedges_are_relatively_accurate(h, k):
    """P(X > h, Y > k) from 1/4 down to 1e-100, against one integral of the normal tail."""
    rho = np.array([-0.99, -0.6, -0.1, 0.0, 0.3, 0.8, 0.99, 1 - 1e-6])
    numbers = [np.array([[1.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0]])] * 2
    corners = [np.array([[[d], [ndtr(-d)], [np.exp(-d * d / 2) / np.sqrt(2 * np.pi)], [1.0]]]) for d in
               (max(h, 1e-100), max(k, 1e-100))]  # fmt: skip
    from gnomon.expectations.wedges import rules

    weights, zero = np.zeros((1, 1, 2, 4)), np.zeros(len(rho), np.int32)
    weights[0, 0, 0, 0] = 1.0
    out = np.empty(len(rho))
    sides = [tuple(s) for s in zip(numbers, corners, strict=True)]
    wedges(zero, zero, rho, *sides, weights, rules(), 1.0, False, np.empty(len(rho)), out)
    for r, value in zip(rho, out, strict=True):
        thin = np.sqrt((1 - r) * (1 + r))

        def density(x, r=r, thin=thin):
            return np.exp(-x * x / 2 + log_ndtr((r * x - k) / thin)) / np.sqrt(2 * np.pi)

        turns = [p for p in (k / r + m * thin for m in (-6, -2, 0, 2, 6)) if h < p < h + 12] if abs(r) > 0.05 else None
        expected = quad(density, h, h + 12, points=turns or None, epsabs=0, epsrel=1e-13, limit=400)[0]
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-300)


def test_opposite_and_equal_variables():
    """u = -v meets no wedge; v = 2 u has one corner before the other."""
    root = np.array([0.5, 1.0])
    i, j = np.array([0, 0, 1]), np.array([1, 1, 1])
    values, _ = found(torch.relu, root, i, j, np.array([-1.0, 1.0, 1.0]))
    assert values[:2] == pytest.approx([0.0, 0.25], abs=1e-15)
    assert np.isnan(values[2])  # one variable: one integral, which others know better


def test_zero_variance_is_the_value_at_zero():
    root = np.array([0.0, 1.0])
    values, _ = found(nn.Threshold(0.1, 0.2), root, np.array([0, 0]), np.array([1, 0]), np.zeros(2))
    mean = 0.2 * ndtr(0.1) + np.exp(-0.005) / np.sqrt(2 * np.pi)
    assert values == pytest.approx([0.2 * mean, 0.04], rel=1e-13)


def test_without_a_certificate_there_is_no_value():
    """At variance 1e10 the pieces of hardtanh cancel; at variance 100 they do not."""
    root = np.array([10.0, 11.0, 1e5, 1.1e5])
    values, _ = found(functional.hardtanh, root, np.array([0, 2]), np.array([1, 3]), np.array([0.5, 0.5]))
    assert np.isnan(values).tolist() == [False, True]


def test_the_tail_of_the_normal_law():
    x = np.linspace(0, 60, 4001)
    found = np.polyval(tail_polynomial(), (x - 4) / (x + 4)) / (x + 4)
    assert len(tail_polynomial()) == POLYNOMIAL_DEGREE + 1
    assert np.abs(found / (erfcx(x / np.sqrt(2)) / 2) - 1).max() < 4e-15
