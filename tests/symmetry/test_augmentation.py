"""What augmentation does to frequencies, losses and filters."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.symmetry.augmentation import (
    augmentation_transfer_function,
    loss_change_under_transformation,
    weight_symmetry,
)


def test_averages_over_shifts_damp_frequencies_as_integrals_do():
    k, reach = torch.tensor([0.0, 0.7, 2.0, 5.0], dtype=torch.float64), 1.3
    shifts = (np.arange(20_000) + 0.5) / 20_000 * 2 * reach - reach
    by_hand = [np.cos(float(f) * shifts).mean() for f in k]
    assert np.allclose(augmentation_transfer_function(reach, k), by_hand, atol=1e-8)


def objective(x, y):
    return lambda net: (net(x)[:, 0] - y).square().mean()


def test_a_loss_over_whole_orbits_follows_moves_of_the_weights_and_one_over_parts_does_not():
    torch.manual_seed(0)
    x, y = torch.randn(6, 4, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    net = nn.Sequential(nn.Linear(4, 1, bias=False), nn.Tanh()).double()
    before = net[0].weight.clone()
    orbit = torch.cat([x.roll(s, 1) for s in range(4)])

    def shift(w):
        return w.roll(1, 1)

    whole = loss_change_under_transformation(net, objective(orbit, y.repeat(4)), shift, parameter="0.weight")
    part = loss_change_under_transformation(net, objective(x, y), shift, parameter="0.weight")
    assert whole.loss < 1e-12 and whole.gradient < 1e-12
    assert part.loss > 1e-3 and part.gradient > 1e-2 and torch.equal(net[0].weight, before)
    moved = shift(before.detach())
    with torch.no_grad():
        first, second = (float(objective(x, y)(n)) for n in (net, lambda z: torch.tanh(z @ moved.T)))
    assert part.loss == pytest.approx(abs(second - first) / first)
    with pytest.raises(InputError, match=r"has no parameter 'weight'.*0\.weight"):
        loss_change_under_transformation(net, objective(x, y), shift, parameter="weight")


def test_filters_that_look_like_their_mirror_images():
    even, odd = torch.tensor([[1.0, 2.0, 1.0]]), torch.tensor([[1.0, 0.0, -1.0]])
    found = weight_symmetry(torch.cat([even, odd, torch.tensor([[3.0, 4.0, 0.0]])]), lambda w: w.flip(1))
    assert found[:2].tolist() == [0.0, 2.0] and float(found[2]) == pytest.approx(18**0.5 / 5)
    kernels = torch.randn(5, 3, 4, 4)
    assert weight_symmetry(kernels, lambda w: w.rot90(1, (2, 3))).shape == (5,)
