"""Quantities whose scale or sign matters: probes, class activation maps, clouds of neurons, word vectors, bottlenecks."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.attribution import receptive, shortcut
from gnomon.attribution.cues import analogy_score
from gnomon.attribution.information import BottleneckCurve
from gnomon.attribution.maps import cam
from gnomon.attribution.neurons import neuron_distance
from gnomon.attribution.probes import RELATIVE_RIDGE, _probe
from gnomon.attribution.tiles import tile_attribution_maps


@pytest.mark.parametrize("bias", [-50.0, 50.0])
def test_activation_maps_need_logits_that_are_sums_over_positions_whatever_their_sign(bias):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    with torch.no_grad():
        net[4].bias.fill_(bias)
    x = torch.randn(2, 1, 6, 6)
    found = cam(net, x, 1)
    h = net[1](net[0](x))
    expected = torch.einsum("k,nkhw->nhw", net[4].weight[1], h).detach()
    torch.testing.assert_close(found.values, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("features", [3, 40])
def test_a_probe_is_ridge_regression_on_centered_features_of_mean_square_one(features):
    g = torch.Generator().manual_seed(1)
    y = torch.arange(60) % 3
    h = 7 * torch.randn(60, features, generator=g, dtype=torch.float64) + torch.eye(3, features).double()[y] + 5
    fit = torch.zeros(60, dtype=torch.bool)
    fit[torch.randperm(60, generator=torch.Generator().manual_seed(0))[:30]] = True
    a = (h - h[fit].mean(0)).numpy()
    a = a / np.sqrt((a[fit.numpy()] ** 2).mean())
    a = np.hstack([a, np.ones((60, 1))])
    train, rest = a[fit.numpy()], a[~fit.numpy()]
    goal = np.eye(3)[y[fit].numpy()]
    penalty = np.sqrt(RELATIVE_RIDGE * 30) * np.eye(features + 1)
    weights = np.linalg.lstsq(np.vstack([train, penalty]), np.vstack([goal, np.zeros((features + 1, 3))]), rcond=None)[
        0
    ]
    found = _probe("h", h, y)
    assert found.linear == pytest.approx(float(((rest @ weights).argmax(1) == y[~fit].numpy()).mean()))
    apart = np.linalg.norm(a[:, None, :-1] - a[None, :, :-1], axis=2)
    near = apart[np.ix_(~fit.numpy(), fit.numpy())].argmin(1)
    assert found.nearest == pytest.approx(float((y[fit][near] == y[~fit]).double().mean()))
    same = (y[:, None] == y).numpy() & ~np.eye(60, dtype=bool)
    assert found.contraction == pytest.approx(apart[same].mean() / apart[~np.eye(60, dtype=bool)].mean())


def test_the_spread_of_neurons_is_the_mean_variance_of_their_projections():
    """Two neurons (1, 0; 2) and (3, 0; 2): along each direction u they are 2 u_1 apart, so the variance is u_1^2."""
    nets = []
    for first in ((1.0, 3.0), (1.0, 3.0)):
        net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 1))
        with torch.no_grad():
            net[0].weight.copy_(torch.tensor([[first[0], 0.0], [first[1], 0.0]]))
            net[2].weight.fill_(2.0)
        nets.append(net)
    found = neuron_distance(*nets, directions=50, seed=3)
    drawn = torch.randn(3, 50, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    u = drawn / drawn.norm(dim=0)
    assert found.spread == pytest.approx(float(u[0].square().mean().sqrt())) and found.distance == 0.0


def test_the_critical_parameter_is_the_first_that_keeps_information():
    curve = BottleneckCurve((5.0, 4.0, 3.0, 2.0), (0.5, 1.1e-4, 0.9e-4, 0.0), (0.4, 0.0, 0.0, 0.0), 1e-9)
    assert curve.critical == 4.0
    assert BottleneckCurve((2.0,), (0.9e-4,), (0.0,), 1e-9).critical == float("inf")


def test_words_without_a_vector_are_no_answer():
    table = torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    assert analogy_score(table, [(0, 1, 2, 3)]) == 1.0 and analogy_score(3 * table, [(0, 1, 2, 4)]) == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_the_extent_of_a_line_counts_gradients_of_both_signs(seed):
    torch.manual_seed(seed)
    layer = nn.Conv1d(3, 2, 5, bias=False).double()
    x = torch.randn(2, 3, 11, dtype=torch.float64, requires_grad=True)
    extent, spread = receptive._extent(layer(x), x)
    assert extent == 5 and 0 < spread < 5


def test_maps_of_some_examples_are_drawn_over_their_images():
    maps, images = torch.rand(3, 2, 2), torch.rand(3, 1, 4, 4)
    assert (
        len(tile_attribution_maps(maps, images, 2).under) == 4
        and len(tile_attribution_maps(maps, images, 3).under) == 4
    )
    assert tile_attribution_maps(maps, images[:1], 2).under == ()


def test_features_that_the_network_uses_are_tried_although_they_do_not_separate_the_classes():
    """Of thirty features the network reads one, whose law is the same for both classes; ten others separate them."""
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(200, 30, generator=g), torch.arange(200) % 2
    x[:, :10] += 3 * y[:, None]
    net = nn.Linear(30, 2)
    with torch.no_grad():
        net.weight.copy_(1e-4 * torch.arange(60.0).reshape(2, 30))
        net.weight[:, 17] = torch.tensor([1.0, -1.0])
    pairs = shortcut._Pairs.of(net, x, y, 0)
    tried = [trial.name for trial in shortcut._features(net, pairs, tuple(f"x{i}" for i in range(30)))]
    assert "x17" in tried and len(set(tried)) == len(tried) >= 15
