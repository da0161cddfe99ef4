"""Mean-field numbers against closed forms, scipy's adaptive quadrature, and layers of real random networks."""

import json
from math import acos, exp, inf, log, pi, sqrt

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.integrate import quad
from torch import nn

from gnomon.checks import critical_weight_std, mean_field
from gnomon.core import InputError
from tests.shares import in_full


def density(z):
    return exp(-z * z / 2) / sqrt(2 * pi)


@pytest.mark.parametrize("weight_std, bias_std", [(0.8, 0.0), (1.0, 0.3), (sqrt(2), 0.0), (1.7, 0.1)])
def test_relu_is_its_closed_form(weight_std, bias_std):
    theory, half = mean_field(nn.ReLU(), weight_std=weight_std, bias_std=bias_std), weight_std**2 / 2
    assert theory.chi == pytest.approx(half, rel=1e-12) and theory.variance_slope == pytest.approx(half, rel=1e-12)
    assert theory.variance(3.0) == pytest.approx(3 * half + bias_std**2)
    fixed = 1.0 if half == pytest.approx(1) else (inf if half > 1 else bias_std**2 / (1 - half))
    assert theory.q == pytest.approx(fixed, rel=1e-9)
    assert theory.c == 1.0 and theory.phase == (
        "critical" if half == pytest.approx(1) else "ordered" if half < 1 else "chaotic"
    )
    assert theory.xi_gradient == (pytest.approx(1 / abs(log(half))) if theory.phase != "critical" else inf)


def test_tanh_has_the_fixed_points_of_its_own_definition():
    w, b = 1.5, 0.2
    theory = mean_field(torch.tanh, weight_std=w, bias_std=b)
    moment = quad(lambda z: np.tanh(sqrt(theory.q) * z) ** 2 * density(z), -12, 12)[0]
    assert w * w * moment + b * b == pytest.approx(theory.q, rel=1e-8)
    slope = quad(lambda z: (1 - np.tanh(sqrt(theory.q) * z) ** 2) ** 2 * density(z), -12, 12)[0]
    assert theory.chi == pytest.approx(w * w * slope, rel=1e-8) and theory.phase == "chaotic" and 0 < theory.c < 1
    assert theory.correlation(theory.c) == pytest.approx(theory.c, abs=1e-9)
    h = 1e-4  # differences of second order
    around = [theory.correlation(theory.c + s * h) for s in (1, -1)]
    turn = (around[0] - around[1]) / (2 * h)
    assert turn == pytest.approx(theory.correlation_slope, abs=1e-6)
    scales = 1 / abs(log(turn)), 1 / log(w * w * slope)  # gradients explode before correlations are forgotten
    assert scales[0] > 1.2 * scales[1] and theory.reach == pytest.approx(6 * scales[1], rel=1e-6)
    around = [theory.variance(theory.q + s * h) for s in (1, -1)]
    assert (around[0] - around[1]) / (2 * h) == pytest.approx(theory.variance_slope, abs=1e-6)


def test_small_weights_of_tanh_vanish_with_their_square():
    theory = mean_field(torch.tanh, weight_std=0.5)
    assert theory.q == 0 and theory.chi == pytest.approx(0.25) and theory.xi_c == inf  # linear near zero: angles stay
    assert "signals vanish" in theory.verdict and json.loads(json.dumps(theory.to_dict()))["activation"] == "tanh"


@pytest.mark.parametrize("bias_std", in_full([0.0, 0.1], except_for=[0.1]))
def test_the_critical_scale_of_tanh_is_where_chi_is_one(bias_std):
    w = critical_weight_std(torch.tanh, bias_std=bias_std)
    assert mean_field(torch.tanh, weight_std=w, bias_std=bias_std).phase == "critical"
    assert w == pytest.approx(1.0) if bias_std == 0 else w > 1.05
    assert (
        mean_field(torch.tanh, weight_std=1.05 * w, bias_std=bias_std).chi
        > 1
        > mean_field(torch.tanh, weight_std=0.95 * w, bias_std=bias_std).chi
    )


def test_the_path_is_that_of_the_layers_of_a_wide_network():
    """Sums over 4000 units fluctuate by 4000^(-1/2) = 1.6 %; over eight layers and at 99.9 %, by less than 15 %."""
    w, b, width, depth = 1.6, 0.3, 4000, 8
    theory = mean_field(torch.tanh, weight_std=w, bias_std=b)
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(2, width, generator=generator).double() * sqrt(0.5)
    told = theory.path(depth, q=0.5, c=0.0)
    for layer in range(1, depth + 1):
        weights = torch.randn(width, width, generator=generator).double() * w / sqrt(width)
        h = torch.tanh(h) @ weights.T + b * torch.randn(width, generator=generator).double()
        q = h.square().mean(1)
        assert_allclose(q, told["variance"][layer], rtol=0.15)
        assert float((h[0] * h[1]).mean() / q.prod().sqrt()) == pytest.approx(told["correlation"][layer], abs=0.15)


def test_bad_scales_and_activations_without_a_critical_point_are_refused():
    with pytest.raises(InputError, match="weight_std must be a number above 0 and finite, but it is 0.0"):
        mean_field(torch.tanh, weight_std=0.0)
    with pytest.raises(InputError, match="no critical weight_std"):
        critical_weight_std(torch.sign)


def test_the_picture_is_the_map_of_correlations():
    curve, diagonal = mean_field(nn.ReLU(), weight_std=2**0.5).plots()[0].marks
    wanted = [(sqrt(1 - c * c) + (pi - acos(c)) * c) / pi for c in curve.x]
    assert_allclose(curve.y, wanted, atol=1e-9)
    assert diagonal.x == diagonal.y == (0.0, 1.0)


def test_a_depth_scale_is_one_over_the_logarithm_of_its_factor():
    from gnomon.checks.network.meanfield import _scale

    assert _scale(0.0) == 0.0 and _scale(1.0) == float("inf") and _scale(-1.0) == float("inf")
    assert [_scale(f) for f in (0.5, -0.5, 2.0, -2.0)] == pytest.approx([1 / 0.6931471805599453] * 4)
