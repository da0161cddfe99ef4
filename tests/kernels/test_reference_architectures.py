"""Graphs, transposed and three-dimensional convolutions, masks: kernels of plain torch modules against neural-tangents.

The files of ``reference/more`` were computed as those beside them (README); ``a1`` and ``a2`` are the matrices of graphs.
"""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw
from gnomon.models import SelfAttention

FILES = Path(__file__).parent / "reference" / "more"
TOLERANCE = 1e-8
HIDDEN = 100.0  # positions with this value are masked


class Net(nn.Module):
    def __init__(self, run, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run

    def forward(self, x):
        return self.run(self, x)


def graph(phi, readout, *, aggregate_first=True, size=8):
    """Five features and six columns of adjacency for each node."""

    def run(s, x):
        graph, h = x[..., 5:], x[..., :5]
        for layer in (s.a, s.b):
            h = phi(layer(graph @ h) if aggregate_first else graph @ layer(h))
        return s.c(readout(h))

    return Net(run, a=nn.Linear(5, 8), b=nn.Linear(8, 8), c=nn.Linear(size, 1)), LAWS


LAWS = {"a": InitializationLaw(1.4, 0.1), "b": InitializationLaw(1.1, 0.3), "c": InitializationLaw(1.3, 0.2)}


def transposed(kind, first, kernel, stride, readout, size, extra=0):
    layers = [first, nn.ReLU(), kind(8, 8, kernel, stride=stride, output_padding=extra), nn.ReLU()]
    net = Net(lambda s, x: s.c(readout(s.body(x.movedim(-1, 1)))), body=nn.Sequential(*layers), c=nn.Linear(size, 1))
    return net, {
        "body.0": InitializationLaw(1.5, 0.1),
        "body.2": InitializationLaw(1.2, 0.3),
        "c": InitializationLaw(1.3, 0.2),
    }


def pooled(h):
    return h.flatten(2).mean(2)


def flat(h):
    return h.movedim(1, -1).flatten(1)


def volumes():
    layers = [nn.Conv3d(2, 8, 2), nn.ReLU(), nn.CircularPad3d((0, 1, 0, 1, 0, 1)), nn.Conv3d(8, 8, 2), nn.ReLU()]
    net = Net(lambda s, x: s.c(pooled(s.body(x.movedim(-1, 1)))), body=nn.Sequential(*layers), c=nn.Linear(8, 1))
    return net, {
        "body.0": InitializationLaw(1.5, 0.1),
        "body.3": InitializationLaw(1.3, 0.1),
        "c": InitializationLaw(1.3, 0.2),
    }


def masked(layer):
    """Hidden positions are zero before the layer, and left out of the mean."""

    def run(s, x):
        seen = (x[..., :1] != HIDDEN).to(x.dtype)
        weights = seen.transpose(1, 2) / seen.sum(1, keepdim=True)
        x = x * seen
        h = s.a(x.transpose(1, 2)).transpose(1, 2) if isinstance(s.a, nn.Conv1d) else s.a(x)
        return s.c((weights @ torch.relu(h)).squeeze(1))

    return Net(run, a=layer, c=nn.Linear(8, 1)), {"a": InitializationLaw(1.5, 0.1), "c": InitializationLaw(1.3, 0.2)}


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.attend, self.c = nn.Linear(3, 8), SelfAttention(8, heads=2), nn.Linear(40, 1)

    def forward(self, x):
        return self.c(torch.relu(self.attend(torch.relu(self.embed(x)))).flatten(1))


def attention():
    """With logits over d_k, queries are tied to keys."""
    laws = {
        "embed": InitializationLaw(1.5, 0.1),
        "attend.query_key": InitializationLaw(math.sqrt(0.9 * 1.2)),
        "attend.value": InitializationLaw(1.1),
        "attend.out": InitializationLaw(1.3),
    }
    return Sequence(), laws | {"c": InitializationLaw(1.3, 0.2)}


CASES = {
    "attention_sequence": attention,
    "gcn_mean": lambda: graph(torch.relu, lambda h: h.mean(1)),
    "gcn_sum": lambda: graph(torch.erf, lambda h: h.sum(1)),
    "gcn_flat": lambda: graph(torch.relu, lambda h: h.flatten(1), aggregate_first=False, size=48),
    "transposed1d_valid_gap": lambda: transposed(nn.ConvTranspose1d, nn.Conv1d(3, 8, 2), 3, 2, pooled, 8),
    "transposed1d_valid_flat": lambda: transposed(nn.ConvTranspose1d, nn.Conv1d(3, 8, 2), 3, 2, flat, 8 * 9),
    "transposed1d_stride1_gap": lambda: transposed(nn.ConvTranspose1d, nn.Conv1d(3, 8, 2), 2, 1, pooled, 8),
    "transposed2d_valid_gap": lambda: transposed(
        nn.ConvTranspose2d, nn.Conv2d(3, 8, 2), (3, 2), (2, 3), pooled, 8, (0, 1)
    ),
    "conv3d_gap": volumes,
    "masked_conv1d_gap": lambda: masked(nn.Conv1d(3, 8, 3, padding=1)),
    "masked_sets_gap": lambda: masked(nn.Linear(3, 8)),
}


@pytest.mark.parametrize("name", list(CASES))
def test_kernels_are_those_of_the_reference(name):
    net, laws = CASES[name]()
    with np.load(FILES / f"{name}.npz") as held:
        data = {k: torch.tensor(held[k], dtype=torch.float64) for k in held.files}
    if "a1" in data:
        data |= {f"x{i}": torch.cat([data[f"x{i}"], data[f"a{i}"]], 2) for i in (1, 2)}
    limit = gnomon.limit(net, init=laws, parametrization="ntk")
    cross, own = limit(data["x1"], data["x2"]), limit(data["x1"])
    for got, wanted in ((cross.nngp, "nngp"), (cross.ntk, "ntk"), (own.nngp, "nngp_sym")):
        assert float((got / data[wanted] - 1).abs().max()) <= TOLERANCE, wanted
    corner = 4 * math.sqrt(2 * torch.finfo(torch.float64).eps)  # the reference takes arccos of a rounded one
    assert float((own.ntk / data["ntk_sym"] - 1).abs().max()) <= max(TOLERANCE, corner)
