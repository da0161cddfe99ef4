"""Bounds on twenty networks that they were not made for: a bound is either above the measured gap or not reported."""

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from gnomon.bounds import generalization_bounds


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.inner, self.last = nn.Linear(64, 32), nn.Linear(32, 32), nn.Linear(32, 10)

    def forward(self, x):
        h = self.first(x).relu()
        return self.last(h + self.inner(h).relu())


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.gate, self.last = nn.Linear(64, 32), nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x):
        return self.last(self.value(x) * self.gate(x).sigmoid())


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.last = nn.GRU(8, 24, batch_first=True), nn.Linear(24, 10)

    def forward(self, x):
        return self.last(self.rnn(x.reshape(-1, 8, 8))[0][:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.last = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(64, 10)

    def forward(self, x):
        rows = x.reshape(-1, 8, 8)
        return self.last(self.mix(rows, rows, rows)[0].flatten(1))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.last = nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, x):
        return self.last(self.inner(self.inner(x).relu()).relu())


class HiddenScale(nn.Module):
    """A chain of Linear layers whose outputs are multiplied in `forward`."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x):
        return 100 * self.layers(x)


def _dense(activation, *after):
    return nn.Sequential(nn.Linear(64, 32), activation, nn.Linear(32, 10), *after)


def _images(*layers):
    return nn.Sequential(nn.Unflatten(1, (1, 8, 8)), *layers)


NETWORKS = {
    "linear": lambda: nn.Sequential(nn.Linear(64, 10)),
    "two layers": lambda: _dense(nn.ReLU()),
    "five layers": lambda: nn.Sequential(
        *[part for _ in range(4) for part in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10)
    ),
    "no bias": lambda: nn.Sequential(nn.Linear(64, 32, bias=False), nn.ReLU(), nn.Linear(32, 10, bias=False)),
    "log-softmax": lambda: _dense(nn.ReLU(), nn.LogSoftmax(1)),
    "softmax": lambda: _dense(nn.ReLU(), nn.Softmax(1)),
    "tanh": lambda: _dense(nn.Tanh()),
    "GELU": lambda: _dense(nn.GELU()),
    "sigmoid": lambda: _dense(nn.Sigmoid()),
    "dropout": lambda: nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10)),
    "batch norm": lambda: nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10)),
    "layer norm": lambda: nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)),
    "convolutions": lambda: _images(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 10)),
    "global average": lambda: _images(
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)
    ),
    "residual": Residual,
    "gated": Gated,
    "recurrent": Recurrent,
    "attention": Attention,
    "tied weights": Tied,
    "hidden scale": HiddenScale,
}


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(3))
    x, y = torch.as_tensor(x / 16, dtype=torch.float32)[order], torch.as_tensor(y)[order].long()
    return (x[:300], y[:300]), (x[300:900], y[300:900])


@pytest.mark.parametrize("name", NETWORKS)
def test_a_bound_is_above_the_measured_gap_or_is_not_reported(name, digits):
    train, test = digits
    net = NETWORKS[name]()
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(40):
        loss = nn.functional.cross_entropy(net(train[0]), train[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = generalization_bounds(net.eval(), train, test=test)
    assert found.bounds or found.excluded
    for bound in found.bounds:
        assert not bound.broken, bound.name
        assert bound.value >= found.gap.interval.low, bound.name
    assert all(reason for reason in dict(found.excluded).values())
