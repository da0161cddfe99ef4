"""Fits by polynomials of degree 15, on functions whose Legendre coefficients and errors are known by hand."""

import numpy as np
import pytest
import torch

from gnomon.expectations.legendre import misfit, misfit_of_union, powers, samples

LEFT, RIGHT = torch.tensor([-1.0, 2.0]).double(), torch.tensor([1.0, 3.0]).double()


def legendre(degree, left=-1.0, right=1.0):
    """P_degree on an interval, as a torch function."""
    series = np.polynomial.legendre.Legendre.basis(degree, domain=[left, right])
    return lambda x: torch.from_numpy(series(x.numpy()))


@pytest.mark.parametrize("factor", [0.25, -0.25])
@pytest.mark.parametrize("degree", [13, 14, 15])
def test_the_misfit_is_the_largest_of_three_high_coefficients(degree, factor):
    found = misfit(lambda x: factor * legendre(degree)(x) + 5 * x**3, LEFT[:1], RIGHT[:1])
    assert found.tolist() == pytest.approx([0.25], abs=1e-11)
    below = misfit(lambda x: factor * legendre(12)(x), LEFT[:1], RIGHT[:1])
    assert below.tolist() == pytest.approx([0.0], abs=1e-11)


@pytest.mark.parametrize("factor", [0.5, -0.5])
def test_the_misfit_sees_ends_that_no_gauss_point_sees(factor):
    """P_16 vanishes at the 16 Gauss points and is one at both ends; they are looked at from 2^-29 inside, slope 136."""
    found = misfit(lambda x: factor * legendre(16, 2.0, 3.0)(x), LEFT[1:], RIGHT[1:])
    assert found.tolist() == pytest.approx([0.5 * (1 - 136 * 2**-29)], abs=1e-9)


@pytest.mark.parametrize("factor", [0.5, -0.5])
def test_the_misfit_of_a_union_sees_what_lies_between_the_points(factor):
    """P_16 times (x - 2)(3 - x) vanishes at the Gauss points and at the ends; the points of both parts see it."""

    def function(x):
        return factor * legendre(16, 2.0, 3.0)(x) * (x - 2) * (3 - x)

    cut = torch.tensor([2.3], dtype=torch.float64)
    nodes = np.polynomial.legendre.leggauss(16)[0]
    points = np.concatenate([2.15 + 0.15 * nodes, 2.65 + 0.35 * nodes])
    wanted = float(function(torch.from_numpy(points)).abs().max())
    assert wanted > 0.01
    found = misfit_of_union(function, LEFT[1:], cut, RIGHT[1:])
    assert found.tolist() == pytest.approx([wanted], rel=1e-9)
    cubic = misfit_of_union(lambda x: factor * x**3 - x, LEFT[1:], cut, RIGHT[1:])
    assert cubic.tolist() == pytest.approx([0.0], abs=1e-12)


def test_points_and_powers_of_an_interval():
    nodes = np.polynomial.legendre.leggauss(16)[0]
    assert samples(LEFT, RIGHT)[1].tolist() == pytest.approx((2.5 + nodes / 2).tolist(), rel=1e-14)
    x = samples(LEFT, RIGHT)[0]
    assert powers(2 - 3 * x + 7 * x**4).tolist() == pytest.approx([2, -3, 0, 0, 7, *[0] * 11], abs=1e-9)
    nearest = powers(x**3, degree=1)  # x^3 = (3 P_1 + 2 P_3) / 5
    assert nearest[:2].tolist() == pytest.approx([0.0, 0.6], abs=1e-12) and float(nearest[2:].abs().max()) < 1e-12
