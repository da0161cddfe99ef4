"""Mehler's series: its error lies below its certificate, and its tails fall as the corners of the function let them."""

import sys
from math import pi

import numpy as np
import pytest
import torch

from gnomon.expectations import mehler
from gnomon.expectations.line import Sampler
from gnomon.expectations.loops import sums
from gnomon.expectations.mehler import coefficients
from gnomon.expectations.pairs import CovariancePairs
from gnomon.kernels.duals import Heaviside, ReLU

F64 = torch.float64


def step(x):
    return (x > 0).double()


def series(found, root, rho, tolerance):
    """Pairs of the first with the second variance."""
    i, j = np.zeros(len(rho), np.int32), np.ones(len(rho), np.int32)
    out, again = np.empty(len(rho)), np.empty(len(rho))
    parts = (found.alpha, found.alpha, found.tail, found.tail)
    left = sums(i, j, rho * root[0] * root[1], 1 / root, 1 / root, *parts, tolerance, 1.0, again, out)
    assert again == pytest.approx(rho, rel=1e-14)
    return out, left


@pytest.mark.parametrize("function, closed", [(torch.relu, ReLU()), (step, Heaviside())])
@pytest.mark.parametrize("terms", [32, 128, 512])
def test_the_certificate_holds_and_is_not_idle(function, closed, terms):
    root = torch.tensor([0.7, 1.6], dtype=F64)
    found = coefficients(Sampler(function), root, terms)
    rho = np.array([0.5, 0.9, -0.9, 0.99, -0.99])
    a, b = root[0] ** 2, root[1] ** 2
    wanted = closed.dual(a, b, torch.from_numpy(rho) * (a * b).sqrt()).numpy()
    scale = float((closed.variance(a) * closed.variance(b)).sqrt())
    sharp = np.abs(rho) ** terms * found.tail[0, -1] * found.tail[1, -1]
    for tolerance in (1e-2, 1e-6, 1e-10):
        out, left = series(found, root.numpy(), rho, tolerance)
        certain = ~np.isnan(out)
        assert left == (~certain).sum()
        assert (certain == (sharp <= tolerance)).all()
        assert (np.abs(out - wanted)[certain] <= tolerance * scale + 1e-15).all()
    out, _ = series(found, root.numpy(), rho, float(sharp[3]) * 1.001)
    assert abs(out[3] - wanted[3]) > 1e-4 * sharp[3] * scale


@pytest.mark.parametrize("function, rate", [(step, -0.25), (torch.relu, -0.75), (torch.nn.functional.elu, -1.25)])
def test_tails_fall_at_the_rate_of_the_corner(function, rate):
    """A jump in the m-th derivative leaves a tail of order K^(-m - 1/2), of which this is the square root."""
    found = coefficients(Sampler(function), torch.ones(1, dtype=F64), 512).tail[0]
    slope = np.log(found[32] / found[8]) / np.log(4.0)
    assert slope == pytest.approx(rate, abs=0.05)


def test_coefficients_of_relu():
    """E[relu(z)] = (2 pi)^(-1/2), E[relu(z) z] = 1/2, E[relu(z) he_2(z)] = (4 pi)^(-1/2)."""
    found = coefficients(Sampler(torch.relu), torch.ones(1, dtype=F64), 32).alpha[0, :4]
    assert found.tolist() == pytest.approx([(2 * pi) ** -0.5, 0.5, (4 * pi) ** -0.5, 0.0], abs=1e-14)


def test_coefficients_of_a_corner_that_moves():
    """E[1(z > k) he_n(z)] = N(k) he_{n-1}(k) / sqrt(n): the corner of 1(u > 1) lies at 1 / deviation."""
    root = torch.tensor([0.7, 1.3, 4.0], dtype=F64)
    found = coefficients(Sampler(lambda x: (x > 1).double()), root, 64).alpha
    k = np.append(1 / root.numpy(), 10.0)  # the line ends at ten deviations
    before, here = np.zeros_like(k), np.ones_like(k)
    for n in range(1, 64):
        wanted = np.exp(-(k**2) / 2) / np.sqrt(2 * pi) * here / np.sqrt(n)
        rounding = 2.3e-16 * n**2 + 1e-15  # a recurrence adds one each step
        assert found[:, n] == pytest.approx(wanted[:3] - wanted[3], abs=rounding)
        before, here = here, (k * here - np.sqrt(n - 1) * before) / np.sqrt(n)


@pytest.mark.parametrize("function", [torch.nn.functional.elu, torch.nn.functional.relu6, torch.sin])
@pytest.mark.parametrize("terms", [16, 64])
def test_many_variances_are_interpolated_and_agree_with_integrals(function, terms):
    root = torch.linspace(0.4, 1.7, 4 * mehler.MIN_INTERPOLATED, dtype=F64)
    root[0] = 0.0
    sampler = Sampler(function)
    many, some = coefficients(sampler, root, terms), [0, 1, 77, 250, 300, 390]
    few = coefficients(Sampler(function), root[some], terms)
    size = np.sqrt(few.second[:, None])
    assert any(fit is not None for fit in sampler.fits.values())
    assert (np.abs(many.alpha[some] - few.alpha) <= 1e-12 * size).all()
    assert np.allclose(many.second[some], few.second, rtol=1e-12, atol=0)
    assert np.allclose(many.tail[some], few.tail, rtol=1e-6, atol=1e-6)  # square roots of roundings


def test_coefficients_that_vary_too_fast_are_not_interpolated():
    root, sampler = torch.linspace(12, 15, 2 * mehler.MIN_INTERPOLATED, dtype=F64), Sampler(torch.sin)
    many = coefficients(sampler, root, 256)
    assert set(sampler.fits.values()) == {None}
    assert np.allclose(many.alpha[:3], coefficients(Sampler(torch.sin), root[:3], 256).alpha, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("correlation", "terms"), [(0.3, [32]), (0.9, [32, 256])])
def test_the_series_is_as_long_as_it_is_cheap(correlation, terms, monkeypatch):
    """Correlations of 0.3 to the power 32 leave nothing; at 0.9 a longer series saves a hundred thousand integrals."""
    module, asked = sys.modules["gnomon.expectations.expectation"], []

    def counted(f, root, count):
        asked.append(count)
        return coefficients(f, root, count)

    monkeypatch.setattr(module, "coefficients", counted)
    one = torch.ones(300, 1, dtype=F64)
    pairs = CovariancePairs.of(one, one.T, torch.full((300, 300), correlation, dtype=F64))
    sampler = Sampler(torch.erf)
    module._Series.of(sampler, sampler, pairs, (32, 256), loops=True)
    assert asked == terms
