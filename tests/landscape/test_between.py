"""The loss between two models: exact for a quadratic, and the barrier of hidden units that are permuted."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError
from gnomon.landscape import average_models, loss_between


def test_a_quadratic_loss_is_a_parabola_between_two_models():
    torch.manual_seed(0)
    a, b = (nn.Linear(3, 1).double() for _ in range(2))
    x, y = torch.randn(20, 3).double(), torch.randn(20).double()
    found = loss_between(a, b, (x, y), points=5)
    with torch.no_grad():
        ends = [m(x)[:, 0] - y for m in (a, b)]
    expected = [float(((1 - t) * ends[0] + t * ends[1]).square().mean() / 2) for t in found.t.tolist()]
    assert_allclose(found.losses, expected, rtol=1e-12)
    assert found.barrier == 0 and found.accuracies is None and "No barrier" in found.verdict and found.plots()


def test_permuted_hidden_units_are_behind_a_barrier_and_the_same_units_are_not():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    x = torch.randn(60, 2).double()
    y = net(x).argmax(1)
    with torch.no_grad():
        net[2].weight.mul_(200)
        net[2].bias.mul_(200)
    other, order = copy.deepcopy(net), torch.randperm(8)
    with torch.no_grad():
        other[0].weight.copy_(net[0].weight[order])
        other[0].bias.copy_(net[0].bias[order])
        other[2].weight.copy_(net[2].weight[:, order])
    assert_allclose(other(x).detach(), net(x).detach(), atol=1e-9)  # the same function
    found = loss_between(net, other, (x, y))
    assert found.barrier > 0.1 and "worse than either model" in found.verdict
    assert_allclose(found.losses[0], found.losses[-1], rtol=1e-9)
    assert float(found.accuracies[0]) == 1.0 and len(found.plots()) == 2
    assert loss_between(net, copy.deepcopy(net), (x, y)).barrier < 1e-12
    mean = average_models([net, other])
    assert_allclose(
        loss_between(net, other, (x, y), points=3).losses[1], nn.functional.cross_entropy(mean(x), y).item()
    )


def test_models_of_two_architectures_are_refused():
    with pytest.raises(InputError, match=r"'weight' has shape \(1, 2\) in one model and \(1, 3\) in another"):
        loss_between(nn.Linear(2, 1), nn.Linear(3, 1), (torch.zeros(1, 2), torch.zeros(1)))
    with pytest.raises(InputError, match="list of models is empty"):
        average_models([])
