"""A neural ODE whose state is one number cannot learn x -> -x, because its paths cannot cross.

    mean (f(x) + x)^2 >= var(x)   for every increasing f;    one further dimension is enough to do better     (1)

f is the map from start to end, which is increasing on a line. The best increasing answer to a decreasing target is a
constant, with error var(x). Reference: [dupont2019augmented], [chen2018neural].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models.ode import runge_kutta


def inputs(points):
    """Returns evenly spaced points from -1 to 1."""
    return torch.linspace(-1, 1, points).double()


def predicted(points):
    """Returns var(x), the lower bound on the mean squared error of every increasing function."""
    return float(inputs(points).numpy().var())


def train_to_negate(dimensions, points, steps, seeds, seed):
    """Returns the final errors of neural ODEs trained on x -> -x; extra coordinates of the state start at zero."""
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


observed = partial(train_to_negate, dimensions=1)  # The state of the ODE is one number.
control = partial(train_to_negate, dimensions=2)  # Control: the state has two coordinates, so paths can go around.

CLAIM = Claim(
    id="neural-ode-claims",
    question="What can a neural ODE not learn?",
    equation=r"\overline{(f(x) + x)^2} \ge \mathrm{var}(x)",
    axes=("training run", "mean squared error"),
    source=Source("theorem", "dupont2019augmented"),
    premises=(Premise("the state is a single number"),),
    parameters={"points": 9, "steps": 60, "seeds": 2},
    full={"points": 21, "steps": 300, "seeds": 5},
    judge=bounded_by("below"),
    remark="That the adjoint method needs no memory for the path is a test of gnomon.models.NeuralODE.",
)
