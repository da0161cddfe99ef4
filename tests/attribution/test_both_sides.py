"""Instruments in closed form where a small case is known, and their limits with a case on each side."""

import pytest
import torch
from torch import nn

from gnomon.attribution import fourier_mask, invert_layer, receptive_field, token_attribution_overview
from gnomon.attribution.neurons import neuron_distance


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
