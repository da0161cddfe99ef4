"""Tangents of the parameters inside an activation, each alone, against the definition by quadrature."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw
from tests.oracles import quadrature

FUNCTIONS = {
    "erf": (torch.erf, lambda u: 2 / np.sqrt(np.pi) * np.exp(-(u**2))),
    "tanh": (torch.tanh, lambda u: 1 / np.cosh(u) ** 2),
    "line": (lambda u: 3 * u, lambda u: np.full_like(u, 3.0)),
}


class Scaled(nn.Module):
    """b psi(g a x + c): one gain and one bias for all channels, the only parameters that train."""

    def __init__(self, function, gain, bias, trained):
        super().__init__()
        self.a, self.b, self.function = nn.Linear(4, 64, bias=False), nn.Linear(64, 1, bias=False), function
        self.gain, self.bias = nn.Parameter(torch.tensor(gain)), nn.Parameter(torch.tensor(bias))
        for name, p in self.named_parameters():
            p.requires_grad_(name == trained)

    def forward(self, x):
        return self.b(self.function(self.a(x) * self.gain + self.bias))


@pytest.mark.parametrize("trained", ["gain", "bias"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_lone_trained_gain_or_bias_has_the_kernel_of_its_gradient(name, trained):
    """d f / d g = sum_i b_i u_i psi'(g u_i + c), so the kernel is w^2 E[u psi'(g u + c) v psi'(g v + c)]."""
    (function, slope), gain, bias, w = FUNCTIONS[name], 0.7, 0.2, 1.3
    x = torch.randn(3, 4, dtype=torch.float64)
    found = gnomon.limit(Scaled(function, gain, bias, trained), init=InitializationLaw(w, 0.0)).ntk(x)
    gain, bias = (float(torch.tensor(v)) for v in (gain, bias))  # as float32 holds them
    cov = w**2 * (x @ x.T / 4).numpy()

    def factor(u):
        return (u if trained == "gain" else 1.0) * slope(gain * u + bias)

    for i in range(3):
        for j in range(3):
            wanted = w**2 * quadrature.pair(factor, factor, cov[i, i], cov[j, j], cov[i, j])
            assert abs(float(found[i, j]) - wanted) < 1e-8 * w**2 * cov.max()  # the promise of the quadrature


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_lone_gain_before_a_kink_has_the_dual_of_the_kink(slope, reference):
    """u psi'(g u) = psi(u) for positive g: the kernel is w^2 E[psi(u) psi(v)], whatever g is."""
    w, x = 1.3, torch.randn(3, 4, dtype=torch.float64)
    net = Scaled(lambda u: nn.functional.leaky_relu(u, slope) if slope else torch.relu(u), 0.7, 0.0, "gain")
    cov = w**2 * (x @ x.T / 4)
    size = cov.diag().sqrt()
    t = torch.acos((cov / (size[:, None] * size)).clamp(-1, 1))
    folded = size[:, None] * size * (t.sin() + (np.pi - t) * t.cos()) / (2 * np.pi)  # E[relu(u) relu(v)]
    wanted = w**2 * ((1 - slope) ** 2 * folded + slope * cov)  # psi = (1 - s) relu + s x, and E[x relu] = cov / 2
    found = gnomon.limit(net, init=InitializationLaw(w, 0.0)).ntk(x.requires_grad_() if reference else x)
    assert torch.allclose(found, wanted.detach(), rtol=1e-7)  # acos of a rounded one: half of the digits


@pytest.mark.parametrize("function", [lambda u: (u + 1.0) / 4, lambda u: 0.25 * u + 0.25, lambda u: -(-1.0 - u) / 4])
def test_lines_however_they_are_written(function):
    class Line(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 8, bias=False), nn.Linear(8, 1, bias=False)

        def forward(self, x):
            return self.b(function(self.a(x)))

    x = torch.randn(3, 4, dtype=torch.float64)
    found = gnomon.limit(Line(), init=InitializationLaw(1.3, 0.0))(x)
    gram = 1.3**2 * x @ x.T / 4
    assert torch.allclose(found.nngp, 1.3**2 * (gram + 1) / 16, rtol=1e-12)
    assert torch.allclose(found.ntk, 8 * (gram + 1) / 16 + 1.3**2 * (x @ x.T) / 16, rtol=1e-12)
