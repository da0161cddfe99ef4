"""Along an ODE's path, the log density of a flow changes by minus the integral of the Jacobian's trace.

    d log p(z(t)) / dt = -tr(dv/dz),    for v = A z over time 1:    log p = log N(e^-A x; 0, I) - tr A     (1)

v is the velocity field and z(t) the path. For v = A z and a start from N(0, I) the density at x has a closed form.
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import ContinuousFlow
from gnomon.generative.divergence import ExactTrace
from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed):
    """Returns a random matrix A and four random points."""
    generator = torch.Generator().manual_seed(seed)
    a, x = (torch.randn(n, d, generator=generator, dtype=torch.float64) for n in (d, 4))
    return a / d**0.5, x


def predicted(d, seed):
    """Returns the log density of the Gaussian with covariance e^A (e^A)^T at the points."""
    matrix, x = problem(d, seed)
    root = torch.linalg.matrix_exp(matrix)
    return torch.distributions.MultivariateNormal(torch.zeros(d).double(), root @ root.T).log_prob(x)


class Linear(nn.Module):
    """The velocity field v = A z."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix)

    def forward(self, x, t):
        """Returns the velocity A x at the points x."""
        return x @ self.matrix.T


class Partial(ExactTrace):
    """A trace estimate that leaves out the first term of the trace."""

    def directions(self, x):
        """Returns all coordinate directions except the first one."""
        return super().directions(x)[1:]


def density(d, steps, seed, trace):
    """Returns the flow's log density at the points, integrated by the Runge-Kutta method."""
    matrix, x = problem(d, seed)
    return ContinuousFlow(Linear(matrix), shape=(d,), integration_steps=steps, trace=trace).log_prob(x).detach()


observed = partial(density, trace=ExactTrace())  # The whole trace.
control = partial(density, trace=Partial())  # Control: the trace of the Jacobian leaves out its first term.

CLAIM = Claim(
    id="continuous-normalising-flow",
    question="How does a density change along an ordinary differential equation?",
    equation=r"\frac{d\log p(z(t))}{dt} = -\mathrm{Tr}\,\frac{\partial f}{\partial z}",
    axes=("point", "log density"),
    source=Source("theorem", "chen2018neural", "Theorem 1"),
    premises=(Premise("the whole trace is integrated"), Premise("the field is Lipschitz")),
    parameters={"d": 3, "steps": 40},
    full={"d": 20, "steps": 200},
    judge=equals(within=1e-4, because="40 steps of a method of fourth order"),
    remark="It is the total derivative d/dt along the path; some notes print the partial derivative, which differs.",
)
