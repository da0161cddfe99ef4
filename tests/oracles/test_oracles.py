"""The two oracles against each other: networks with one hidden layer have the limit as their exact mean at any width.

Every entry's z-score is under 5 (about 1e-6 two-sided per entry; some 30 entries per test).
"""

import math

import pytest
import torch
from torch import nn

from tests.oracles.jacobian import mean_finite_kernels
from tests.oracles.recursion import kernels, spec_of
from tests.shares import in_full

W, B = 1.3, 0.4


def law(layer):
    return W, (B if layer.bias is not None else 0.0)


class Erf(nn.Module):
    def forward(self, x):
        return torch.erf(x)


def gaussian(net):
    for layer in net:
        if hasattr(layer, "weight"):
            nn.init.normal_(layer.weight, std=W / math.sqrt(layer.weight[0].numel()))
            if layer.bias is not None:
                nn.init.normal_(layer.bias, std=B)
    return net.double()


def mult(net):
    out = {}
    for n, layer in net.named_children():
        if hasattr(layer, "weight"):
            out[n + ".weight"] = W / math.sqrt(layer.weight[0].numel())
            if layer.bias is not None:
                out[n + ".bias"] = B
    return out


NETS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 2)), (5,)),
    "mlp_nobias": (lambda: nn.Sequential(nn.Linear(5, 24, bias=False), Erf(), nn.Linear(24, 2)), (5,)),
    "tanh": (lambda: nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 2, bias=False)), (5,)),
    "silu": (lambda: nn.Sequential(nn.Linear(5, 24), nn.SiLU(), nn.Linear(24, 2)), (5,)),
    "conv_dilated": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 16, 3, dilation=(1, 2), padding=(1, 0), stride=(2, 1)),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 3 * 2, 2),
        ),
        (2, 5, 6),
    ),
    "conv_circular": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 16, 3, padding=1, padding_mode="circular", stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, 2),
        ),
        (2, 5, 4),
    ),
    "conv_circular_dilated": (
        lambda: nn.Sequential(
            nn.Conv1d(2, 16, 3, padding=2, dilation=2, padding_mode="circular"),
            nn.ReLU(),
            nn.AvgPool1d(3, 2, 1),
            nn.Flatten(),
            nn.Linear(16 * 4, 2),
        ),
        (2, 7),
    ),
    "avgpool_pad": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 16, (3, 2), padding=1),
            nn.LeakyReLU(0.2),
            nn.AvgPool2d(3, 2, padding=1),
            nn.Flatten(),
            nn.Linear(16 * 9, 2),
        ),
        (2, 5, 4),
    ),
}


@pytest.mark.parametrize("parametrization", in_full(["ntk", "standard"], except_for=["ntk"]))
@pytest.mark.parametrize("name", NETS)
def test_mean(name, parametrization):
    make, shape = NETS[name]
    g = torch.Generator().manual_seed(3)
    x = torch.randn(3, *shape, generator=g, dtype=torch.float64)
    net = make()
    nngp, ntk = kernels(spec_of(net, law), x, parametrization=parametrization)
    m = mean_finite_kernels(
        lambda seed: gaussian(make()), x, range(150), mult(net) if parametrization == "ntk" else None
    )
    zn = ((m.nngp - torch.tensor(nngp)) / m.nngp_error).abs().max()
    zt = ((m.ntk - torch.tensor(ntk)) / m.ntk_error).abs().max()
    print(name, parametrization, float(zn), float(zt), float((m.ntk_error / m.ntk.abs()).max()))
    assert zn < 5 and zt < 5
    wrong = (abs(m.ntk * 1.5 - torch.tensor(ntk)) / (1.5 * m.ntk_error)).max()
    assert wrong > 5  # the judge can fail
