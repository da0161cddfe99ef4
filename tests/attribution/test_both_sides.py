"""Instruments in closed form where a small case is known, and their limits with a case on each side."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.attribution import (
    bottleneck_curve,
    cam,
    fourier_mask,
    grad_cam,
    integrated_gradients,
    invert_layer,
    maps,
    occlusion,
    receptive_field,
    token_attribution_overview,
)
from gnomon.attribution.neurons import neuron_distance
from gnomon.attribution.record import Attribution
from gnomon.attribution.tiles import tile_attribution_maps
from gnomon.attribution.variance import VarianceShares


def test_the_weight_of_a_window_is_twice_the_deviation_of_its_gradient():
    """A convolution with the weights 1, 2, 1 has the variance 1/2, and one with -1, 0, 1 has the variance one."""
    net = nn.Sequential(nn.Conv1d(1, 1, 3, bias=False))
    for weight, variance in (((1.0, 2.0, 1.0), 0.5), ((-1.0, 0.0, 1.0), 1.0)):
        with torch.no_grad():
            net[0].weight.copy_(torch.tensor(weight).reshape(1, 1, 3))
        found = receptive_field(net, torch.randn(2, 1, 9, generator=torch.Generator().manual_seed(0)))
        assert found.measured == (3,) and found.weight[0] == pytest.approx(2 * variance**0.5)


def cloud(rows, outgoing):
    net = nn.Sequential(nn.Linear(len(rows[0]), len(rows), bias=False), nn.ReLU(), nn.Linear(len(rows), 1, bias=False))
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor(rows))
        net[2].weight.copy_(torch.tensor([outgoing]))
    return net


@pytest.mark.parametrize("shift", [0.5, 3.0])
def test_neurons_that_are_all_shifted_by_a_vector_are_apart_by_its_mean_square_projection(shift):
    """Along a direction u sorted neurons move by u times the shift; outgoing weights are multiplied by a root."""
    rows, outgoing = [[0.0, 1.0], [2.0, -1.0], [1.0, 3.0]], [1.0, -2.0, 0.5]
    a = cloud(rows, outgoing)
    b = cloud([[r + shift for r in row] for row in rows], [v - shift / 3**0.5 for v in outgoing])
    u = torch.randn(3, 50, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    moved = (u / u.norm(dim=0)).T @ torch.tensor([shift, shift, -shift], dtype=torch.float64)
    found = neuron_distance(a, b, directions=50, seed=4)
    assert found.distance == pytest.approx(float(moved.square().mean().sqrt()), rel=1e-6)


@pytest.mark.parametrize("iterations", [1, 4])
def test_an_inversion_runs_its_iterations_and_looks_twice_more(iterations):
    calls = []

    class Counted(nn.Module):
        def forward(self, x):
            calls.append(len(x))
            return x

    invert_layer(nn.Sequential(Counted()), "0", torch.rand(2, 3), iterations=iterations)
    assert len(calls) == iterations + 2


def test_a_mask_without_a_price_is_allowed_and_a_negative_price_is_not():
    net, data = nn.Sequential(nn.Flatten(), nn.Linear(16, 2)), (torch.rand(4, 1, 4, 4), torch.ones(4).long())
    assert fourier_mask(net, data, sparsity_weight=0.0, epochs=1).kept == 1.0
    with pytest.raises(ValueError, match="sparsity_weight"):
        fourier_mask(net, data, sparsity_weight=-1e-9, epochs=1)


def test_tokens_that_are_not_read_have_no_share():
    net = nn.Sequential(nn.Embedding(3, 3), nn.Flatten(), nn.Linear(6, 2))
    nn.init.zeros_(net[2].weight)
    found = token_attribution_overview(net, (torch.tensor([[0, 1], [2, 0]] * 20), torch.tensor([0, 1] * 20)))
    assert found.shares == {"0": 0.0, "1": 0.0, "2": 0.0}


class Head(nn.Module):
    """Scores of a pooled linear head, changed by a function."""

    def __init__(self, change):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 2, 1, bias=False), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head, self.change = nn.Linear(2, 2, bias=False), change
        with torch.no_grad():
            self.layers[0].weight.copy_(torch.tensor([1.0, -1.0]).reshape(2, 1, 1, 1))
            self.head.weight.copy_(torch.eye(2))

    def forward(self, x):
        return self.change(self.head(self.layers(x)))


@pytest.mark.parametrize(
    ("change", "target", "accepted"),
    [
        (lambda f: f, [0, 0], True),
        (lambda f: f, [1, 0], True),
        (torch.relu, [0, 0], True),
        (torch.relu, [0, 1], False),  # the second score is negative, and not a sum over positions any more
        (lambda f: torch.cat([f, f], 1), [0, 1], True),
        (lambda f: torch.cat([f, f], 1), [0, 3], False),  # the head has no such row
    ],
)
def test_every_score_must_be_a_sum_over_positions(change, target, accepted):
    x = torch.tensor([1.0, 3.0]).reshape(2, 1, 1, 1) * torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    if accepted:
        assert torch.allclose(cam(Head(change), x, torch.tensor(target)).values.mean((1, 2)).abs(), x.mean((1, 2, 3)))
    else:
        with pytest.raises(ValueError, match="sum over positions"):
            cam(Head(change), x, torch.tensor(target))


def test_rounding_of_scores_is_relative_to_the_largest_one():
    """The score of an image of zeros is zero; the one of a large image is rounded."""
    x = 1e6 * torch.rand(2, 1, 9, 9, generator=torch.Generator().manual_seed(0))
    x[0] = 0.0
    assert cam(Head(lambda f: f), x, torch.tensor([0, 0])).values[0].abs().max() == 0.0


@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_the_overlap_of_two_maps_is_their_cosine_whatever_their_size(floor, monkeypatch):
    one, two = (torch.tensor(rows).reshape(2, 2, 2) + floor for rows in
                ([[0.0, 1, 2, 3], [0.0, 0, 5, 1]], [[4.0, 0, 1, 1], [2.0, 0, 3, 0]]))  # fmt: skip
    given = iter([one, 1e5 * two])
    monkeypatch.setattr(maps, "grad_cam", lambda *_: SimpleNamespace(values=next(given)))
    found = maps.cam_overlap(nn.Identity(), nn.Identity(), torch.rand(2, 1, 2, 2), torch.tensor([0, 0]))
    wanted = [float((a * b).sum() / (a.norm() * b.norm())) for a, b in zip(one, two, strict=True)]
    assert found.tolist() == pytest.approx(wanted)


def test_maps_do_not_depend_on_the_number_of_examples_at_once(monkeypatch):
    net, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), torch.rand(5, 4)
    whole = occlusion(net, x).values, integrated_gradients(net, x, path_points=6).values
    gradient, covering = (sys.modules[f"gnomon.attribution.{name}"] for name in ("gradient", "occlusion"))
    monkeypatch.setattr(covering, "EXAMPLES_PER_PASS", 2)
    monkeypatch.setattr(gradient, "MAX_NUMBERS_PER_PASS", 1)
    for most in (1, 2, 7):
        monkeypatch.setattr(gradient, "MIN_EXAMPLES_PER_PASS", most)
        assert gradient.rows_at_once(x) == most
        assert torch.allclose(integrated_gradients(net, x, path_points=6).values, whole[1], atol=1e-6)
    monkeypatch.setattr(gradient, "MAX_NUMBERS_PER_PASS", 40)
    assert gradient.rows_at_once(x) == 10 and torch.allclose(occlusion(net, x).values, whole[0], atol=1e-6)


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_the_residual_of_a_bottleneck_is_the_largest_change_of_its_last_iteration(iterations):
    joint, beta = np.array([[0.3, 0.1], [0.1, 0.2], [0.05, 0.25]]), 4.0
    px, pyx = joint.sum(1), joint / joint.sum(1)[:, None]
    code = 0.9 * np.eye(3) + 0.1 * np.random.default_rng(7).dirichlet(np.ones(3), 3)
    for _ in range(iterations):
        pt = px @ code
        decoder = (code * px[:, None]).T @ pyx / pt[:, None]
        far = (pyx[:, None] * np.log(pyx[:, None] / decoder[None])).sum(2)
        new = pt * np.exp(-beta * far)
        new /= new.sum(1, keepdims=True)
        moved, code = np.abs(new - code).max(), new
    found = bottleneck_curve(joint, [beta], iterations=iterations, seed=7)
    assert found.residual == pytest.approx(moved)
    table = code.T @ joint
    assert found.about_target[0] == pytest.approx(
        (table * np.log(table / (table.sum(1)[:, None] * table.sum(0)))).sum(), abs=1e-12
    )


def test_a_map_of_zeros_has_no_largest_feature():
    values = torch.tensor([[0.0, 0.0], [3.0, -1.0]])
    assert Attribution(values, torch.tensor([0, 0]), "gradient").largest_share == pytest.approx(0.375)


def test_images_under_maps_are_drawn_from_black_to_white():
    images = torch.tensor([[[[2.0, 4.0], [6.0, 10.0]]], [[[5.0, 5.0], [5.0, 5.0]]]])
    under = tile_attribution_maps(torch.ones(2, 2, 2), images, 2).under
    assert [list(row[:2]) for row in under] == [[0.0, 0.25], [0.5, 1.0]] and [row[-1] for row in under] == [0.0, 0.0]


def test_separation_is_the_variance_between_classes_over_the_one_within():
    assert VarianceShares(0.6, 0.1, 0.3).separation == pytest.approx(1.5)
    assert VarianceShares(1.0, 0.0, 0.0).separation == float("inf")


def test_the_map_of_a_chosen_layer_weighs_its_channels_by_their_mean_slopes():
    """A convolution with two channels x and -2 x, of which only the first place is read by the score 3 a + 5 b."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.rest = nn.Conv2d(1, 2, 1, bias=False), nn.Identity()
            with torch.no_grad():
                self.conv.weight.copy_(torch.tensor([1.0, -2.0]).reshape(2, 1, 1, 1))

        def forward(self, x):
            h = self.rest(self.conv(x))
            return torch.stack([3 * h[:, 0, 0, 0] + 5 * h[:, 1, 0, 0], h[:, 0].sum((1, 2))], 1)

    x = torch.tensor([[[[-1.0, 2.0], [3.0, -4.0]]]])
    for layer in (None, "conv"):
        first, second = (grad_cam(Net(), x, torch.tensor([t]), layer=layer).values[0] for t in (0, 1))
        assert torch.allclose(first, ((3 - 2 * 5) / 4 * x[0, 0]).relu()) and torch.allclose(second, x[0, 0].relu())
