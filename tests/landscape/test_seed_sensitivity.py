"""Starts, basins, steps and matching: small cases by hand."""

from math import sqrt

import pytest
import torch
from torch import nn

from gnomon.landscape import normalization_smoothing, try_gradient_steps
from gnomon.landscape.basins import basin_map
from gnomon.landscape.batchnorm import _smoothing
from gnomon.landscape.matching import _distance, _standard
from gnomon.landscape.seed_sensitivity import _apart, seed_sensitivity
from gnomon.landscape.smoothness import polyak_constant
from gnomon.training import SGD

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 3, generator=G).double(), torch.randn(6, generator=G).double()
W = torch.tensor([0.3, -0.2, 0.5]).double()


def linear(weights=W):
    net = nn.Linear(3, 1, bias=False).double()
    net.weight.data = weights.reshape(1, 3).clone()
    return net


def test_vectors_differ_relative_to_the_geometric_mean_of_their_lengths():
    a, b, c = (torch.tensor(v).double() for v in ([3.0, 4.0], [0.0, 2.0], [1.0, 0.0]))
    pairs = [sqrt(9 + 4) / sqrt(5 * 2), sqrt(4 + 16) / sqrt(5), sqrt(5) / sqrt(2)]
    assert _apart([a, b, c]) == pytest.approx(sum(pairs) / 3)


def test_starts_are_compared_by_outputs_and_parameters_after_training():
    build = lambda seed: linear(W * (seed + 1))  # noqa: E731
    found = seed_sensitivity(build, (X, Y), seeds=(0, 2), steps=2, optimizer=SGD(0.1))
    ends = []
    for scale in (1, 3):
        w = W * scale
        for _ in range(2):
            w = w - 0.1 * X.T @ (X @ w - Y) / 6
        ends.append(w)
    assert found.parameters == pytest.approx(_apart(ends)) and found.functions == pytest.approx(
        _apart([X @ w for w in ends])
    )
    assert found.losses == pytest.approx([float((X @ w - Y).square().mean()) / 2 for w in ends])


def test_basins_are_those_of_the_nearest_minimum():
    """(x^2 - 1)^2 + 2 y^2 has the minima (-1, 0) and (1, 0); starts are at x = -1.6, -0.73, 0.13 and 1."""
    loss = lambda w: (w[:, 0] ** 2 - 1) ** 2 + 2 * w[:, 1] ** 2  # noqa: E731
    found = basin_map(loss, low=(-1.6, -0.5), high=(1.0, 1.0), points=4, lr=0.05, steps=300)
    assert torch.allclose(found.minima, torch.tensor([[-1.0, 0.0], [1.0, 0.0]]).double(), atol=1e-6)
    assert found.basins.tolist() == [[0] * 4, [0] * 4, [1] * 4, [1] * 4] and found.shares == (0.5, 0.5)


def test_starts_that_run_away_in_one_coordinate_belong_to_no_basin():
    """One step of -x^2 / 2 with a rate of 10^7 multiplies x by about 10^7; y goes to 0."""
    loss = lambda w: -(w[:, 0] ** 2) / 2 + 1e-7 * w[:, 1] ** 2 / 2  # noqa: E731
    found = basin_map(loss, low=(0.0, 1.0), high=(1.0, 2.0), points=2, lr=1e7, steps=1)
    assert found.basins.tolist() == [[0, 0], [-1, -1]] and found.shares == (0.5,)


def test_a_basin_map_covers_a_square_of_side_four_with_sixty_points_by_default():
    seen = []

    def loss(w):
        seen.append(w.detach().clone())
        return w.square().sum(1)

    found = basin_map(loss, lr=0.5, steps=1)
    assert found.basins.shape == (60, 60) and len(found.minima) == 1
    assert seen[0].amin(0).tolist() == [-2.0, -2.0] and seen[0].amax(0).tolist() == [2.0, 2.0]


def test_descent_of_a_basin_map_takes_the_stated_steps():
    """|w|^2 / 2 from (1, 2) in three steps of 0.25: (27 / 64) (1, 2)."""
    found = basin_map(lambda w: w.square().sum(1) / 2, low=(1.0, 2.0), high=(1.001, 2.001), points=2, lr=0.25, steps=3)
    assert found.minima[0].tolist() == pytest.approx([27 / 64, 27 / 32])


def test_minima_closer_than_a_hundredth_of_the_longer_side_are_one():
    """With steps of no size every start is its own minimum; 0.01 of the longer side, 3, is 0.03."""
    flat = lambda w: 0 * w.sum(1)  # noqa: E731
    for gap, minima in ((0.029, 2), (0.031, 4)):
        found = basin_map(flat, low=(0.0, 0.0), high=(3.0, gap), points=2, steps=1)
        assert len(found.minima) == minima


