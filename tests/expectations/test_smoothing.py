"""Smoothed functions and the double integrals that they give, against closed forms; octaves are made once."""

from math import sqrt

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.special import ndtr
from torch.nn import functional

from gnomon.expectations import smoothing
from gnomon.expectations.functions import Derivative
from gnomon.expectations.pieces import ZERO_COEFFICIENT_SHARE, find
from gnomon.expectations.smoothing import double_integrals, octaves, parity, polynomials, tables
from gnomon.kernels.duals import GELU, Erf, Heaviside, ReLU
from tests.shares import in_full

RADIUS = 10


def step(x):
    return (x > 0).double()


def pairs(n, size):
    """Standard deviations within an octave or two, angles from 1e-6 to a right angle, both signs."""
    rng = np.random.default_rng(0)
    root_a, root_b = size * np.exp(0.4 * rng.standard_normal((2, n)))
    rho = np.cos(10 ** rng.uniform(-6, 0.1, n))
    return root_a, root_b, np.where(np.arange(n) % 3 == 0, -rho, rho)


def integrals(function, root_a, root_b, rho):
    ends = np.concatenate([root_a, root_b])
    pieces = find(function, float(ends.min()), RADIUS * float(ends.max()))
    made = tables(function, pieces, RADIUS, octaves(root_b**2 * (1 - rho) * (1 + rho)))
    return double_integrals(polynomials(function, pieces), made, RADIUS, root_a, root_b, rho)


CLOSED = {
    "relu": (torch.relu, ReLU().dual),
    "step": (step, Heaviside().dual),
    "erf": (torch.erf, Erf().dual),
    "erf'": (Derivative(torch.erf), Erf().dual_derivative),
    "gelu": (torch.nn.functional.gelu, GELU().dual),
    "gelu'": (Derivative(torch.nn.functional.gelu), GELU().dual_derivative),
}


@pytest.mark.parametrize("size", in_full([1e-3, 1.0, 1e3, 1e6], except_for=[1.0, 1e6]))
@pytest.mark.parametrize("name", CLOSED)
def test_double_integrals_against_closed_forms(name, size):
    """Polynomials that fit f and g to RESOLVED leave at most about twice that of sqrt(E[f^2] E[g^2])."""
    function, closed = CLOSED[name]
    root_a, root_b, rho = pairs(300, size)
    found = integrals(function, root_a, root_b, rho)
    a, b, r = (torch.from_numpy(t) for t in (root_a**2, root_b**2, rho))
    wanted = closed(a, b, r * (a * b).sqrt()).numpy()
    if name == "erf'":  # its determinant, without the rounding of c
        wanted = (
            4 / np.pi / np.sqrt(1 + 2 * root_a**2 + 2 * root_b**2 + (2 * root_a * root_b) ** 2 * (1 - rho) * (1 + rho))
        )
    scale = (closed(a, a, a) * closed(b, b, b)).sqrt().numpy()
    rounded = 1e-15 / np.sqrt(1 - rho**2)  # of the closed form: an angle from a rounded cosine
    assert (np.abs(found - wanted) <= (4 * ZERO_COEFFICIENT_SHARE + rounded) * scale).all()


def test_pairs_that_coincide_up_to_scale():
    a, b = np.array([1.0, 2.0, 0.3]), np.array([3.0, 2.0, 40.0])
    along, against = (integrals(torch.relu, a, b, np.full(3, r)) for r in (1.0, -1.0))
    assert along == pytest.approx(a * b / 2, rel=1e-12)  # E[relu(a z) relu(b z)]
    assert against == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("deviation", [1e-4, 0.3, 20.0])
def test_a_smoothed_corner(deviation):
    """E[relu(m + t z)] = m Phi(m / t) + t N(m / t)."""
    pieces = find(torch.relu, 1.0, 400.0)
    polynomials(torch.relu, pieces)
    m = torch.linspace(-12, 12, 97, dtype=torch.float64) * min(1.0, 3 * deviation)
    found = smoothing._smooth(pieces, RADIUS, m, deviation).numpy()
    z = m.numpy() / deviation
    wanted = m.numpy() * ndtr(z) + deviation * np.exp(-(z**2) / 2) / sqrt(2 * np.pi)
    rounding = 1e-15  # of the pieces around zero, which are as wide as the least deviation
    rule = 1e-13  # eight nodes on 1.6 deviations of the density
    assert (np.abs(found - wanted) <= rule * (m.abs().numpy() + deviation) + rounding).all()


