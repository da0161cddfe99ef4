"""Hidden units found by reading: permutations and scalings of them change no output, for networks of many kinds."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.program.units import hidden_units, permute_units, scale_units


class Block(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.c2, self.b2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        plain = into == out and stride == 1
        self.short = nn.Sequential() if plain else nn.Sequential(nn.Conv2d(into, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.b2(self.c2(F.relu(self.b1(self.c1(x))))) + self.short(x))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8)
        self.blocks, self.last = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2)), nn.Linear(16, 10)

    def forward(self, x):
        x = F.avg_pool2d(self.blocks(F.relu(self.norm(self.first(x)))), 4)
        return self.last(x.view(x.size(0), -1))


class Means(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Linear(5, 16), nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.mlp, self.head = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)), nn.Linear(16, 3)

    def forward(self, x):
        h = self.embed(x)
        u = self.norm(h)
        h = h + self.attention(u, u, u, need_weights=False)[0]
        return self.head((h + self.mlp(h)).mean(1))


class Used(nn.Module):
    """A parameter of its own in forward, and two readers of one layer: what is not understood stays."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.gate = (
            nn.Linear(3, 4),
            nn.Linear(4, 2),
            nn.Linear(4, 2),
            nn.Parameter(torch.ones(4)),
        )

    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(h) + self.c(h * self.gate)


def shared():
    middle = nn.Linear(6, 6)
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), middle, nn.ReLU(), middle, nn.ReLU(), nn.Linear(6, 2))


CASES = {  # network, inputs, sizes of groups that may change places, of those that may be scaled
    "dense": (nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 6), nn.Tanh(), nn.Linear(6, 2)), (5,), [7, 6], [7]),
    "convolutional": (nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3),
                                    nn.LeakyReLU(), nn.Flatten(), nn.Linear(96, 8), nn.ReLU(), nn.Linear(8, 3)),
                      (1, 14, 14), [4, 6, 8], [4, 6, 8]),
    "depthwise": (nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3, groups=4), nn.ReLU(), nn.Conv2d(4, 5, 1),
                                nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, 2)), (1, 8, 8), [4, 5], [5]),
    "means": (nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), Means(), nn.Linear(4, 3)), (2, 6, 5), [4], [4]),
    "residual": (Residual(), (3, 8, 8), [8, 8, 16, 16], [8, 8, 16, 16]),
    "encoder": (Encoder(), (6, 5), [32], []),
    "shared": (shared(), (3,), [6], [6]),
    "used": (Used(), (3,), [], []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_units_may_change_places_and_scale_without_a_change_of_the_outputs(name):
    torch.manual_seed(0)
    net, shape, orders, scales = CASES[name]
    net = copy.deepcopy(net).double().eval()
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.weight), nn.init.normal_(part.bias)
            part.running_mean.normal_(), part.running_var.uniform_(0.5, 2)
    x = torch.randn(4, *shape).double()
    units = hidden_units(net, x)
    assert sorted(g.size for g in units.permutations) == sorted(orders)
    assert sorted(g.size for g in units.scalings) == sorted(scales)
    ordered, scaled = copy.deepcopy(net), copy.deepcopy(net)
    for group in units.permutations:
        permute_units(ordered, group, torch.randperm(group.size).roll(1))
    for group in units.scalings:
        scale_units(scaled, group, 0.2 + 3 * torch.rand(group.size))
    with torch.no_grad():
        f = net(x)
        for other in (ordered, scaled):
            torch.testing.assert_close(other(x), f, rtol=1e-12, atol=1e-12)
    if orders:
        assert any(not torch.equal(p, q) for p, q in zip(net.parameters(), ordered.parameters(), strict=True))