def test_default_learning_rates_go_from_a_twentieth_to_five_times_the_limit():
    found = try_gradient_steps(linear(), (X, Y))
    limit = 2 / float(torch.linalg.eigvalsh(X.T @ X / 6)[-1])
    assert found.lrs == pytest.approx([limit * 10 ** (e / 4) for e in (-5, -4, -3, -2, -1, 0, 1, 2, 3)], rel=1e-6)
    assert found.lrs[0] / limit == pytest.approx(0.0562, abs=1e-3) and found.lrs[-1] / limit == pytest.approx(
        5.62, abs=0.01
    )


def test_a_step_ahead_has_the_loss_cosine_and_smoothness_written_out():
    found = try_gradient_steps(linear(), (X, Y), lrs=(0.3, 2.0))
    H, g = X.T @ X / 6, X.T @ (X @ W - Y) / 6
    for i, lr in enumerate((0.3, 2.0)):
        there = X.T @ (X @ (W - lr * g) - Y) / 6
        assert found.losses[i] == pytest.approx(float((X @ (W - lr * g) - Y).square().mean()) / 2)
        assert found.cosines[i] == pytest.approx(float(there @ g / there.norm() / g.norm()))
        assert found.smoothness[i] == pytest.approx(float((H @ g).norm() / g.norm()))


def test_polyaks_constant_is_the_least_ratio_along_descent():
    net, lr, floor = linear(), 0.1, -0.05
    found = polyak_constant(net, (X, Y), lr=lr, steps=4, min_loss=floor)
    w, ratios = W, []
    for _ in range(4):
        g = X.T @ (X @ w - Y) / 6
        ratios.append(float(g @ g) / (2 * (float((X @ w - Y).square().mean()) / 2 - floor)))
        w = w - lr * g
    assert found.value == pytest.approx(min(ratios)) and min(ratios) < 0.9 * max(ratios)


def test_activations_are_centered_and_of_length_one_for_each_unit():
    h = torch.randn(5, 3, 2, 4, generator=G).double()
    rows = _standard(h, 3)
    expected = h.transpose(0, 1).reshape(3, 40)
    expected = expected - expected.mean(1, keepdim=True)
    assert torch.allclose(rows, expected / expected.square().sum(1, keepdim=True).sqrt())
    assert _standard(torch.randn(5, 7, 3), 3).shape == (3, 35)  # tokens: units are the last axis
    assert _standard(torch.randn(5, 5, 3), 5).shape[0] == 3


def test_the_distance_of_two_models_is_that_of_all_parameters():
    assert _distance(linear(W), linear(W + torch.tensor([1.0, 2.0, 2.0]))) == pytest.approx(3.0)


def test_batch_norm_leaves_the_stated_share_of_the_gradient():
    """The factor is |gradient into the layer|^2 over (c / s)^2 |gradient out of it|^2, summed over channels."""
    norm = nn.BatchNorm1d(3, eps=1e-12).double()  # (1) neglects eps
    nn.init.constant_(norm.weight, 0.7)
    norm.weight.data[1] = -2.0
    net = nn.Sequential(norm, nn.Linear(3, 1)).double()
    x = (torch.randn(9, 3, generator=G).double() * torch.tensor([1.0, 3.0, 0.2])).requires_grad_()
    y = torch.randn(9, generator=G).double()
    found = normalization_smoothing(net, (x.detach(), y))
    out = norm(x)
    loss = (net[1](out)[:, 0] - y).square().mean() / 2
    into, after = torch.autograd.grad(loss, (x, out))
    slope = norm.weight.detach() / (x.detach().var(0, correction=0) + norm.eps).sqrt()
    full = slope.square() * after.square().sum(0)
    assert found.factors["0"] == pytest.approx(float(into.square().sum() / full.sum()))
    assert found.scales["0"] == pytest.approx(float(slope.mean())) and found.error < 1e-9
    wrong = into + 0.1
    told = _smoothing(norm, x.detach(), wrong, after)
    away = (wrong.square().sum(0) - into.square().sum(0)).abs().max() / full.max()
    assert told[2] == pytest.approx(float(away), rel=1e-6)
    norm.eps = 0.5
    slope = norm.weight.detach() / (x.detach().var(0, correction=0) + 0.5).sqrt()
    assert _smoothing(norm, x.detach(), into, after)[1] == pytest.approx(float(slope.mean()))
    none = _smoothing(norm, x.detach(), 0 * into, 0 * after)
    assert none[0] == 0.0 and none[2] == 0.0
