"""Spreads over seeds, against numpy on kernels that are known."""

import numpy
import pytest
import torch
from torch import nn

from gnomon.tangent.sweeps.build import log_log_slope
from gnomon.tangent.sweeps.spread import WidthSpread, kernel_spread, output_spread
from gnomon.training import SGD


class Scaled(nn.Module):
    """f = c w x with a constant c: its kernel is c^2 x x', its output c w x."""

    def __init__(self, c):
        super().__init__()
        self.c, self.w = c, nn.Parameter(torch.tensor(0.5).double())

    def forward(self, x):
        return self.c * self.w * x


def build(width, seed):
    return Scaled((seed + 1) / width)


X = torch.tensor([[1.0], [-2.0], [0.5]]).double()


def test_the_spread_is_the_standard_deviation_over_seeds_relative_to_the_mean():
    """Constants (s + 1)^2 of three seeds: mean 14 / 3, variance with n - 1; the width drops out."""
    found = kernel_spread(build, X, widths=(1, 2, 4), seeds=3)
    wanted = numpy.std([1.0, 4.0, 9.0], ddof=1) / numpy.mean([1.0, 4.0, 9.0])
    assert numpy.allclose(found.spread, wanted, rtol=1e-9) and found.seeds == 3


def test_trained_outputs_spread_by_their_own_constants():
    found = output_spread(build, (X, torch.zeros(3).double()), widths=(1, 2, 4), draws=3, steps=1, optimizer=SGD(1e-12))
    assert numpy.allclose(found.spread, numpy.std([1.0, 2.0, 3.0], ddof=1) / 2, rtol=1e-6)


def test_the_exponent_is_the_slope_of_logarithms():
    assert WidthSpread((4, 16, 64), (1.0, 0.5, 0.25), 3, "kernels").exponent == pytest.approx(-0.5)
    x, y = (1.0, 3.0, 10.0), (2.0, 5.0, 3.0)
    a, b = numpy.log(x), numpy.log(y)
    assert log_log_slope(x, y) == pytest.approx(numpy.cov(a, b)[0, 1] / numpy.var(a, ddof=1))
    assert numpy.isnan(log_log_slope(x, (1.0, 0.0, 2.0))) and numpy.isnan(log_log_slope(x, (1.0, -1.0, 2.0)))


def test_a_spread_around_zero_is_zero():
    found = kernel_spread(lambda width, seed: Scaled(0.0), X, widths=(1, 2, 3), seeds=2)
    assert found.spread == (0.0, 0.0, 0.0)
