"""Integrals of piecewise polynomials in numpy, compared with the compiled loops and with a closed form."""

from math import pi

import numpy as np
import pytest
import torch

from gnomon.expectations import loops, piecewise_arrays, smoothing
from gnomon.expectations.functions import Derivative
from gnomon.expectations.pieces import find
from gnomon.expectations.smoothing import octaves, polynomials, tables

FUNCTIONS = [torch.nn.functional.elu, torch.tanh, torch.nn.functional.relu6, Derivative(torch.nn.functional.selu)]
PAIRS = 60


def rule(radius):
    """Start, width and polynomials of the normal density, and the Gauss rule, as `double_integrals` passes them."""
    start, width, density = smoothing._density(radius)
    return start, width, density, smoothing._rule()


@pytest.fixture
def pairs():
    draw = np.random.default_rng(0)
    a, b = draw.uniform(0.3, 1, (2, PAIRS))
    rho = np.sign(draw.normal(size=PAIRS)) * (1 - 10 ** -draw.uniform(0, 9, PAIRS))
    rho[:2] = 1.0, -1.0
    return a, b, rho


@pytest.mark.parametrize("function", FUNCTIONS, ids=["elu", "tanh", "relu6", "slope of selu"])
@pytest.mark.parametrize("top", [1.0, 30.0])
def test_double_integrals_are_those_of_the_compiled_loops(function, top, pairs):
    a, b, rho = pairs[0] * top, pairs[1] * top, pairs[2]
    pieces = find(function, 0.01 * top, 160 * top)
    variance = b * b * ((1 - rho) * (1 + rho))
    made, f = tables(function, pieces, 10, octaves(variance[variance > 0])), polynomials(function, pieces)
    compiled = smoothing.double_integrals(f, made, 10, a, b, rho)
    start, width, density, gauss = rule(10)
    out = np.empty(PAIRS)
    rest = made.at, made.edges, made.coefficients, density, start, width, 0, gauss, out
    piecewise_arrays.expectations_by_conditioning(a, b, rho, made.level(variance), *f, *rest)
    assert np.abs(out - compiled).max() <= 1e-14 * np.abs(compiled).max()  # other order of the same sums


@pytest.mark.parametrize("function", FUNCTIONS, ids=["elu", "tanh", "relu6", "slope of selu"])
def test_smoothed_functions_are_those_of_the_compiled_loops(function):
    pieces = find(function, 0.1, 16.0)
    place, start_width = np.linspace(-9, 9, 300), rule(10)
    parts = *polynomials(function, pieces), np.eye(1, 16), start_width[2], *start_width[:2], start_width[3]
    one, other = np.empty(300), np.empty(300)
    loops.smooth_expectations(place, np.full(300, 0.4), *parts, one)
    piecewise_arrays.smooth_expectations(place, np.full(300, 0.4), *parts, other)
    assert np.abs(one - other).max() <= 1e-14 * np.abs(one).max()


def test_half_of_the_line_is_enough_for_even_functions_and_many_pairs_are_taken_in_parts(pairs, monkeypatch):
    a, b, rho = pairs
    pieces = find(torch.abs, 0.01, 160.0)
    variance = b * b * ((1 - rho) * (1 + rho))
    made, f = tables(torch.abs, pieces, 10, octaves(variance[variance > 0])), polynomials(torch.abs, pieces)
    start, width, density, gauss = rule(10)
    monkeypatch.setattr(piecewise_arrays, "MARKS_AT_ONCE", 50)
    for panel in (0, len(density) // 2):
        out = np.empty(PAIRS)
        rest = made.at, made.edges, made.coefficients, density, start, width, panel, gauss, out
        piecewise_arrays.expectations_by_conditioning(a, b, rho, made.level(variance), *f, *rest)
        angle = np.arccos(np.clip(rho, -1, 1))
        closed = a * b * (2 / pi) * (np.sin(angle) + (pi / 2 - angle) * rho)
        # the density ends at eight deviations, and polynomials fit to 1e-9
        assert np.abs(out - closed).max() < 1e-9
