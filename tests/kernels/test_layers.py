"""Second moments and correlations layer by layer, against closed forms."""

from math import cos, pi, sin

import pytest
import torch
from torch import nn

from gnomon import InitializationLaw
from gnomon.kernels.layers import limit_layers
from gnomon.kernels.limit import Limit


def test_a_pair_at_a_known_angle():
    t = 1.1
    x = torch.tensor([[3.0, 0.0], [0.5 * cos(t), 0.5 * sin(t)]], dtype=torch.float64)
    net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    found = limit_layers(Limit(net, init=InitializationLaw(2.0, 0.0)), x)
    square = (3.0**2 + 0.5**2) / 4  # of one coordinate, in the mean over both points
    assert [v.second_moment for v in found] == pytest.approx([square, 4 * square, 2 * square, 8 * square])
    after = (sin(t) + (pi - t) * cos(t)) / pi
    assert [v.correlation for v in found] == pytest.approx([cos(t), cos(t), after, after])
