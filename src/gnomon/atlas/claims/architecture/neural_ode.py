"""A residual network with L blocks of step 1 / L approximates an ODE's solution with an error of order 1 / L.

    h' = h + f(h) / L,  L times   ->   h(1) of dh/dt = f(h),    error of order L^-1                           (1)

h is the state, f the block, and h(1) the solution of the ODE at time 1. Reference: [chen2018neural].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.models.ode import runge_kutta


def net(width, seed):
    """Returns a random block: a linear layer and tanh."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh()).double()


def predicted():
    """Returns -1, the exponent of the number of blocks L in the distance to the ODE's solution."""
    return -1.0


def errors(power, width, seed):
    """Returns the distances between the residual network's output and the ODE's solution for 8 to 64 blocks."""
    field, h0 = net(width, seed), torch.randn(width, generator=torch.Generator().manual_seed(seed)).double()
    depths, found = (8, 16, 32, 64), []
    with torch.no_grad():
        exact = runge_kutta(lambda t, h: field(h), h0, steps=40)
        for blocks in depths:
            h = h0
            for _ in range(blocks):
                h = h + field(h) / blocks**power
            found.append(float((h - exact).norm()))
    return np.array(depths, dtype=float), np.array(found)


observed = partial(errors, power=1.0)  # In the test each of the L layers is a step of size 1 / L.
control = partial(errors, power=0.5)  # Control: the steps have size 1 / sqrt(L), too large to converge to the solution.

CLAIM = Claim(
    id="neural-ode",
    question="In which sense is a deep residual network an ordinary differential equation?",
    equation=r"\|h_L - h(1)\| = O(L^{-1})",
    axes=("number of blocks L", "distance to the ODE's solution at time 1"),
    source=Source("theorem", "chen2018neural"),
    premises=(Premise("blocks have the step 1 / L"),),
    parameters={"width": 4},
    judge=rate_is(next_order=-1.0, label="layers"),
)
