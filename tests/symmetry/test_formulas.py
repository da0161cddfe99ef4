"""Numbers of the instruments of symmetry against closed forms and independent computations."""

from itertools import permutations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.symmetry import OrbitAverage, cyclic, equivariance, equivariant_basis, random_orthogonal
from gnomon.symmetry.action import one_parameter_group, quarter_turns, rotations, sample_group, scalings, translations
from gnomon.symmetry.augmentation import loss_change_under_transformation
from gnomon.symmetry.errors import LayerError, mean_error_interval
from gnomon.symmetry.features import GroupPool
from gnomon.symmetry.invariant import CanonicalPose
from gnomon.symmetry.lie import lie_derivatives
from gnomon.symmetry.linear import nearest_permutation_equivariant
from gnomon.symmetry.parameters import gradient_along_orbit, match_units
from gnomon.symmetry.strength import accuracy_by_strength, commutator_norm


def test_an_interval_of_errors_counts_examples_and_drawn_moves():
    values = 5 + torch.randn(4, 9).double()
    v = values.numpy()
    for drawn in (False, True):
        square = v.mean(0).var(ddof=1) / 9 + (v.mean(1).var(ddof=1) / 4 if drawn else 0)
        found = mean_error_interval(values, drawn=drawn)
        assert_allclose([found.low, found.high], v.mean() + 1.96 * np.array([-1, 1]) * square**0.5, rtol=1e-12)
    assert mean_error_interval(values - 5 + 0.01).low >= 0


def test_an_interval_of_errors_covers_as_often_as_it_says():
    draws = 10 + torch.randn(1500, 1, 40, generator=torch.Generator().manual_seed(0))
    covers = sum(found.low <= 10 <= found.high for found in map(mean_error_interval, draws))
    assert 0.92 < covers / 1500 < 0.97  # 95 %, less for the normal quantile with 40 examples; deviation 0.006


@pytest.mark.parametrize("bias", [True, False])
def test_the_leak_along_the_orbit_is_the_derivative_along_it(bias):
    """The cosine of the gradient with the direction in which a unit is scaled and scaled back, by finite differences."""
    net = nn.Sequential(nn.Linear(2, 3, bias=bias), nn.Tanh(), nn.Linear(3, 1, bias=bias)).double()
    x = torch.randn(10, 2).double()
    for sign in (1, -1):  # the extreme cosine is negative for one of them
        loss = sign * net(x).square().mean()
        own = [net[0].weight, net[2].weight] + ([net[0].bias] if bias else [])
        size = torch.cat([g.flatten() for g in torch.autograd.grad(loss, own, retain_graph=True)]).norm()
        cosines = []
        for unit in range(3):
            ends = []
            for factor in (1 + 1e-5, 1 - 1e-5):
                scale = torch.ones(3).double()
                scale[unit] = factor
                hidden = torch.tanh(x @ net[0].weight.T * scale + (net[0].bias * scale if bias else 0))
                out = hidden @ (net[2].weight / scale).T + (net[2].bias if bias else 0)
                ends.append(sign * out.square().mean())
            length = net[0].weight[unit].square().sum() + net[2].weight[:, unit].square().sum()
            length = length + (net[0].bias[unit].square() if bias else 0)
            cosines.append(float(((ends[0] - ends[1]) / 2e-5 / (length.sqrt() * size)).detach()))
        assert_allclose(gradient_along_orbit(net, loss), max(abs(c) for c in cosines), rtol=1e-6)


def test_errors_of_layers_are_means_over_moves_and_examples():
    net = nn.Sequential(nn.Conv2d(1, 2, 2), nn.Tanh(), nn.Flatten(), nn.Linear(18, 2)).double()
    x = torch.randn(3, 1, 4, 4).double()
    found = equivariance(net, x, quarter_turns())
    by_move = []
    for layer, part in zip(found.layers, (net[:1], net[:2], net[:3], net, net), strict=True):
        h = part(x).detach().numpy()
        size = np.linalg.norm(h.reshape(3, -1), axis=1)
        still, moving = [], []
        for k in (1, 2, 3):
            after = part(torch.rot90(x, k, (2, 3))).detach().numpy()
            still.append(np.linalg.norm((after - h).reshape(3, -1), axis=1) / size)
            if h.ndim == 4:
                moving.append(np.linalg.norm((after - np.rot90(h, k, (2, 3))).reshape(3, -1), axis=1) / size)
        assert_allclose(layer.invariance, np.mean(still), rtol=1e-9)
        half = 1.96 * np.mean(still, axis=0).std(ddof=1) / 3**0.5
        assert_allclose(layer.invariance_interval.high, np.mean(still) + half, rtol=1e-9)
        assert (layer.equivariance is None) == (not moving)
        if moving:
            assert_allclose(layer.equivariance, np.mean(moving), rtol=1e-9)
        by_move = [row.mean() for row in still]
    assert_allclose(found.by_move, by_move, rtol=1e-9)


