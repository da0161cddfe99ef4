"""Frequencies along a path: a network that is a known sum of waves, and the kernel's rates by hand."""

import numpy
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.tangent import frequency_curve, kernel_frequencies
from gnomon.tangent.frequencies import FrequencyCurve, circular_path
from gnomon.training import SGD


class Waves(nn.Module):
    """a_f cos(f angle) + b_f sin(f angle) for two frequencies, linear in its parameters."""

    def __init__(self, gains=(1.0, 1.0)):
        super().__init__()
        self.w, self.gains = nn.Parameter(torch.tensor([3.0, -4.0, 0.6, 0.8])), gains

    def forward(self, x):
        angle, (g, h) = torch.atan2(x[:, 1], x[:, 0]), self.gains
        parts = [g * torch.cos(angle), g * torch.sin(angle), h * torch.cos(3 * angle), h * torch.sin(3 * angle)]
        return (torch.stack(parts, 1) @ self.w)[:, None]


def test_rates_are_the_squared_gain_of_each_wave():
    """K = g^2 cos(t - t') + h^2 cos 3 (t - t'): each wave has eigenvalue g^2 n / 2, over n that is g^2 / 2."""
    found = kernel_frequencies(Waves((2.0, 3.0)), circular_path(2), frequencies=(1, 2, 3), points=20)
    assert numpy.allclose(found.rates, [2.0, 0.0, 4.5], atol=1e-5)


def test_amplitudes_of_an_untrained_network_are_its_own():
    curve = frequency_curve(Waves(), circular_path(2), frequencies=(1, 2, 3), points=20, steps=1, optimizer=SGD(1e-12))
    for row in curve.amplitudes:
        assert numpy.allclose(row, [5.0, 0.0, 1.0], atol=1e-5)  # |3 - 4 i| and |0.6 + 0.8 i|


def test_training_brings_each_amplitude_to_one():
    curve = frequency_curve(
        Waves((1.0, 0.5)), circular_path(2), frequencies=(1, 3), points=20, steps=300, optimizer=SGD(0.5)
    )
    assert numpy.allclose(curve.amplitudes[-1], [1.0, 1.0], atol=1e-3)


def test_frequencies_are_ordered_by_the_step_at_which_they_pass_one_half():
    rows = ((0.0, 0.1, 0.49), (0.2, 0.5, 0.49), (0.6, 0.9, 0.49))
    assert FrequencyCurve((1, 2, 4), (0, 10, 20), rows).order == (2, 1, 4)


def test_paths_run_once_around_or_through_the_interval():
    t = torch.tensor([0.0, 0.25, 0.625])
    half = 0.5**0.5
    assert numpy.allclose(circular_path(3)(t), [[1, 0, 0], [0, 1, 0], [-half, -half, 0]], atol=1e-6)
    assert circular_path(1)(t).tolist() == [[-1.0], [-0.5], [0.25]]


def test_frequencies_stay_below_half_the_points():
    net = Waves()
    assert len(kernel_frequencies(net, circular_path(2), frequencies=(3,), points=7).rates) == 1
    with pytest.raises(InputError, match="below half the number of points"):
        kernel_frequencies(net, circular_path(2), frequencies=(3,), points=6)
    with pytest.raises(InputError, match="points"):
        kernel_frequencies(net, circular_path(2), frequencies=(1,), points=3)
    assert len(kernel_frequencies(net, circular_path(2), frequencies=(1,), points=4).rates) == 1
