"""Instruments of the ledger on models that take a dict or two inputs, and return a dict or a tuple."""

import torch
from torch import nn

from gnomon.attribution.blocks import block_ablation
from gnomon.bounds import memorization
from gnomon.bounds.memorization import forgetting_events, network_rademacher
from gnomon.checks import signal_scales

DRAW = torch.Generator().manual_seed(0)
X, Z = torch.randn(24, 5, generator=DRAW), torch.randn(24, 4, generator=DRAW)
Y = (X[:, 0] > 0).long()


class TwoInputs(nn.Module):
    """Takes two tensors and returns a tuple: features and scores are told apart by their order."""

    def __init__(self):
        super().__init__()
        self.lift, self.mid, self.head = nn.Linear(9, 32), nn.Sequential(nn.Linear(32, 32), nn.ReLU()), nn.Linear(32, 2)

    def forward(self, x, z):
        h = self.mid(torch.relu(self.lift(torch.cat([x, z], 1))))
        return self.head(h), h


class Named(nn.Module):
    """Takes a tensor by name and returns a dict; it has no argument for labels."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, features):
        h = self.net(features)
        return {"extra": h.mean(), "logits": h}


def made(kind):
    def factory(seed):
        torch.manual_seed(seed)
        return kind()

    return factory


CASES = ((TwoInputs, ((X, Z), Y), (X, Z)), (Named, {"features": X, "labels": Y}, {"features": X}))


def test_labels_are_memorized_and_forgotten_by_models_of_every_signature():
    for kind, data, inputs in CASES:
        found = memorization(made(kind), data, steps=150, lr=1e-2)
        assert max(found.true) == max(found.random) == 1.0
        assert forgetting_events(kind(), data, steps=20, batch=8).events.shape == (24,)
        assert network_rademacher(made(kind), inputs, draws=2, steps=150, lr=1e-2).value == 1.0


def test_labels_beside_the_inputs_in_a_dict_are_no_input():
    torch.manual_seed(0)
    net = Named()
    alone, together = block_ablation(net, {"features": X}), block_ablation(net, {"features": X, "labels": Y})
    assert alone.effects == together.effects and alone.accuracy is None and 0 <= together.accuracy <= 1
    assert signal_scales(net, {"features": X, "labels": Y}).measured == signal_scales(net, {"features": X}).measured


def test_blocks_of_a_model_with_two_inputs_are_left_out():
    found = block_ablation(TwoInputs(), ((X, Z), Y))
    assert set(found.effects) == {"mid"} and found.effects["mid"] > 0
