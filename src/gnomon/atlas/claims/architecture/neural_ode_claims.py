"""Paths of an ODE do not cross: on a line its flow keeps the order of points, and cannot exchange them.

    mean (f(x) + x)^2 >= var(x)   for every increasing f;    one further dimension is enough to do better     (1)

The best increasing answer to a decreasing target is a constant.
Reference: [dupont2019augmented], [chen2018neural].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models.ode import runge_kutta


def inputs(points):
    """Even points."""
    return torch.linspace(-1, 1, points).double()


def predicted(points):
    """Equation (1)."""
    return float(inputs(points).numpy().var())


def trained(dimensions, points, steps, seeds, seed):
    """Errors of neural ODEs that were asked for -x; further coordinates of the state start at zero."""
    found = []
    for i in range(seeds):
        torch.manual_seed(seed + i)
        field = nn.Sequential(nn.Linear(dimensions, 16), nn.Tanh(), nn.Linear(16, dimensions)).double()
        x = inputs(points)
        state = torch.cat([x[:, None], torch.zeros(points, dimensions - 1).double()], 1)
        optimizer = torch.optim.Adam(field.parameters(), lr=0.05)
        for _ in range(steps):
            out = runge_kutta(lambda t, h, f=field: f(h), state, steps=6)
            loss = (out[:, 0] + x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append(loss.item())
    return np.array(found)


observed = partial(trained, dimensions=1)  # On a line.
control = partial(trained, dimensions=2)  # In a plane.

CLAIM = Claim(
    id="neural-ode-claims",
    title="A neural ODE on a line cannot turn x into -x, one in a plane can",
    equation=r"\overline{(f(x) + x)^2} \ge \mathrm{var}(x)",
    source=Source("theorem", "dupont2019augmented"),
    premises=(Premise("the state is a number"),),
    parameters={"points": 9, "steps": 60, "seeds": 2},
    full={"points": 21, "steps": 300, "seeds": 5},
    judge=bounded_by("below"),
    remark="That gradients by the adjoint need no memory of the way is a test of gnomon.models.NeuralODE.",
)