def test_a_layer_follows_below_a_thousandth():
    interval = mean_error_interval(torch.ones(1, 2))
    follows = [
        LayerError("0", a, interval, b, None).follows for a, b in ((0.9e-3, 1), (1.1e-3, 1), (1, 0.9e-3), (1, None))
    ]
    assert follows == [True, False, True, False]


def test_moves_shift_turn_zoom_and_draw_as_they_say():
    x = torch.randn(2, 1, 6, 6).double()
    v = x.numpy()
    for move, (a, b) in zip(translations().moves, ((0, 1), (1, 0), (2, 2)), strict=True):
        assert_allclose(move(x), np.roll(v, (a, b), (2, 3)))
    flow = translations().flow
    assert_allclose(flow(x, 2.0), np.roll(v, 2, 3), atol=1e-12)
    wave = torch.cos(2 * torch.pi * torch.arange(6).double() / 6)[None, None, None].expand(1, 1, 6, 6)
    assert_allclose(flow(wave, 0.3)[0, 0, 0], np.cos(2 * np.pi * (np.arange(6) - 0.3) / 6), atol=1e-12)
    h = torch.randn(2, 3, 3, 3).double()
    assert_allclose(translations().features(h, 2, x), np.roll(h.numpy(), (1, 1), (2, 3)))
    assert translations().features(h, 0, x) is None
    assert_allclose(rotations((90.0,)).moves[0](x), np.rot90(v, 1, (2, 3)), atol=1e-9)
    assert_allclose(rotations().flow(x, np.pi / 2), np.rot90(v, 1, (2, 3)), atol=1e-9)
    ramp = torch.linspace(-1, 1, 7, dtype=torch.float64).expand(1, 1, 7, 7)
    assert_allclose(scalings((2.0,)).moves[0](ramp), ramp / 2, atol=1e-9)
    assert_allclose(scalings().flow(ramp, 0.25)[0, 0, 3], ramp[0, 0, 3] / 1.25, atol=1e-9)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    moved = one_parameter_group(turn, (0.5,)).moves[0](torch.tensor([[1.0, 0.0]]).double())
    assert_allclose(moved, [[np.cos(0.5), np.sin(0.5)]], rtol=1e-6)
    drawn = sample_group(rotations(), -0.3, 0.9, 400, seed=1)
    strengths = np.array([float(label.split()[1]) for label in drawn.labels])
    assert drawn.drawn and stats.kstest(strengths, "uniform", args=(-0.3, 1.2)).pvalue > 1e-3


def test_lie_derivatives_are_slopes_along_the_flow():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh()).double()
    x = torch.randn(5, 2).double()
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double()
    found = lie_derivatives(net, x, one_parameter_group(turn))
    for layer, part in zip(found, (net[:1], net, net), strict=True):
        value, slope = torch.autograd.functional.jvp(part, x, x @ turn.T)
        ratios = (slope.norm(dim=1) / value.norm(dim=1)).detach().numpy()
        assert_allclose(layer.invariance, ratios.mean(), rtol=1e-5)
        assert_allclose(layer.invariance_interval.width, 2 * 1.96 * ratios.std(ddof=1) / 5**0.5, rtol=1e-5)


def test_accuracy_by_strength_and_commutators():
    net, x, y = nn.Linear(2, 2).double(), torch.randn(30, 2).double(), torch.arange(30) % 2
    found = accuracy_by_strength(net, (x, y), lambda z, t: z + t, (0.0, 0.7))
    for t, share, interval in zip((0.0, 0.7), found.accuracy, found.intervals, strict=True):
        right = int((net(x + t).argmax(1) == y).sum())
        exact = stats.binomtest(right, 30).proportion_ci(0.95, method="exact")
        assert_allclose([share, interval.low, interval.high], [right / 30, *exact], rtol=1e-9)
    layer, matrix = nn.Linear(4, 4).double(), torch.randn(4, 4).double()
    w = layer.weight.detach().numpy()
    wanted = np.linalg.norm(w @ matrix.numpy() - matrix.numpy() @ w, 2)
    assert_allclose(commutator_norm(layer, lambda z: z @ matrix.T, (4,), steps=500), wanted, rtol=1e-6)


