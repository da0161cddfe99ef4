"""Second moments of the data, where rounding matters: rows of many features that nearly coincide."""

from math import pi

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw
from gnomon.kernels.rules.data import DataRule, _near_equal
from gnomon.program import read_program

EPS = torch.finfo(torch.float64).eps


@pytest.mark.parametrize("gap", [1e-5, 1e-6, 1e-7])
def test_the_distance_of_nearly_equal_rows_survives_in_their_covariance(gap):
    """K(x, y) = (K(x, x) + K(y, y)) / 2 - |x - y|^2 / 2c, to one rounding of K and not to c of them."""
    c = 3000
    x = torch.randn(2, c, dtype=torch.float64)
    y = x + gap * torch.randn(2, c, dtype=torch.float64)
    rule = DataRule(read_program(nn.Linear(c, 1), x).steps[0].op)
    half = (rule.cross(x, x, False).diag() + rule.cross(y, y, False).diag()) / 2
    lost = half - rule.cross(x, y, False).diag()
    wanted = (x - y).square().mean(1) / 2
    assert float(wanted.min()) > 10 * EPS  # so that a factor would be seen
    assert (lost - wanted).abs().max() <= EPS * float(half.max())


def test_a_small_angle_between_points_of_many_features_is_right_in_the_kernel():
    """One hidden layer of ReLUs and points of one length: K = 2 (sin t + 2 (pi - t) cos t) / pi, which falls by 2 t / pi of 4."""
    c, t = 64, torch.tensor(1e-5, dtype=torch.float64)
    x = torch.zeros(2, c, dtype=torch.float64)
    x[0, 0], x[1, 0], x[1, 1:] = 1.0, t.cos(), t.sin() / (c - 1) ** 0.5
    net = nn.Sequential(nn.Linear(c, 8, bias=False), nn.ReLU(), nn.Linear(8, 1, bias=False))
    x = (c**0.5 * x).requires_grad_()  # gradients are asked for, so the reference computes
    k = gnomon.limit(net, init=InitializationLaw(2**0.5), parametrization="ntk").ntk(x).detach()
    assert 2 * pi * float(1 - k[0, 1] / k[0, 0]) == pytest.approx(float(t), rel=1e-4)  # and terms of order t^2


def test_only_nearly_equal_rows_are_computed_again():
    """Entry (0, 0) is of equal rows, (1, 0) of rows at right angles and (0, 1) of rows with a cosine of 0.9."""
    a = torch.tensor([[3.0, 0.0], [0.0, 3.0]], dtype=torch.float64)[..., None]
    b = torch.tensor([[3.0, 0.0], [2.7, 1.3]], dtype=torch.float64)[..., None]
    wrong = torch.tensor([[4.6, 4.05], [0.001, 1.95]], dtype=torch.float64)[..., None]
    found = _near_equal(a, b, wrong)
    assert found[..., 0].tolist() == [[4.5, 4.05], [0.001, 1.95]]
