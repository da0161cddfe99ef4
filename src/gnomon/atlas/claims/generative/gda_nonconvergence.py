"""Simultaneous descent and ascent on a b spirals outward at a known rate; alternating steps stay on a cycle.

|w_t| = (1 + lr^2)^(t/2) |w_0|     (1)
"""

from functools import partial

import torch

from gnomon.generative.game import Simultaneous, game_path
from gnomon.lab import Claim, Premise, Source, equals


def predicted(lr, steps):
    """Distances from the solution; equation (1)."""
    return (1 + lr**2) ** (torch.arange(steps + 1, dtype=torch.float64) / 2)


def distances(lr, steps, pull):
    """Of simultaneous steps, with the term pull (a^2 - b^2) / 2 added to the loss."""

    def field(w):
        return torch.stack([w[1] + pull * w[0], -w[0] + pull * w[1]])

    start = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return game_path(field, start, steps=steps, lr=lr, rule=Simultaneous()).norm(dim=1)


observed = partial(distances, pull=0.0)  # The bare game.
control = partial(distances, pull=0.3)  # With a little convexity for both players.

CLAIM = Claim(
    id="gda-nonconvergence",
    title="Simultaneous descent and ascent on a bilinear game spirals outward at a known rate",
    equation=r"\|w_t\| = (1 + \eta^2)^{t/2}\|w_0\|",
    source=Source("theorem", "gidel2019variational", "Proposition 1"),
    premises=(Premise("the loss is a b, and nothing is added to it"),),
    parameters={"lr": 0.2, "steps": 200},
    full={"steps": 2000},
    judge=equals(rounding=5000),  # one rounding in each step
)
