"""Hamiltonian dynamics with friction, taken in small steps, is gradient descent with momentum.

    x += step v, v = (1 - step c) v - step grad E(x)   is heavy-ball descent, lr = step^2, momentum 1 - step c  (1)

x is the position, v the velocity, E the energy, c the friction, lr the learning rate.
"""

from functools import partial
from math import exp

import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(seed):
    """Returns the matrix of a random quadratic energy, and a starting point."""
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    return a @ a.T / 4, torch.randn(4, generator=generator, dtype=torch.float64)


def predicted(step, friction, steps, seed):
    """Returns the final point of the damped Hamiltonian dynamics, started at rest."""
    a, x = problem(seed)
    v = torch.zeros_like(x)
    for _ in range(steps):
        v = (1 - step * friction) * v - step * (a @ x)
        x = x + step * v
    return x


def descend(momentum, step, friction, steps, seed):
    """Returns the final point of torch's SGD with momentum and lr = step^2."""
    a, x = problem(seed)
    x = x.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=step**2, momentum=momentum(step, friction))
    for _ in range(steps):
        optimizer.zero_grad()
        (x @ a @ x / 2).backward()
        optimizer.step()
    return x.detach()


observed = partial(descend, momentum=lambda step, friction: 1 - step * friction)  # Momentum is 1 - step * friction.
control = partial(descend, momentum=lambda _, friction: exp(-friction))  # Control: momentum exp(-friction), step time 1

CLAIM = Claim(
    id="hmc-momentum-sgd-link",
    question="How is SGD with momentum related to Hamiltonian dynamics?",
    equation=r"\beta = 1 - \eta\gamma, \quad \text{lr} = \eta^2",
    axes=("coordinate of the final point", "position"),
    source=Source("derived"),
    premises=(
        Premise("the momentum of descent is 1 - step * friction"),
        Premise("the steps are stable", lambda step: step < 0.3),
    ),
    parameters={"step": 0.1, "friction": 2.0, "steps": 50},
    judge=equals(rounding=1000),  # tolerance 1000 x machine precision: fifty steps with a few rounding errors each
)
