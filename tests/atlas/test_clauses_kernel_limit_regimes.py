"""Clauses of the scope on kernels and lazy training that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw, limit
from gnomon.atlas.claims.kernel_limit import (
    alpha_scaling,
    deep_linear_near_gaussian,
    lazy_dynamics_theorem,
    lazy_regime_definition,
    linearised_not_competitive,
    ntk_change_exponent,
    preactivation_velocity,
    rkhs_one_hidden_layer,
)
from gnomon.tangent import linearize
from gnomon.training import SGD


def test_wide_networks_follow_their_tangent_models_and_narrow_ones_do_not():
    """linearised-model: relative error of f_lin during training <= 5 % at width 1024, > 20 % at width 16."""
    x, y = torch.linspace(-2, 2, 8).double()[:, None], 2 * torch.sin(2 * torch.linspace(-2, 2, 8)).double()[:, None]
    errors = []
    for width in (1024, 16):
        ratios = []
        for seed in range(2):
            torch.manual_seed(seed)
            w, v = torch.randn(width, 1).double(), torch.randn(width, 1).double()
            h0, c = torch.tanh(x @ w.T), 3 * width**-0.5
            gate, start, a, b, w0, v0 = (1 - h0**2) * v.T, h0 @ v, w, v, w, v
            for _ in range(150):
                h = torch.tanh(x @ w.T)
                tangent = h0 @ (b - v0) + (gate * (x @ (a - w0).T)).sum(1, keepdim=True)
                r, s = 0.01 * c * (y - c * (h @ v - start)), 0.01 * c * (y - c * tangent)
                w, v = w + (r * (1 - h**2) * v.T).T @ x, v + h.T @ r
                a, b = a + (s * gate).T @ x, b + h0.T @ s
            f = torch.tanh(x @ w.T) @ v - start
            ratios.append(float((f - h0 @ (b - v0) - (gate * (x @ (a - w0).T)).sum(1, keepdim=True)).norm() / f.norm()))
        errors.append(np.mean(ratios))
    assert errors[0] <= 0.05 and errors[1] > 0.2


def test_the_tangent_model_is_linear_in_the_weights_and_not_in_the_inputs():
    """linearised-model: f_lin(x; w) = f(x; w_0) + grad f(x; w_0).(w - w_0)."""
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(2, 9), nn.Tanh(), nn.Linear(9, 1)).double(), torch.randn(3, 2).double()
    tangent, start = linearize(net), torch.nn.utils.parameters_to_vector(net.parameters()).detach()
    move = torch.randn_like(start)

    def at(factor, inputs):
        torch.nn.utils.vector_to_parameters(start + factor * move, tangent.parameters())
        return tangent(inputs).detach()

    torch.testing.assert_close(at(2.0, x) - at(0.0, x), 2 * (at(1.0, x) - at(0.0, x)))
    assert float((at(1.0, 2 * x) - 2 * at(1.0, x)).abs().max()) > 1e-3


@pytest.mark.full
def test_trained_networks_lead_by_twenty_points_where_features_must_be_found():
    """linearised-not-competitive: accuracy(trained) - accuracy(tangent kernel) >= 0.2 on a product of two inputs."""
    torch.manual_seed(0)
    assert np.mean(linearised_not_competitive.observed(30, 350, 64, 3)) <= -0.2


def test_the_angular_kernel_has_its_tabulated_values():
    """ntk-bietti-mairal-relu: kappa(-1, -0.5, 0, 0.5, 1) = 0, -0.057669, 0.318310, 0.942331, 2; half for 1 / sqrt(m)."""
    angles = torch.arccos(torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0], dtype=torch.float64))
    x = torch.stack([angles.cos(), angles.sin()], 1) * 2**0.5  # |x|^2 = d, so that |x||x'| / d = 1
    net = nn.Sequential(nn.Linear(2, 9, bias=False), nn.ReLU(), nn.Linear(9, 1, bias=False))
    for factor, scale in ((2**0.5, 1.0), (1.0, 0.5)):
        kernel = limit(
            net, init={"0": InitializationLaw(1.0), "2": InitializationLaw(factor)}, parametrization="ntk"
        ).ntk(x)[-1]
        wanted = scale * torch.tensor([0.0, -0.057669, 0.318310, 0.942331, 2.0], dtype=torch.float64)
        np.testing.assert_allclose(kernel, wanted, atol=1e-6)


def test_the_kurtosis_of_deep_linear_networks_of_twenty_units():
    """deep-linear-near-gaussian: 3.300 and 3.630 for hidden width 20."""
    np.testing.assert_allclose(deep_linear_near_gaussian.predicted(20), [3.300, 3.630], atol=1e-9)


def test_paths_part_at_a_small_output_scale():
    """lazy-regime-definition: sup |w - w_lin| / |w_T - w_0| < 0.05 at alpha = 64, > 0.5 at alpha = 0.1."""
    torch.manual_seed(0)
    near, far = (lazy_regime_definition.separation(50, 4, a) for a in (64.0, 0.1))
    assert float(near.max()) < 0.05 and float(far.median()) > 0.5


def test_kappa_has_a_floor_if_the_output_does_not_start_at_zero():
    """alpha-scaling: alpha kappa constant to 1 % from zero output; without centering kappa tends to |f_0||D^2 f|/|D f|^2."""
    torch.manual_seed(0)
    centered = alpha_scaling.numbers(32, (10.0, 1000.0), True)
    assert centered == pytest.approx([1, 1], rel=0.01)
    torch.manual_seed(0)
    first, second = alpha_scaling.numbers(32, (1e3, 1e4), False)  # alpha kappa grows in proportion to alpha
    assert second / first == pytest.approx(10, rel=0.05)


def test_the_kernel_changes_with_a_power_between_0_8_and_2():
    """ntk-change-exponent: |dTheta| ~ (alpha sqrt(m))^-a with 0.8 < a < 2 for alpha sqrt(m) from 10 to 100."""
    torch.manual_seed(0)
    scales, changes = ntk_change_exponent.drift(6, 100, (10.0, 30.0, 100.0), 1.0)
    assert 0.8 < -np.polyfit(np.log(scales), changes.log().mean(0), 1)[0] < 2


def test_preactivations_move_by_order_one_when_features_are_learned():
    """preactivation-velocity: root mean square change >= 0.3 at alpha sqrt(m) <= 1."""
    torch.manual_seed(0)
    places, shifts = preactivation_velocity.shifts(20, (128,), power=0.5, time=4.0, alphas=(128**-0.5,))
    assert places == pytest.approx([1.0])
    assert float(shifts.median()) >= 0.3


def test_training_at_a_large_scale_predicts_as_the_frozen_kernel_to_three_percent():
    """frozen-ntk-limit: |alpha f - alpha f_lin| <= 3 % of the targets at alpha sqrt(m) = 300."""
    torch.manual_seed(0)
    gaps = [lazy_dynamics_theorem.distances(50, (300 / 50**0.5,), True)[0][2] for _ in range(3)]
    assert np.median(gaps) <= 0.03 * 5**0.5  # five targets of size one


def test_random_features_come_to_their_kernel_as_the_root_of_their_number():
    """rkhs-one-hidden-layer: spread of predictions over draws of m features has slope -0.5 +- 0.15."""
    torch.manual_seed(0)
    counts = (50, 200, 800)
    spreads = [rkhs_one_hidden_layer.fit_features(m, 100, 0, 1.0)[:, 1:].std(0).mean() for m in counts]
    assert np.polyfit(np.log(counts), np.log(spreads), 1)[0] == pytest.approx(-0.5, abs=0.15)


def test_the_flow_stops_at_the_function_of_the_lazy_minimum():
    """ntk-kernel-regression-limit: prediction at infinite time = f_0 + k K^-1 (y - f_0), with f_0 kept."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 40), nn.Tanh(), nn.Linear(40, 1)).double()
    x, y, test = torch.randn(5, 3).double(), torch.randn(5, 1).double(), torch.randn(4, 3).double()
    told = gnomon.predict(net, (x, y), test=test, optimizer=SGD(0.1), times=[torch.inf]).test[-1]
    kernel = gnomon.ntk(net, torch.cat([x, test]))
    f = net(torch.cat([x, test])).detach()
    by_hand = f[5:] + kernel[5:, :5] @ torch.linalg.solve(kernel[:5, :5], y - f[:5])
    torch.testing.assert_close(told, by_hand, rtol=1e-6, atol=1e-8)
