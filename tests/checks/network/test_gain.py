"""Gains of activations against closed forms and sums over a fine grid."""

import math

import numpy as np
import pytest
import torch

from gnomon import InputError
from gnomon.checks import activation_gain


def test_the_relu_halves_both_mean_squares():
    found = activation_gain(torch.nn.ReLU())
    assert (found.square, found.slope_square, found.gain) == pytest.approx((0.5, 0.5, math.sqrt(2)), rel=1e-12)
    assert "keeps" in found.verdict and len(found.plots()) == 1


@pytest.mark.parametrize("phi", [torch.tanh, torch.nn.Softplus(5.0), torch.nn.ELU(2.0), torch.sin])
def test_mean_squares_are_sums_over_a_fine_grid(phi):
    z = torch.linspace(-12, 12, 480_001, dtype=torch.float64)
    density = np.exp(-(z.numpy() ** 2) / 2) / math.sqrt(2 * math.pi) * 5e-5
    values = phi(z).numpy()
    slopes = np.gradient(values, z.numpy())
    found = activation_gain(phi)
    assert found.square == pytest.approx((values**2 * density).sum(), rel=1e-8)
    assert found.slope_square == pytest.approx((slopes**2 * density).sum(), rel=1e-4)  # a corner costs one step
    assert found.gain == pytest.approx(found.square**-0.5)


def test_a_cosine_and_a_sine_share_one():
    squares = activation_gain(torch.sin).square, activation_gain(torch.cos).square
    assert sum(squares) == pytest.approx(1, rel=1e-12) and squares[0] == pytest.approx((1 - math.exp(-2)) / 2)


def test_what_passes_nothing_has_no_gain():
    with pytest.raises(InputError, match="not zero everywhere"):
        activation_gain(lambda z: 0 * z)
