"""Along the path of a differential equation the log density changes by minus the integrated trace.

d log p(z(t)) / dt = -tr(dv/dz),    for v = A z over time 1:    log p = log N(e^-A x; 0, I) - tr A     (1)
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import ContinuousFlow
from gnomon.generative.divergence import Exact
from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed):
    """A matrix and points."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(d, d, generator=generator, dtype=torch.float64) / d**0.5, torch.randn(
        4, d, generator=generator, dtype=torch.float64
    )


def predicted(d, seed):
    """The Gaussian with covariance e^A e^A^T."""
    matrix, x = problem(d, seed)
    root = torch.linalg.matrix_exp(matrix)
    return torch.distributions.MultivariateNormal(torch.zeros(d).double(), root @ root.T).log_prob(x)


class Linear(nn.Module):
    """v = A z."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix)

    def forward(self, x, t):
        """The velocity."""
        return x @ self.matrix.T


class Partial(Exact):
    """The trace without its first term."""

    def directions(self, x):
        """All coordinate directions but the first."""
        return super().directions(x)[1:]


def density(d, steps, seed, trace):
    """By the Runge-Kutta method."""
    matrix, x = problem(d, seed)
    return ContinuousFlow(Linear(matrix), shape=(d,), steps=steps, trace=trace).log_prob(x).detach()


observed = partial(density, trace=Exact())  # The whole trace.
control = partial(density, trace=Partial())  # All but one term.

CLAIM = Claim(
    id="continuous-normalising-flow",
    title="Along the path of a differential equation the log density changes by minus the integrated trace",
    equation=r"\frac{d\log p(z(t))}{dt} = -\mathrm{Tr}\,\frac{\partial f}{\partial z}",
    source=Source("theorem", "chen2018neural", "Theorem 1"),
    premises=(
        Premise("all of the trace is integrated"),
        Premise("a Lipschitz field"),
    ),
    parameters={"d": 3, "steps": 40},
    full={"d": 20, "steps": 200},
    judge=equals(within=1e-4, because="40 steps of a method of fourth order"),
    remark="It is the derivative along the path, d/dt; the partial derivative that some notes print is another.",
)