def test_distances_of_matched_networks_and_the_best_order():
    first, second = (nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)).double() for _ in range(2))
    found = match_units(first, second)

    def parts(net, order=slice(None)):
        return [net[0].weight.detach()[order], net[2].weight.detach()[:, order]], net[0].bias.detach()[order]

    def apart(order, biases):
        (a, p), (b, q) = parts(first), parts(second, order)
        return float(sum((u - v).square().sum() for u, v in zip(a, b, strict=True)) + biases * (p - q).square().sum())

    assert_allclose(found.distance_before, apart([0, 1, 2, 3], 0) ** 0.5, rtol=1e-9)
    assert_allclose(found.distance_after, apart(found.orders[0].tolist(), 0) ** 0.5, rtol=1e-9)
    best = min(permutations(range(4)), key=lambda order: apart(list(order), 1))  # one layer: an exact assignment
    assert found.orders[0].tolist() == list(best)


def test_the_nearest_equivariant_map_is_the_mean_over_the_group():
    shift = torch.eye(5).double().roll(1, 0)
    w = torch.randn(5, 5).double()
    powers = [torch.linalg.matrix_power(shift, k) for k in range(5)]
    mean = sum(p.T @ w @ p for p in powers) / 5
    basis = equivariant_basis([shift], [shift])
    near = sum((b * w).sum() * b for b in basis)
    assert len(basis) == 5
    assert_allclose(near, mean, atol=1e-9)


def test_an_orbit_average_is_the_mean_over_the_moves_and_the_identity():
    net = nn.Linear(4, 1, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    x = torch.tensor([[[[1.0, 2.0], [4.0, 9.0]]]])
    assert OrbitAverage(nn.Sequential(nn.Flatten(), net), quarter_turns())(x).item() == pytest.approx(
        (1 + 2 + 4 + 9) / 4
    )


def test_a_drawn_matrix_is_the_factor_of_a_normal_one_with_a_positive_diagonal():
    normal = torch.randn(5, 3, 3, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    q = random_orthogonal(3, 5, seed=4)
    r = q.mT @ normal
    assert torch.allclose(q.mT @ q, torch.eye(3).double().expand(5, 3, 3), atol=1e-12)
    assert bool((r.diagonal(dim1=1, dim2=2) > 0).all()) and float(r.tril(-1).abs().max()) < 1e-12
    turned = random_orthogonal(3, 5, special=True, seed=4)
    assert torch.allclose(turned[:, :, 1:], q[:, :, 1:]) and torch.allclose(
        torch.linalg.det(turned), torch.ones(5).double()
    )


def test_the_distance_to_an_equivariant_weight_is_relative():
    """diag(1, 3): inside 2, across 0, and sqrt(1 + 1) of sqrt(1 + 9) is left."""
    assert nearest_permutation_equivariant(torch.diag(torch.tensor([1.0, 3.0]))) == pytest.approx((2.0, 0.0, 0.2**0.5))
    w = torch.tensor([[1.0, 4.0, 0.0], [2.0, 3.0, 6.0], [0.0, 0.0, 5.0]])  # mean 3 on the diagonal, 2 outside
    left = torch.tensor([-2.0, 2.0, -2.0, 0.0, 0.0, 4.0, -2.0, -2.0, 2.0]).norm() / w.norm()
    assert nearest_permutation_equivariant(w) == pytest.approx((1.0, 2.0, float(left)))
    assert nearest_permutation_equivariant(torch.zeros(2, 2)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("weights", "loss"), [((1.0, 3.0), 8 / 9), ((3.0, 1.0), 8.0)])
def test_changes_of_a_loss_and_its_gradient_are_relative(weights, loss):
    """L = w_2^2, and the move exchanges both weights: from 9 to 1 or back, gradients (0, 6) and (0, 2)."""
    net = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([weights]))
    found = loss_change_under_transformation(
        net, lambda module: module.weight[0, 1].square(), lambda w: w.flip(1), parameter="weight"
    )
    own, moved = weights[1], weights[0]
    assert found.loss == pytest.approx(loss)
    assert found.gradient == pytest.approx((moved**2 + own**2) ** 0.5 / own)  # (0, 2 moved) - (2 own, 0)


def test_a_pool_over_the_group_takes_the_mean_or_the_largest_of_each_channel():
    x = torch.arange(16.0).reshape(1, 8, 1, 2)  # two channels with four elements each, at two places
    mean, largest = (GroupPool(group=cyclic(4), largest=flag)(x) for flag in (False, True))
    assert mean.tolist() == [[[[3.0, 4.0]], [[11.0, 12.0]]]] and largest.tolist() == [[[[6.0, 7.0]], [[14.0, 15.0]]]]


def test_the_canonical_pose_has_the_largest_product_with_a_drawn_direction():
    x = torch.randn(5, 1, 3, 3, generator=torch.Generator().manual_seed(1))
    net = CanonicalPose(nn.Flatten(), quarter_turns(), seed=7)
    drawn = torch.randn(9, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    for image, pose in zip(x, net(x), strict=True):
        poses = [image[0].rot90(k).flatten() for k in range(4)]
        scores = [float(p.double() @ drawn) for p in poses]
        assert torch.equal(pose, poses[scores.index(max(scores))])
