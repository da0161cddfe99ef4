"""Probes of learned and of fresh features on a new task."""

import pytest
import torch
from torch import nn

from gnomon.attribution.probes import layer_probe
from gnomon.attribution.transfer import transfer_probe
from gnomon.core.errors import InputError


def data():
    x = torch.randn(200, 6, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0] * x[:, 1] > 0).long()


def test_features_that_solve_the_task_gain_and_the_network_stays():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.no_grad():  # relu(a + b), relu(-a - b), relu(a - b), relu(b - a) tell the sign of a b
        net[0].bias.zero_()
        net[0].weight.zero_()[:, :2] = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    before = [p.clone() for p in net.parameters()]
    found = transfer_probe(net, data(), layers=["1"])
    assert found.layers == ("1",) and found.learned[0] > 0.9 and found.gains[0] > 0.15 and found.best == "1"
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
    assert found.learned[0] == layer_probe(net, data(), layers=["1"]).layers[-1].linear


def test_the_network_itself_as_fresh_gains_nothing():
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
    assert set(transfer_probe(net, data(), untrained=net).gains) == {0.0}


def test_a_parameter_without_an_initializer_needs_the_fresh_network():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(6, 2))
            self.after = nn.Linear(2, 2)

        def forward(self, x):
            return self.after(x @ self.w)

    with pytest.raises(InputError, match="parameter 'w' has no initializer"):
        transfer_probe(Own(), data())
    assert transfer_probe(Own(), data(), untrained=Own()).layers == ("after",)
