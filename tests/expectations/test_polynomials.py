"""Gaussian moments of powers, whose values are products of odd numbers."""

import pytest
import torch

from gnomon.expectations.line import Sampler
from gnomon.expectations.mehler import coefficients
from gnomon.expectations.moments import Moments

A, B = 0.7, 2.5
C = -0.9


def scalar(value):
    return torch.tensor(value, dtype=torch.float64)


def test_moments_of_a_cube():
    """u^3: E u^6 = 15 a^3, E (3 u^2)^2 = 27 a^2, E u^3 v^3 = 9 a b c + 6 c^3; half its square grows by 45 a^2 / 2."""
    cube = Moments(lambda u: u**3)
    a, b, c = scalar(A), scalar(B), scalar(C)
    assert float(cube.square(a)) == pytest.approx(15 * A**3, rel=1e-9)
    assert float(cube.slope_square(a)) == pytest.approx(27 * A**2, rel=1e-9)
    assert float(cube.square_slope(a)) == pytest.approx(45 * A**2, rel=1e-9)
    assert float(cube.square_slope(b)) == pytest.approx(45 * B**2, rel=1e-9)
    product = 9 * A * B * C + 6 * C**3
    assert float(cube.product(a, b, c)) == pytest.approx(product, rel=1e-8)
    assert float(cube.gain_product(a, b, c)) == pytest.approx(9 * product, rel=1e-8)
    assert float(cube.slope_product(a, b, c)) == pytest.approx(9 * (A * B + 2 * C**2), rel=1e-8)
    assert float(cube.mean(a)) == pytest.approx(0.0, abs=1e-12)


def test_moments_of_a_shifted_square():
    """(u + 1)^2: mean a + 1, second moment 3 a^2 + 6 a + 1, which grows by 6 a + 6."""
    square = Moments(lambda u: (u + 1) ** 2)
    assert float(square.mean(scalar(A))) == pytest.approx(A + 1, rel=1e-10)
    assert float(square.square(scalar(A))) == pytest.approx(3 * A**2 + 6 * A + 1, rel=1e-10)
    assert float(square.square_slope(scalar(A))) == pytest.approx(6 * A + 6, rel=1e-9)


def test_aligned_float32_correlations_stay_aligned():
    """sqrt(a b) rounded to float32 means correlation one, with either sign: E |u| |v| = sqrt(a b)."""
    absolute = Moments(torch.abs)
    for sign in (1.0, -1.0):
        a, b = torch.tensor(0.3), torch.tensor(1.7)
        c = sign * (a.double() * b.double()).sqrt().float()
        assert float(absolute.product(a, b, c)) == pytest.approx((0.3 * 1.7) ** 0.5, rel=3e-7)
        assert float(Moments(torch.sign).product(a, b, c)) == pytest.approx(sign, abs=1e-6)


def test_hermite_coefficients_of_a_cubic():
    """f(r z) of f = 2 + u^3: constant 2, linear 3 r^3, cubic sqrt(6) r^3; at r = 0 only the constant is left."""
    found = coefficients(Sampler(lambda u: 2 + u**3), torch.tensor([0.8, 0.0], dtype=torch.float64), 64)
    r = 0.8**3
    assert found.alpha[0, :5].tolist() == pytest.approx([2.0, 3 * r, 0.0, 6**0.5 * r, 0.0], abs=1e-9)
    assert found.alpha[1, :3].tolist() == [2.0, 0.0, 0.0]
    assert found.second.tolist() == pytest.approx([4 + 15 * 0.8**6, 4.0], rel=1e-10)
