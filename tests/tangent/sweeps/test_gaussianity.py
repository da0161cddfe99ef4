"""Excess kurtosis and Kolmogorov's distance of outputs that are known."""

import numpy
import pytest
import torch
from scipy.stats import norm
from torch import nn

from gnomon.tangent import output_gaussianity
from gnomon.tangent.sweeps.gaussianity import Gaussianity

VALUES = numpy.linspace(-1, 1, 25) ** 3 * 7 + 0.2


def build(width, seed):
    net = nn.Linear(1, 2, bias=False).double()
    net.weight.data[:, 0] = torch.tensor([VALUES[seed] * width, 100.0])
    return net


def test_moments_of_known_outputs():
    x = torch.tensor([[2.0], [5.0]]).double()  # only the first input and the first output count
    found = output_gaussianity(build, x, widths=(1, 2, 4), draws=25)
    excess = numpy.mean(VALUES**4) / numpy.mean(VALUES**2) ** 2 - 3
    assert numpy.allclose(found.excess, excess, rtol=1e-9)
    scaled = numpy.sort(VALUES / numpy.sqrt(numpy.mean(VALUES**2)))
    steps = numpy.arange(26) / 25
    distance = max((steps[1:] - norm.cdf(scaled)).max(), (norm.cdf(scaled) - steps[:-1]).max())
    assert numpy.allclose(found.distance, distance, rtol=1e-9) and found.draws == 25


def test_the_standard_error_and_the_exponent():
    result = Gaussianity((1, 2, 4), (8.0, 4.0, 2.0), (0.1, 0.1, 0.1), 600)
    assert result.error == pytest.approx(0.2) and result.exponent == pytest.approx(-1)
    assert Gaussianity((1, 2, 4), (8.0, 4.0, -2.0), (0.1,) * 3, 600).exponent != result.exponent


@pytest.mark.parametrize(("last", "gaussian"), [(0.39, True), (-0.39, True), (0.41, False), (-0.41, False)])
def test_two_standard_errors_are_gaussian(last, gaussian):
    verdict = Gaussianity((1, 2, 4), (8.0, 4.0, last), (0.1,) * 3, 600).verdict
    assert ("look Gaussian" in verdict) is gaussian


def test_at_least_twenty_networks_are_drawn():
    with pytest.raises(Exception, match="draws"):
        output_gaussianity(build, torch.ones(1, 1).double(), widths=(1, 2, 3), draws=19)
    assert output_gaussianity(build, torch.ones(1, 1).double(), widths=(1, 2, 3), draws=20).draws == 20
