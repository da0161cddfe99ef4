"""Weights that forward changes are named; running statistics, dropout and eval mode are no such changes."""

import torch
from torch import nn

from gnomon.checks.network.changed_weights import changed_weight_findings


class Restarting(nn.Module):
    """Draws its head again in training mode."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        if self.training:
            self.head.reset_parameters()
        return self.head(self.body(x).relu())


def test_only_the_layer_that_forward_draws_again_is_named():
    net = Restarting()
    before = {name: t.clone() for name, t in net.state_dict().items()}
    (found,) = changed_weight_findings(net, torch.randn(5, 4))
    assert found.kind == "weights-changed-in-forward" and found.where == "head" and found.values["size"] == 27
    assert all(torch.equal(t, before[name]) for name, t in net.state_dict().items())


def test_weights_that_an_earlier_pass_drew_with_another_seed_are_seen_to_change():
    net = Restarting()
    torch.manual_seed(0)
    net(torch.randn(5, 4))
    assert changed_weight_findings(net.eval(), torch.randn(5, 4))[0].where == "head"


def test_statistics_and_noise_are_no_changes_of_weights():
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 2))
    assert changed_weight_findings(net, torch.randn(5, 4)) == ()
    assert changed_weight_findings(Restarting().requires_grad_(False), torch.randn(5, 4)) == ()
