"""A wide random network's output is Gaussian; a recursion over the layers gives its covariance (NNGP kernel).

    S_1 = w^2 x.x'/d,    S_(j+1)(x, x') = w^2 E[phi(u) phi(v)],   (u, v) ~ N(0, S_j on x, x')                (1)

w^2 is the weight variance times fan-in, phi the activation, and S_j the covariance in layer j. So a f(x) + b f(x') is
Gaussian with variance a^2 S(x, x) + 2 a b S(x, x') + b^2 S(x', x'), up to order 1/width.
Reference: [lee2018deep]; [matthews2018gaussian].
"""

from functools import partial

import torch
from scipy.stats import norm
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, distributed_as
from gnomon.program import InitializationLaw


def inputs(seed):
    """Returns two Gaussian points in four dimensions."""
    return torch.randn(2, 4, generator=torch.Generator().manual_seed(seed))


def predicted(seed):
    """Returns the predicted distribution of f(x) - f(x') / 2 for a tanh network f with two hidden layers."""
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    a = torch.tensor([1.0, -0.5]).double()
    kernel = limit(net, init=InitializationLaw(1.5), parametrization="ntk").nngp(inputs(seed))
    return norm(0, float(a @ kernel @ a) ** 0.5)


def outputs(nets, width, seed):
    """Returns f(x) - f(x') / 2 of many networks with Gaussian weights."""
    x = inputs(seed)
    h = torch.tanh(1.5 / 2 * x @ torch.randn(nets, 4, width))
    h = torch.tanh(1.5 / width**0.5 * h @ torch.randn(nets, width, width))
    f = 1.5 / width**0.5 * h @ torch.randn(nets, width, 1)
    return f[:, 0, 0] - f[:, 1, 0] / 2


observed = outputs  # Wide layers.
control = partial(outputs, width=1)  # Control: hidden layers of one unit, not many, so outputs are not Gaussian.

CLAIM = Claim(
    id="nngp-recursion",
    question="What is the distribution of a wide random network's output?",
    equation=r"\Sigma_{j+1}(x,x') = w^2 E_{(u,v) \sim N(0, \Sigma_j)}[\phi(u)\phi(v)]",
    axes=("value of f(x) - f(x') / 2", "share of networks below"),
    source=Source("theorem", "lee2018deep", "Section 2"),
    premises=(Premise("all hidden layers are wide", lambda width: width >= 32), Premise("the weights are independent")),
    parameters={"nets": 1000, "width": 64},
    full={"nets": 4000, "width": 128},
    judge=distributed_as(confidence=0.9995),
)
