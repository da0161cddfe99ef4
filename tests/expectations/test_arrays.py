"""Sums in numpy, compared with compiled loops and with direct sums."""

import sys
from math import factorial
from subprocess import run

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermeval

from gnomon.expectations import arrays, loops
from gnomon.expectations.arrays import SeriesArrays, hermite_sums, is_numpy_faster, series_sums

TERMS, ROWS, PAIRS = 32, 5, 200


@pytest.fixture
def case():
    draw = np.random.default_rng(0)
    alpha = tuple(draw.normal(size=(ROWS, TERMS)) * 0.7 ** np.arange(TERMS) for _ in range(2))
    tail = tuple(np.tile([1.0, 1e-2, 1e-4], (ROWS, 1)) * draw.uniform(0.5, 1, (ROWS, 1)) for _ in range(2))
    inverses = tuple(1 / draw.uniform(0.5, 2, ROWS) for _ in range(2))
    i, j = draw.integers(0, ROWS, (2, PAIRS)).astype(np.int32)
    rho = draw.uniform(-1, 1, PAIRS)
    rho[:4] = 1.0, -1.0, 1 - 1e-9, 0.0
    return i, j, rho / inverses[0][i] / inverses[1][j], inverses, alpha, tail


def summed(case, tolerance, aligned=1 - 1e-12):
    i, j, covariance, inverses, alpha, tail = case
    rho, out = np.empty(PAIRS), np.empty(PAIRS)
    left = series_sums(i, j, covariance, inverses, alpha, tail, tolerance, aligned, rho, out)
    return left, rho, out


def test_the_series_is_the_direct_sum(case):
    left, rho, out = summed(case, tolerance=1.0)
    i, j, _, _, alpha, _ = case
    direct = np.array(
        [sum(alpha[0][a, k] * alpha[1][b, k] * r**k for k in range(TERMS)) for a, b, r in zip(i, j, rho, strict=True)]
    )
    assert left == 2 and np.isnan(out[:2]).all()  # u = v and u = -v have no series
    assert np.allclose(out[2:], direct[2:], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
def test_numpy_and_compiled_loops_certify_the_same_pairs_and_agree(case, tolerance):
    i, j, covariance, inverses, alpha, tail = case
    left, rho, out = summed(case, tolerance)
    other_rho, other = np.empty(PAIRS), np.empty(PAIRS)
    other_left = loops.sums(i, j, covariance, *inverses, *alpha, *tail, tolerance, 1 - 1e-12, other_rho, other)
    assert 0 < left < PAIRS and np.array_equal(rho, other_rho)
    # loops stop as soon as the tail is small; numpy always takes all terms, so it certifies the same pairs
    assert left == other_left and np.array_equal(np.isnan(out), np.isnan(other))
    size = np.abs(alpha[0]).sum(1).max() * np.abs(alpha[1]).sum(1).max()
    assert np.nanmax(np.abs(out - other)) <= size * max(tolerance, 1e-13)


@pytest.mark.parametrize("shape", [((7, 1), (1, 9)), ((7, 1, 3), (1, 2, 3)), ((4, 1, 3, 1), (1, 2, 1, 3))])
def test_blocks_of_rows_and_columns_are_the_compiled_sums_of_their_pairs(case, shape):
    draw = np.random.default_rng(2)
    _, _, _, inverses, alpha, tail = case
    i, j = (draw.integers(0, ROWS, s).astype(np.int32) for s in shape)
    rows, columns = np.broadcast_arrays(i, j)
    rho = draw.uniform(-1, 1, rows.shape) ** 3  # a few need all terms, and the first three have no series at all
    rho.flat[:3] = 1.0, -1.0, 1 - 1e-13
    covariance = rho / inverses[0][rows] / inverses[1][columns]
    sides = zip((i, j), inverses, (a.T.copy() for a in alpha), tail, strict=True)
    series = SeriesArrays(tuple(sides), 1e-6, 1 - 1e-12)
    out = np.empty(rows.shape)
    left = 0
    for start in range(0, len(out), 2):
        where = (slice(start, start + 2),)
        found, count = series.values(covariance, where)
        out[where], left = found.reshape(out[where].shape), left + count
    other_rho, other = np.empty(rows.size), np.empty(rows.size)
    flat = rows.ravel(), columns.ravel(), covariance.ravel()
    other_left = loops.sums(*flat, *inverses, *alpha, *tail, 1e-6, 1 - 1e-12, other_rho, other)
    assert 3 <= left == other_left < rows.size and np.array_equal(np.isnan(out.ravel()), np.isnan(other))
    size = np.abs(alpha[0]).sum(1).max() * np.abs(alpha[1]).sum(1).max()
    assert np.nanmax(np.abs(out.ravel() - other)) <= size * 1e-6  # both stop where the tail is below the tolerance


def test_pairs_are_summed_in_parts(case, monkeypatch):
    whole = summed(case, 1e-9)[2]
    monkeypatch.setattr(arrays, "ENTRIES_AT_ONCE", 3 * TERMS)
    assert np.array_equal(summed(case, 1e-9)[2], whole, equal_nan=True)


def test_hermite_sums_use_orthonormal_polynomials_with_the_root_of_the_density():
    draw = np.random.default_rng(1)
    z, weighted, alpha = draw.normal(size=(3, 16)), draw.normal(size=(3, 16)), np.ones((3, 6))
    hermite_sums(z, weighted, alpha)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    for k in range(6):
        polynomial = hermeval(z, np.eye(6)[k]) / np.sqrt(factorial(k))
        assert np.allclose(alpha[:, k], 1 + (weighted * np.sqrt(density) * polynomial).sum(1), rtol=1e-12)
    other = np.ones((3, 6))
    loops.hermite_sums(z, weighted, other)
    assert np.allclose(alpha, other, rtol=1e-12)


def test_loops_in_memory_are_preferred():
    assert arrays.COMPILED_LOOPS_MODULE in sys.modules and not is_numpy_faster(1)


@pytest.mark.full
@pytest.mark.parametrize("activation", ["Tanh", "ELU", "ReLU6"])
def test_the_limit_of_a_network_needs_no_numba_and_agrees_with_compiled_loops(activation):
    code = """
import sys, torch, gnomon
from torch import nn
net = nn.Sequential(nn.Linear(3, 8), nn.ACTIVATION(), nn.Linear(8, 8), nn.ACTIVATION(), nn.Linear(8, 1))
x = torch.randn(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
x[1] = x[0] * 1.001  # nearly parallel points need double integrals
first = gnomon.limit(net).ntk(x)
plain = "numba" not in sys.modules
import gnomon.expectations.loops
print(plain, float((gnomon.limit(net).ntk(x) - first).abs().max() / first.abs().max()) < 1e-9)
"""
    code = code.replace("ACTIVATION", activation)
    assert run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["True", "True"]