@pytest.mark.parametrize("octave", [-6, -2, -1, 0, 1, 3])
def test_a_smoothed_box_to_the_ends_of_its_tails(octave):
    """E[1(|m + t z| < 1)], at every place and variance of an octave: the tail behind the last cut counts as well."""
    box = Derivative(torch.nn.Hardtanh())
    pieces = find(box, 1.0, 6000.0)
    polynomials(box, pieces)
    edges, coefficients = smoothing._octave(pieces, RADIUS, octave)
    x = np.linspace(-1, 1, 33)
    for share in (1.0, 1.3, 1.999):
        t = sqrt(share * 2.0**octave)
        series = np.cos(np.arange(smoothing.VARIANCE_TERMS) * np.arccos(2 * share - 3))
        near = (edges[:-1] < 1 + 12 * t) & (edges[1:] > -1 - 12 * t)
        for left, right, own in zip(edges[:-1][near], edges[1:][near], coefficients[near], strict=True):
            m = np.concatenate([left + (right - left) * (x + 1) / 2, np.clip([1 + 5 * t, 1 + 7 * t], left, right)])
            found = np.polynomial.polynomial.polyval((2 * m - left - right) / (right - left), series @ own)
            wanted = ndtr((1 - m) / t) - ndtr((-1 - m) / t)
            assert np.abs(found - wanted).max() <= 2 * ZERO_COEFFICIENT_SHARE


@pytest.mark.parametrize("a, b, angle", [(2.0, 300.0, 3e-3), (10.0, 73.0, 0.012), (73.0, 10.0, 0.09), (1.0, 1e4, 1e-4)])
def test_boxes_of_very_different_deviations(a, b, angle):
    """P(|u| < 1, |v| < 1), whose inner integral is a difference of two normal tails."""
    box, rho = Derivative(torch.nn.Hardtanh()), np.cos(angle)
    found = integrals(box, np.array([a]), np.array([b]), np.array([rho]))[0]
    spread = b * np.sin(angle)
    steps = np.array([-9, -7, -5, -3, -1.5, 0, 1.5, 3, 5, 7, 9]) * spread
    places = np.concatenate([np.linspace(-1, 1, 9) / a, (steps - 1) / (b * rho), (steps + 1) / (b * rho)])
    edges = np.unique(np.clip(places, -1 / a, 1 / a))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    half, middle = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
    x = middle + half * nodes
    given = ndtr((1 - b * rho * x) / spread) - ndtr((-1 - b * rho * x) / spread)
    wanted = (half * weights * np.exp(-(x**2) / 2) * given).sum() / sqrt(2 * np.pi)
    scale = sqrt((2 * ndtr(1 / a) - 1) * (2 * ndtr(1 / b) - 1))
    assert abs(found - wanted) <= 4 * ZERO_COEFFICIENT_SHARE * scale


def test_an_octave_is_made_once(monkeypatch):
    made = []
    octave = smoothing._octave
    monkeypatch.setattr(smoothing, "_octave", lambda pieces, radius, k: made.append(k) or octave(pieces, radius, k))
    pieces = find(torch.tanh, 1.0, 40.0)
    tables(torch.tanh, pieces, RADIUS, np.array([-4, -2, -4]))
    tables(torch.tanh, pieces, RADIUS, np.array([-2, 1]))
    assert made == [-4, -2, 1]


def test_a_function_that_is_zero_around_zero():
    """Its size there is nothing to measure against: the smoothing brings in what lies outside."""
    rho = np.cos(np.geomspace(1e-4, 0.5, 40))
    one = np.ones_like(rho)
    found = integrals(torch.nn.functional.softshrink, one, one, rho)
    assert np.isfinite(found).all() and (np.diff(found) <= 0).all()  # a dual of equal variances grows with rho


@pytest.mark.parametrize("function", [torch.nn.functional.softshrink, torch.nn.functional.hardshrink])
def test_what_cannot_be_felt_is_not_resolved(function):
    """Four deviations away from zero both grow: what the smoothing brings to zero need not be known to nine digits."""
    pieces = find(function, 1 / 32, 40.0)
    polynomials(function, pieces)
    edges, _ = smoothing._octave(pieces, RADIUS, -6)
    inner = edges[np.abs(edges) < 0.5]
    assert len(inner) <= 24


@pytest.mark.parametrize(
    "function, sign", [(torch.tanh, -1), (torch.cos, 1), (functional.hardshrink, -1), (functional.elu, 0)]
)
@pytest.mark.parametrize("rho", [-0.9995, -0.4, 0.7, 0.9995])
def test_half_of_the_line_is_enough_for_even_and_odd_functions(function, sign, rho):
    pieces = find(function, 0.5, 32.0)
    assert parity(function, pieces) == sign
    own, root = polynomials(function, pieces), np.array([0.7, 1.0, 1.9])
    correlation = np.full(3, rho)
    g = tables(function, pieces, 10, octaves(root**2 * (1 - rho**2)))
    whole, half = (double_integrals(own, g, 10, root[::-1].copy(), root, correlation, even=e) for e in (False, True))
    if sign:
        assert_allclose(half, whole, rtol=0, atol=1e-11)
    else:  # the other half counts
        assert abs(half - whole).max() > 1e-3
