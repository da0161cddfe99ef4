"""Gaussian moments at single numbers, against closed forms and scipy's adaptive quadrature."""

from math import acos, asin, erf, exp, pi, sqrt

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.integrate import dblquad, quad
from torch import nn

from gnomon.expectations import Moments, expectation_of_product

F64 = torch.float64


def density(z):
    return exp(-z * z / 2) / sqrt(2 * pi)


def number(x):
    return torch.tensor(x, dtype=F64)


def step(u):
    return (u > 0).double()


RELU, STEP, ERF = Moments(torch.relu), Moments(step), Moments(torch.erf)


@pytest.mark.parametrize("q", [1e-6, 0.3, 4.0, 900.0])
@pytest.mark.parametrize("c", [-1.0, -0.7, 0.0, 0.5, 0.999, 1.0])
def test_products_of_relu_and_erf_are_their_closed_forms(q, c):
    t, arguments = acos(c), (number(q), number(q), number(q * c))
    wanted = q * (sqrt(1 - c * c) + (pi - t) * c) / (2 * pi)
    assert_allclose(float(RELU.product(*arguments)), wanted, rtol=1e-9, atol=1e-12 * q)
    assert_allclose(float(STEP.product(*arguments)), (pi - t) / (2 * pi), atol=1e-9)
    assert_allclose(float(ERF.product(*arguments)), 2 / pi * asin(2 * q * c / (1 + 2 * q)), atol=1e-9)


@pytest.mark.parametrize("name, phi", [("tanh", np.tanh), ("gelu", lambda u: u * (1 + erf(u / sqrt(2))) / 2)])
def test_moments_are_those_of_adaptive_quadrature(name, phi):
    ours, q = Moments({"tanh": torch.tanh, "gelu": nn.GELU()}[name]), number(1.69)
    wanted = quad(lambda z: phi(1.3 * z) ** 2 * density(z), -12, 12)[0]
    assert_allclose(float(ours.square(q)), wanted, rtol=1e-9)
    assert_allclose(float(ours.mean(q)), quad(lambda z: phi(1.3 * z) * density(z), -12, 12)[0], atol=1e-12)
    two = dblquad(
        lambda w, z: phi(1.3 * z) * phi(1.3 * (0.6 * z + 0.8 * w)) * density(z) * density(w), -9, 9, -9, 9, epsabs=1e-9
    )[0]
    assert_allclose(float(ours.product(q, q, 0.6 * q)), two, atol=1e-7)


def test_corners_far_from_zero_are_seen():
    """E[relu6(u)^2] = integral of the square up to 6, and 36 beyond."""
    q = 9.0
    inner = quad(lambda z: (3 * z) ** 2 * density(z), 0, 2)[0] + 36 * (1 - erf(2 / sqrt(2))) / 2
    assert_allclose(float(Moments(nn.ReLU6()).square(number(q))), inner, rtol=1e-10)
    slope = (erf(2 / sqrt(2))) / 2  # of the points between 0 and 6
    assert_allclose(float(Moments(nn.ReLU6()).slope_square(number(q))), slope, rtol=1e-10)


@pytest.mark.parametrize("phi", [torch.tanh, nn.ReLU6(), nn.SELU()])
def test_the_slope_of_the_square_is_its_difference_quotient(phi):
    moments, h = Moments(phi), 1e-4
    around = [float(moments.square(number(2.0 + s * h))) for s in (1, -1)]
    assert float(moments.square_slope(number(2.0))) == pytest.approx((around[0] - around[1]) / (2 * h), rel=1e-7)


def test_two_different_functions():
    """E[u^3 v] = 3 a c."""
    a, b, c = number(2.0), number(0.5), number(0.7)
    assert_allclose(float(expectation_of_product(lambda u: u**3, lambda v: v, a, b, c)), 3 * 2.0 * 0.7, rtol=1e-9)
