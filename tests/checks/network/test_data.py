"""Signals from data of every kind: the same numbers from a pair, loaders and streams of batches."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon.checks import signal_propagation
from gnomon.core.inputs.images import AdaptedInputWarning

X = torch.randn(300, 3, generator=torch.Generator().manual_seed(0)).double()
Y = (X[:, 0] > 0).long() + (X[:, 1] > 0.5).long()

KINDS = {
    "pair": lambda: (X, Y),
    "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True),
    "generator of dicts": lambda: ({"x": X[i : i + 7], "labels": Y[i : i + 7]} for i in range(0, 300, 7)),
    "function": lambda: lambda: iter([(X[:13], Y[:13]), (X[13:], Y[13:])]),
}


class Net(nn.Module):
    """A layer called twice, a dead unit, and a normalization whose statistics are not those of any batch."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.stem, self.norm, self.inner, self.relu = nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Linear(8, 8), nn.ReLU()
        self.head = nn.Linear(8, 3)
        nn.init.constant_(self.stem.bias[:1], -100.0)

    def forward(self, x):
        h = self.relu(self.norm(self.stem(x)))
        return self.head(self.inner(torch.tanh(self.inner(h))))


def in_one_batch(net):
    """All 300 examples at once, by autograd."""
    h = [net.stem(X)]
    h += [net.norm(h[-1])]
    h += [torch.relu(h[-1])]
    h += [net.inner(h[-1])]
    h += [net.inner(torch.tanh(h[-1]))]
    h += [net.head(h[-1])]
    value = nn.functional.cross_entropy(h[-1], Y)
    gradients = torch.autograd.grad(value, h)
    (weight,) = torch.autograd.grad(nn.functional.cross_entropy(net(X), Y), net.inner.weight)
    activations = [float(t.detach().square().mean()) for t in h]
    return (
        activations,
        [float((300 * g).square().mean()) for g in gradients],
        float(weight.square().sum() / net.inner.weight.detach().square().sum()),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_signals_are_the_same_from_data_of_every_kind(kind):
    net = Net().double().eval()
    activations, gradients, update = in_one_batch(net)
    result, pair = signal_propagation(net, KINDS[kind]()), signal_propagation(net, (X, Y))
    assert [layer.name for layer in result.layers] == ["stem", "norm", "relu", "inner", "inner (call 2)", "head"]
    assert [layer.activation for layer in result.layers] == pytest.approx(activations, rel=1e-12)
    assert [layer.gradient for layer in result.layers] == pytest.approx(gradients, rel=1e-12)
    assert result.layers[3].update == pytest.approx(update, rel=1e-12)
    assert [layer.correlation for layer in result.layers] == pytest.approx([v.correlation for v in pair.layers])
    assert result.layers[2].dead == 1 / 8 and result.examples == 300
    assert result.inputs == pytest.approx(float(X.square().mean()), rel=1e-12)


def test_inputs_in_batches_without_targets_have_the_signs_of_inputs_at_once():
    net = Net().double().eval()
    whole, parts = (
        signal_propagation(net, X[:200]),
        signal_propagation(net, DataLoader(TensorDataset(X[:200]), batch_size=9)),
    )
    assert [layer.gradient for layer in parts.layers] == pytest.approx([layer.gradient for layer in whole.layers])


def test_bytes_and_missing_channels_are_adapted():
    images = torch.randint(0, 256, (12, 8, 8), dtype=torch.uint8)
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 2))
    with pytest.warns(AdaptedInputWarning, match=r"^uint8 inputs were scaled to \[0, 1\]"):
        result = signal_propagation(module, images)
    assert result.layers == signal_propagation(module, images[:, None] / 255).layers


def test_gradients_of_batches_add_up_to_those_of_all_examples():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    x, y = torch.randn(11, 3).double(), torch.randn(11, 2).double()
    parts = DataLoader(TensorDataset(x, y), batch_size=4)
    whole, summed = signal_propagation(net, (x, y)), signal_propagation(net, parts)
    loss = (net(x) - y).square().sum() / 11
    slopes = torch.autograd.grad(loss, [net[0].weight, net[2].weight])
    ratios = [
        float(g.square().sum() / p.detach().square().sum())
        for g, p in zip(slopes, (net[0].weight, net[2].weight), strict=True)
    ]
    for found in (whole, summed):
        first, last = (layer.update for layer in found.layers if layer.weighted)
        assert first / last == pytest.approx(ratios[0] / ratios[1], rel=1e-6)
    one, many = ([a.update for a in found.layers if a.weighted] for found in (whole, summed))
    assert one == pytest.approx(many, rel=1e-9)
