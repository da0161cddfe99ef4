"""The finite kernel approaches the exact limit of the same module, at the rate of a mean over units."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.tangent import ntk
from tests.tangent.test_laziness import slope

WIDTHS = [8, 32, 128, 512]


def perceptron(width):
    return nn.Sequential(
        nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
    ).double()


def convolutional(width):
    body = (nn.Conv1d(2, width, 3, padding=1), nn.ReLU(), nn.Conv1d(width, width, 3), nn.ReLU())
    return nn.Sequential(*body, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 1)).double()


@pytest.mark.parametrize(("build", "shape"), [(perceptron, (4, 3)), (convolutional, (3, 2, 6))])
def test_the_error_falls_as_width_to_the_minus_half(build, shape):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    errors = []
    for width in WIDTHS:
        exact = gnomon.limit(build(width)).ntk(x)
        runs = []
        for seed in range(40):
            torch.manual_seed(seed)
            runs.append(float((ntk(build(width), x) - exact).norm() / exact.norm()))
        errors.append(sum(runs) / len(runs))
    assert (
        abs(slope(WIDTHS, errors) + 0.5) < 0.15
    )  # four standard errors: 12 % on each mean of 40 runs, widths that span a factor of 64


def test_a_wrong_limit_does_not_pass():
    x = torch.randn((4, 3), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    errors = []
    for width in WIDTHS:
        wrong = gnomon.limit(
            nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        )
        exact = wrong.ntk(x)
        torch.manual_seed(0)
        errors.append(float((ntk(perceptron(width), x) - exact).norm() / exact.norm()))
    assert slope(WIDTHS, errors) > -0.35
