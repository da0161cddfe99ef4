"""A random hidden layer's functions form a Hilbert space, whose kernel is known in closed form.

f(x) = integral p(v, b) relu(v x + b) dtau(v, b) with p in L2(tau) has the norm |f| = inf |p| and the kernel

    k(x, x') = integral relu(v x + b) relu(v x' + b) dtau(v, b)                                              (1)

The smallest p that fits labels y has |p|^2 = y^T K^-1 y and gives the values k(x)^T K^-1 y elsewhere. For Gaussian tau,
k has a closed form; m random features replace the integral. m and m/2 features have errors c/m and 2c/m, so twice the
first minus the second has error O(1/m^2). Reference: [bach2017breaking], Section 2.3; [cho2009kernel].
"""

from functools import partial

import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def inputs(seed):
    """Returns four orthogonal points of norm 1.5, their labels, and two points in between."""
    x = 1.5 * torch.eye(4).double()
    y = (1 + torch.rand(4, generator=torch.Generator().manual_seed(seed)).double()) * torch.tensor([1, -1, 1, -1])
    return x, y, torch.stack((x[0] + 0.3 * x[1], x[2] - 0.5 * x[3]))


def predicted(seed):
    """Returns the smallest norm of a fit and its values at two points, computed by the kernel."""
    x, y, test = inputs(seed)
    net = nn.Sequential(nn.Linear(4, 9), nn.ReLU(), nn.Linear(9, 1))
    laws = {"0": InitializationLaw(2.0, 1.0), "2": InitializationLaw(1.0, 0.0)}
    kernel = limit(net, init=laws, parametrization="ntk").nngp
    weights = torch.linalg.solve(kernel(x), y)
    return torch.cat(((y @ weights)[None], kernel(test, x) @ weights))


def fit_features(features, nets, seed, bias):
    """Returns the norm and two values of the smallest fit of the labels on random features."""
    x, y, test = inputs(seed)
    v, b = torch.randn(nets, 4, features).double(), bias * torch.randn(nets, 1, features).double()
    h, other = (torch.relu(part @ v + b) / features**0.5 for part in (x, test))
    p = torch.linalg.pinv(h) @ y[:, None]
    return torch.cat(((p**2).sum(1), (other @ p)[..., 0]), 1)


def extrapolated(bias, features, nets, seed):
    """Returns norm and values extrapolated to infinitely many features, from two numbers of features."""
    return 2 * fit_features(features, nets, seed, bias) - fit_features(features // 2, nets, seed, bias)


observed = partial(extrapolated, bias=1.0)  # The random features have biases, as the kernel assumes.
control = partial(extrapolated, bias=0.0)  # Control: features without biases have another kernel.

CLAIM = Claim(
    id="rkhs-one-hidden-layer",
    question="Which functions can a random hidden layer represent?",
    equation=r"k(x,x') = \int \rho(v x + b) \rho(v x' + b) d\tau, \quad \|f\| = \inf \|p\|_{L^2(\tau)}",
    axes=("squared norm, then values at two points", "squared norm; output"),
    source=Source("theorem", "bach2017breaking", "Section 2.3"),
    premises=(Premise("features are drawn from tau"), Premise("there are many features")),
    parameters={"features": 400, "nets": 200},
    full={"features": 2000, "nets": 400},
    judge=mean_equals(confidence=0.9995),
    remark="The measure is tau; some notes print dv db instead, for which the integral diverges.",
)
