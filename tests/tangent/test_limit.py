"""The finite kernel approaches the exact limit of the same module, at the rate of a mean over units."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.tangent import ntk
from tests.tangent.test_laziness import slope

WIDTHS = [128, 512, 2048]
RUNS = 64
ERROR = 0.15  # three standard errors: a mean of 64 half-normal errors is known to 9 %, over a factor of 16 in width


def perceptron(width):
    return nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def convolutional(width):
    return nn.Sequential(
        nn.Conv1d(2, width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 1)
    )


def errors(build, shape, runs, limit_of=None):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = []
    for width in WIDTHS:
        exact = gnomon.limit((limit_of or build)(width)).ntk(x)
        norms = []
        for seed in range(runs):
            torch.manual_seed(seed)
            norms.append(float((ntk(build(width).double(), x) - exact).norm() / exact.norm()))
        found.append(sum(norms) / runs)
    return found


@pytest.mark.full
def test_a_convolution_approaches_its_limit_as_width_to_the_minus_half():
    assert abs(slope(WIDTHS, errors(convolutional, (3, 2, 6), RUNS)) + 0.5) < ERROR


@pytest.mark.full
def test_a_deep_perceptron_approaches_its_limit_as_width_to_the_minus_half():
    assert abs(slope(WIDTHS, errors(perceptron, (4, 3), RUNS)) + 0.5) < ERROR


def test_the_limit_of_another_network_is_not_approached():
    def other(width):
        return nn.Sequential(
            nn.Conv1d(2, width, 3, padding=1), nn.Tanh(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 1)
        )

    assert slope(WIDTHS, errors(convolutional, (3, 2, 6), 4, limit_of=other)) > -0.5 + ERROR
