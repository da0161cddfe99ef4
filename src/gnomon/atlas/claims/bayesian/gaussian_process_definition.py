"""The outputs of a wide random network at two inputs have the covariance given by its infinite-width kernel.

    cov(f(x_i), f(x_j)) = k(x_i, x_j)     (1)

f is the function and k the kernel; any finite set of values of a Gaussian process has this covariance.
"""

import torch
from torch import nn

from gnomon import kernels
from gnomon.data import sphere_points
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def network(width):
    """Returns a ReLU network with one hidden layer."""
    return nn.Sequential(nn.Linear(3, width, bias=False), nn.ReLU(), nn.Linear(width, 1, bias=False))


def inputs(seed):
    """Returns two points of a sphere at an angle of 60 degrees, so that the covariance is far from zero."""
    a, b = sphere_points(2, 3, seed=seed)
    b = b - a * (a @ b) / (a @ a)
    return torch.stack([a, a / 2 + 3**0.5 / 2 * b * a.norm() / b.norm()])


def predicted(seed):
    """Returns the kernel of the infinitely wide network at the two points, in closed form."""
    return kernels.limit(network(8), init=InitializationLaw(2**0.5, 0.0)).nngp(inputs(seed)).flatten()


def outputs(width, networks, seed):
    """Returns the outputs of random networks at the two points, computed without gnomon."""
    generator = torch.Generator().manual_seed(seed)
    x = inputs(seed)
    first = torch.randn(networks, 3, width, generator=generator, dtype=torch.float64) * (2 / 3) ** 0.5
    last = torch.randn(networks, width, 1, generator=generator, dtype=torch.float64) * (2 / width) ** 0.5
    return ((x @ first).relu() @ last)[..., 0]


def observed(width, networks, seed):
    """Returns the product of the outputs at both inputs, for each random network."""
    f = outputs(width, networks, seed)
    return (f[:, :, None] * f[:, None, :]).flatten(1)


def control(width, networks, seed):
    """Returns the product of outputs at both inputs that come from two different random networks."""
    f = outputs(width, networks, seed)
    f = torch.stack([f[:, 0], f[:, 1].roll(1)], 1)
    return (f[:, :, None] * f[:, None, :]).flatten(1)


CLAIM = Claim(
    id="gaussian-process-definition",
    question="In which sense is a wide random network a Gaussian process?",
    equation=r"\mathrm{cov}(f(x_i), f(x_j)) = k(x_i, x_j)",
    axes=("pair of inputs", "covariance of the outputs"),
    source=Source("theorem", "neal1996bayesian"),
    premises=(
        Premise("outputs at two points come from one network"),
        Premise("the network is wide", lambda width: width >= 50),
    ),
    parameters={"width": 100, "networks": 2000},
    full={"width": 400, "networks": 20_000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
)
