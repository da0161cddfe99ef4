"""The soft hinge loss exceeds the hinge loss by at most ln 2 / beta, with sharpness beta; most at margin one.

sp(x) = ln(1 + e^{beta x}) / beta satisfies sp(x) - max(0, x) = ln(1 + e^{-beta |x|}) / beta, which is largest at x = 0:

    max_u |sp(1 - u) - max(0, 1 - u)| = ln 2 / beta   at u = 1                                           (1)

u is the margin and beta the sharpness. Reference: [geiger2020disentangling], for the loss.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def predicted(sharpness):
    """Returns the largest gap between soft and ordinary hinge loss, and its margin, for each sharpness."""
    return [[np.log(2) / beta, 1.0] for beta in sharpness]


def gaps(sharpness, points, factor):
    """Returns the largest gap between both losses on a grid of margins, and its margin, for each sharpness."""
    u = torch.linspace(-4, 6, 2 * points + 1, dtype=torch.float64)
    found = []
    for beta in sharpness:
        gap = (factor(beta) * functional.softplus(1 - u, beta, threshold=100) - (1 - u).clamp_min(0)).abs()
        found.append([float(gap.max()), float(u[gap.argmax()])])
    return found


observed = partial(gaps, factor=lambda beta: 1.0)  # The test uses torch's softplus, which divides by beta itself.
control = partial(gaps, factor=lambda beta: beta)  # Without the division.

CLAIM = Claim(
    id="loss-soft-hinge",
    question="How far is the soft hinge loss from the hinge loss?",
    equation=r"\max_u |\mathrm{sp}_\beta(1-u) - \max(0, 1-u)| = \ln 2 / \beta",
    axes=("sharpness beta (gap, then margin of the gap)", "largest gap; margin"),
    source=Source("derived", "geiger2020disentangling"),
    premises=(Premise("the softplus is divided by its sharpness"),),
    parameters={"sharpness": (1.5, 5.0, 20.0), "points": 1000},
    full={"points": 1_000_000},
    judge=equals(rounding=100),
)
