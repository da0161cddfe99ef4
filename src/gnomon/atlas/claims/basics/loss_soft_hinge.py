"""The soft hinge lies above the hinge by at most ln 2 / beta, at margin one.

sp(x) = ln(1 + e^{beta x}) / beta satisfies sp(x) - max(0, x) = ln(1 + e^{-beta |x|}) / beta, which is largest at x = 0:

    max_u |sp(1 - u) - max(0, 1 - u)| = ln 2 / beta   at u = 1                                           (1)

Reference: [geiger2020disentangling], for the loss.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def predicted(sharpness):
    """The largest gap and its place for each sharpness, equation (1)."""
    return [[np.log(2) / beta, 1.0] for beta in sharpness]


def gaps(sharpness, points, factor):
    """The largest gap between the two losses on a grid of margins that contains 1, and its place."""
    u = torch.linspace(-4, 6, 2 * points + 1, dtype=torch.float64)
    found = []
    for beta in sharpness:
        gap = (factor(beta) * functional.softplus(1 - u, beta, threshold=100) - (1 - u).clamp_min(0)).abs()
        found.append([float(gap.max()), float(u[gap.argmax()])])
    return found


observed = partial(gaps, factor=lambda beta: 1.0)  # Torch's softplus, which divides by beta.
control = partial(gaps, factor=lambda beta: beta)  # Not divided.

CLAIM = Claim(
    id="loss-soft-hinge",
    title="The soft hinge lies above the hinge by at most ln 2 over its sharpness",
    equation=r"\max_u |\mathrm{sp}_\beta(1-u) - \max(0, 1-u)| = \ln 2 / \beta",
    source=Source("derived", "geiger2020disentangling"),
    premises=(Premise("the softplus is divided by its sharpness"),),
    parameters={"sharpness": (1.5, 5.0, 20.0), "points": 1000},
    full={"points": 1_000_000},
    judge=equals(rounding=100),
)
