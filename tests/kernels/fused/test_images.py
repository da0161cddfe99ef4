import pytest
import torch
from torch import nn

import gnomon
from gnomon.program import InitializationLaw
from tests.kernels.fused.reference import both, distance
from tests.shares import in_full

LAWS = {
    "torch": ("torch", "standard"),
    "ntk": (InitializationLaw(1.3, 0.4), "ntk"),
    "no bias": (InitializationLaw(1.3, 0.0), "standard"),
}


def conv(before, after, kernel=3, padding=1, **options):
    return nn.Conv2d(before, after, kernel, padding=padding, **options)


def gap(channels):
    return nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 2)


def circular(before, after, **options):
    return conv(before, after, padding_mode="circular", **options)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first, self.second = conv(before, after, stride=stride), conv(after, after)
        self.short = nn.Conv2d(before, after, 1, stride=stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return self.second(torch.relu(self.first(torch.relu(x)))) + self.short(x)


R, P = nn.ReLU, nn.AvgPool2d
NETWORKS = {
    "flatten": (nn.Sequential(conv(3, 8), R(), conv(8, 8), R(), nn.Flatten(), nn.Linear(288, 2)), (3, 6, 6)),
    "gap": (nn.Sequential(conv(3, 8), R(), conv(8, 8), R(), *gap(8)), (3, 6, 5)),
    "gap, dense": (nn.Sequential(conv(3, 8), R(), P(2), *gap(8)[:2], nn.Linear(8, 9), R(), nn.Linear(9, 1)), (3, 6, 4)),
    "pool": (nn.Sequential(conv(3, 8), R(), P(2), conv(8, 8), R(), P(2), conv(8, 8), R(), *gap(8)), (3, 8, 8)),
    "pool, flatten": (nn.Sequential(conv(3, 8), R(), P(2), conv(8, 8), R(), nn.Flatten(), nn.Linear(72, 1)), (3, 6, 6)),
    "pool, cropped": (nn.Sequential(conv(3, 8), R(), P(3), conv(8, 8), R(), *gap(8)), (3, 7, 8)),
    "stride": (nn.Sequential(conv(3, 8, stride=2), R(), conv(8, 8, stride=2), R(), *gap(8)), (3, 7, 6)),
    "valid": (nn.Sequential(conv(3, 8, padding=0), R(), conv(8, 8, padding=0), R(), *gap(8)), (3, 7, 7)),
    "kernels": (nn.Sequential(conv(3, 8, 5, 2), R(), conv(8, 8, (1, 3), (0, 1)), R(), *gap(8)), (3, 6, 6)),
    "dilation": (nn.Sequential(conv(3, 8), R(), conv(8, 8, 3, 2, dilation=2), R(), *gap(8)), (3, 6, 6)),
    "circular": (nn.Sequential(circular(3, 8), R(), circular(8, 8), R(), P(2), circular(8, 8), R(), *gap(8)), (3, 6, 4)),
    "circular stride": (nn.Sequential(circular(3, 8), R(), circular(8, 8, stride=2), R(), *gap(8)), (3, 6, 4)),
    "residual": (nn.Sequential(conv(3, 8), Block(8, 8, 1), Block(8, 16, 2), R(), *gap(16)), (3, 6, 6)),
    "dropout": (nn.Sequential(conv(3, 8), R(), nn.Dropout(0.4), P(2), conv(8, 8), R(), nn.Dropout(0.2), *gap(8)), (3, 6, 6)),
    "group norm": (nn.Sequential(conv(3, 8), nn.GroupNorm(1, 8), R(), P(2), conv(8, 8), nn.GroupNorm(1, 8), R(), *gap(8)), (3, 6, 6)),
    "positions": (nn.Sequential(conv(3, 8), R(), P(2), conv(8, 8)), (3, 6, 6)),
    "line": (nn.Sequential(nn.Conv1d(3, 8, 3, padding=1), R(), nn.AvgPool1d(2), nn.Conv1d(8, 8, 3), R(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 1)), (3, 10)),
}  # fmt: skip


def images(shape, n=6):
    torch.manual_seed(2)
    x = torch.randn(n, *shape)
    x[3] = x[1]
    x[5] = x[2] + 1e-3 * torch.randn(shape)
    x[4, :, :2] = 0
    return x


@pytest.mark.parametrize("law", in_full(LAWS, except_for=["ntk"]))
@pytest.mark.parametrize("name", NETWORKS)
def test_agrees_with_the_reference(monkeypatch, name, law):
    (net, shape), (init, parametrization) = NETWORKS[name], LAWS[law]
    x = images(shape)
    for y in (None, torch.cat([x[2:3], torch.randn(2, *shape)])):
        fast, slow = both(monkeypatch, net, x, y, init=init, parametrization=parametrization)
        assert distance(fast.nngp, slow.nngp) < 1e-10 and distance(fast.ntk, slow.ntk) < 1e-10
        single, _ = both(monkeypatch, net, x, y, init=init, parametrization=parametrization, dtype=torch.float32)
        assert distance(single.nngp, slow.nngp) < 2e-5 and distance(single.ntk, slow.ntk) < 2e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["pool", "pool, flatten", "residual"])
def test_diagonal_and_duplicates_are_exact(name, dtype):
    net, shape = NETWORKS[name]
    x = images(shape, 20)
    lim = gnomon.Limit(net, dtype=dtype, compiled=True)
    k = lim.ntk(x)
    assert torch.equal(k, k.T) and torch.equal(k[3], k[1])
    assert k[1, 3] == k[1, 1] == k[3, 3] == lim.ntk(x, x[1:2])[3, 0]


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("name", ["pool, flatten", "flatten", "pool"])
def test_float32_keeps_its_accuracy_next_to_coinciding_images(monkeypatch, name, gap):
    net, shape = NETWORKS[name]
    x = torch.randn(3, *shape)
    fast, slow = both(
        monkeypatch, net, x, x + gap * torch.randn(3, *shape), init=InitializationLaw(1.4, 0.1), dtype=torch.float32
    )
    assert (fast.ntk.double() / slow.ntk - 1).abs().max() < 2e-5


@pytest.mark.parametrize(
    "layers",
    [
        (nn.AvgPool2d(3, stride=1), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()),
        (nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular"), nn.ReLU()),
        (nn.Upsample(scale_factor=2), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()),
    ],
    ids=["overlapping pools", "circular and zeros", "upsampling"],
)
def test_what_is_not_covered_is_left_to_the_reference(monkeypatch, layers):
    net = nn.Sequential(conv(3, 8), nn.ReLU(), *layers, *gap(8))
    both(monkeypatch, net, torch.randn(3, 3, 6, 6), covered=False)


@pytest.mark.parametrize(
    "options",
    [{"kernel": 3, "padding": 2}, {"kernel": 1, "padding": 1}, {"kernel": 2, "padding": 1, "stride": 2}],
    ids=["three", "one", "stride"],
)
@pytest.mark.parametrize("first", [True, False])
def test_convolutions_that_enlarge_the_image_are_left_to_the_reference(monkeypatch, options, first):
    """Their outputs are farther apart than any two inputs; planes of such displacements were never computed."""
    layers = (conv(3, 8, **options), nn.ReLU(), conv(8, 8), nn.ReLU())
    if not first:
        layers = (conv(3, 8), nn.ReLU(), conv(8, 8, **options), nn.ReLU())
    fast, slow = both(monkeypatch, nn.Sequential(*layers, *gap(8)), torch.randn(3, 3, 6, 6), covered=False)
    assert distance(fast.nngp, slow.nngp) < 1e-10 and distance(fast.ntk, slow.ntk) < 1e-10
