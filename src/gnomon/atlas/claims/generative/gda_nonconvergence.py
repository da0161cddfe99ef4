"""Simultaneous gradient descent and ascent on the loss a b moves away from the solution at a known rate.

    |w_t| = (1 + lr^2)^(t/2) |w_0|     (1)

w = (a, b) are the players of the loss a b, lr is the learning rate.
"""

from functools import partial

import torch

from gnomon.generative.game import SimultaneousUpdate, simulate_game
from gnomon.lab import Claim, Premise, Source, equals


def predicted(lr, steps):
    """Returns the distance of both players from the solution after each step."""
    return (1 + lr**2) ** (torch.arange(steps + 1, dtype=torch.float64) / 2)


def distances(lr, steps, pull):
    """Returns distances from the solution after simultaneous steps; ``pull`` adds (a^2 - b^2) / 2 to the loss."""

    def field(w):
        return torch.stack([w[1] + pull * w[0], -w[0] + pull * w[1]])

    start = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return simulate_game(field, start, steps=steps, lr=lr, rule=SimultaneousUpdate()).norm(dim=1)


observed = partial(distances, pull=0.0)  # The game's loss is a b, without any other term.
control = partial(distances, pull=0.3)  # Control: the loss is convex in a and concave in b, so the players converge.

CLAIM = Claim(
    id="gda-nonconvergence",
    question="Why do simultaneous gradient steps not converge in a game?",
    equation=r"\|w_t\| = (1 + \eta^2)^{t/2}\|w_0\|",
    axes=("step t", "distance to the solution"),
    source=Source("theorem", "gidel2019variational", "Proposition 1"),
    premises=(Premise("the loss is a b, with nothing added"),),
    parameters={"lr": 0.2, "steps": 200},
    full={"steps": 2000},
    judge=equals(rounding=5000),  # tolerance 5000 x machine precision: each of up to 2000 steps rounds once
)
