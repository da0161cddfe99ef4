"""Networks with known faults, and healthy ones, on real digits."""

import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.data import digits
from gnomon.examination import Examination, examine


def examined(*given, **options) -> Examination:
    """An examination where every reading of the clock, one per step of training, takes a hundredth of a second.

    So the budget buys the same on every machine, busy or not.
    """
    return examine(*given, **options, clock=FakeClock(0.01))


def data(n=300, m=150):
    split = digits(n, m)
    return (split.x, split.y), (split.x_test, split.y_test)


def flat(pair):
    return pair[0].flatten(1), pair[1]


def he(net, gain=2**0.5):
    """Every linear layer with weight std gain / sqrt(fan_in) and no bias."""
    for part in net.modules():
        if isinstance(part, nn.Linear | nn.Conv2d):
            nn.init.normal_(part.weight, std=gain / part.weight[0].numel() ** 0.5)
            nn.init.zeros_(part.bias)
    return net


def perceptron(depth, width=64, act=nn.Tanh, gain=1.0, inputs=64, outputs=10):
    torch.manual_seed(0)
    sizes = [inputs] + [width] * depth
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), act())]
    return he(nn.Sequential(*layers, nn.Linear(width, outputs)), gain)


def cnn():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    return he(net)


def shuffled(pair, seed=0):
    order = torch.randperm(len(pair[1]), generator=torch.Generator().manual_seed(seed))
    return pair[0], pair[1][order]


def zeroed(net, name):
    nn.init.zeros_(net.get_submodule(name).weight)
    nn.init.zeros_(net.get_submodule(name).bias)
    return net
