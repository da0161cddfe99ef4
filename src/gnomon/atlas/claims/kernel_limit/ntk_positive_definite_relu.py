"""A wide ReLU network's training error decays exponentially, at the smallest eigenvalue of its tangent kernel.

For points no two of which are parallel, the smallest eigenvalue l of the kernel matrix is positive, and at late times

    |f(t) - y| ~ exp(-l t)                                                                                   (1)

under gradient flow on |f - y|^2 / 2. Reference: [arora2019fine], Theorem 4.1; [jacot2018neural], Proposition 2.
"""

import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def inputs(n, seed):
    """Returns n orthogonal points in eight dimensions, of different norms, and their labels."""
    g = torch.Generator().manual_seed(seed)
    x = 8**0.5 * torch.linalg.qr(torch.randn(8, n, generator=g).double())[0].T
    return x * torch.linspace(1, 0.35, n).double()[:, None], torch.randn(n, generator=g).double()


def predicted(n, seed):
    """Returns the smallest eigenvalue of the limiting tangent kernel."""
    net = nn.Sequential(nn.Linear(8, 9, bias=False), nn.ReLU(), nn.Linear(9, 1, bias=False))
    kernel = limit(net, init=InitializationLaw(1.0), parametrization="ntk").ntk(inputs(n, seed)[0])
    return torch.linalg.eigvalsh(kernel)[0]


def rate(x, y, nets, width, steps):
    """Returns the late decay rate of each network's training error per unit of time."""
    x = x / 8**0.5
    w, v = torch.randn(nets, width, 8).double(), torch.randn(nets, width).double()
    start, residuals = torch.relu(x @ w.mT) @ v[..., None], []
    lr = 1 / float((x**2).sum())  # 1 / (trace of the limiting kernel); this trace is sum |x|^2
    for _ in range(2 * steps + 1):
        u = x @ w.mT
        h = torch.relu(u)
        r = y[:, None] - (h @ v[..., None] - start) / width**0.5
        residuals.append(r[..., 0].norm(dim=1))
        r = r * lr / width**0.5
        w, v = w + (r * (u > 0) * v[:, None]).mT @ x, v + (h.mT @ r)[..., 0]
    return (1 - (residuals[-1] / residuals[steps]) ** (1 / steps)) / lr


def observed(n, nets, width, steps, seed):
    """Returns the decay rates for points of which no two are parallel."""
    return rate(*inputs(n, seed), nets, width, steps)


def control(n, nets, width, steps, seed):
    """Returns the decay rates if one point is twice another with the opposite label, which cannot be fitted."""
    x, y = inputs(n, seed)
    x[1], y[1] = 2 * x[0], -y[0]
    return rate(x, y, nets, width, steps)


CLAIM = Claim(
    id="ntk-positive-definite-relu",
    question="How fast does a wide ReLU network converge?",
    equation=r"|f(t) - y| \sim e^{-\lambda_{min} t}, \quad \lambda_{min} > 0",
    axes=("network", "rate of decay of the residual"),
    source=Source("theorem", "arora2019fine", "Theorem 4.1"),
    premises=(Premise("no two points are parallel"), Premise("the network is wide", lambda width: width >= 256)),
    parameters={"n": 3, "nets": 16, "width": 512, "steps": 100},
    full={"n": 3, "nets": 60, "width": 2048, "steps": 200},
    judge=mean_equals(confidence=0.9995, within=0.05, because="the error of each kernel is width^-1/2 = 0.04"),
)
