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


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Residual(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.first, self.body, self.last = nn.Linear(20, 50), nn.Linear(50, 50), nn.Linear(50, 2)
        self.activation, self.norm = activation, nn.LayerNorm(50)

    def forward(self, x):
        h = self.first(x)
        h = h + 0.5 * self.body(self.activation(h))
        return self.last(self.activation(self.norm(h)))


def chain(function, depth=3):
    layers = [nn.Linear(20, 50)]
    for _ in range(depth):
        layers += [Function(function), nn.Linear(50, 50)]
    return nn.Sequential(*layers)


NETWORKS = {
    "relu": chain(torch.relu),
    "deep": chain(torch.relu, 30),
    "leaky": chain(lambda x: nn.functional.leaky_relu(x, 0.3)),
    "abs": chain(torch.abs),
    "scaled": chain(lambda x: 3 * torch.relu(-2 * x) + 1),
    "lowered": chain(lambda x: torch.relu(x) - 1),  # covariances that may be negative again
    "erf": chain(torch.erf),
    "sigmoid-like": chain(lambda x: 0.5 * torch.erf(x / 2.4) + 0.5),
    "linear": nn.Sequential(nn.Linear(20, 50), nn.Linear(50, 3)),
    "prelu": nn.Sequential(nn.Linear(20, 50), nn.PReLU(), nn.Linear(50, 50), nn.PReLU(), nn.Linear(50, 1)),
    "layernorm": nn.Sequential(nn.Linear(20, 50), nn.LayerNorm(50), nn.ReLU(), nn.Linear(50, 1)),
    "dropout": nn.Sequential(
        nn.Linear(20, 50), nn.ReLU(), nn.Dropout(0.3), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 1)
    ),
    "residual": Residual(nn.ReLU()),
    "residual leaky": Residual(nn.LeakyReLU(0.2)),
}


def points(n=37):
    torch.manual_seed(1)
    return torch.randn(n, 20, dtype=torch.float64) * torch.rand(n, 1).add(0.3)


@pytest.mark.parametrize("law", in_full(LAWS, except_for=["ntk"]))
@pytest.mark.parametrize("name", NETWORKS)
def test_agrees_with_the_reference(monkeypatch, name, law):
    init, parametrization = LAWS[law]
    for y in (None, points(9).flip(1)):
        fast, slow = both(monkeypatch, NETWORKS[name], points(), y, init=init, parametrization=parametrization)
        assert distance(fast.nngp, slow.nngp) < 1e-10 and distance(fast.ntk, slow.ntk) < 1e-10
        single, _ = both(
            monkeypatch, NETWORKS[name], points(), y, init=init, parametrization=parametrization, dtype=torch.float32
        )
        assert single.ntk.dtype is torch.float32
        assert distance(single.nngp, slow.nngp) < 2e-5 and distance(single.ntk, slow.ntk) < 2e-5


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_float32_keeps_its_accuracy_next_to_coinciding_points(monkeypatch, gap):
    x = points(8).float().double()
    y = (x + gap * torch.randn(8, 20)).float().double()
    for depth in (1, 5, 20):
        fast, slow = both(monkeypatch, chain(torch.relu, depth), x, y, dtype=torch.float32)
        assert (fast.ntk.double() / slow.ntk - 1).abs().max() < 2e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["relu", "erf", "residual", "abs"])
def test_diagonal_and_duplicates_are_exact(name, dtype):
    x = points(700)
    x[650] = x[3]
    k = gnomon.limit(NETWORKS[name], dtype=dtype)(x)
    alone = gnomon.limit(NETWORKS[name], dtype=dtype)(x[:4])
    for kernel, small in ((k.nngp, alone.nngp), (k.ntk, alone.ntk)):
        assert torch.equal(kernel, kernel.T)
        assert kernel[650, 650] == kernel[3, 650] == kernel[3, 3] == small[3, 3]


def test_one_kernel_alone_is_the_same_kernel():
    x, lim = points(600), gnomon.limit(NETWORKS["relu"])
    k = lim(x)
    assert torch.equal(lim.ntk(x), k.ntk) and torch.equal(lim.nngp(x), k.nngp)


def test_variances_beyond_float32_are_computed_in_float64(monkeypatch):
    x = points(5) * 1e-18
    fast, slow = both(
        monkeypatch, NETWORKS["relu"], x, init=InitializationLaw(1.0, 0.0), parametrization="ntk", dtype=torch.float32
    )
    assert distance(fast.ntk, slow.ntk) < 1e-6


def test_points_without_variance(monkeypatch):
    x = points(5)
    x[2] = 0
    fast, slow = both(monkeypatch, NETWORKS["relu"], x, init=InitializationLaw(1.0, 0.0))
    assert distance(fast.ntk, slow.ntk) < 1e-12 and distance(fast.nngp, slow.nngp) < 1e-12
    both(monkeypatch, NETWORKS["leaky"], x, init=InitializationLaw(1.0, 0.0), covered=False)
