"""The ELU has slope 1 to the right of zero and alpha to the left, so it is smooth exactly for alpha = 1.

elu(x) = x for x >= 0 and alpha (e^x - 1) for x < 0, so

    elu(h) / h = 1,    -elu(-h) / h = alpha (1 - h / 2 + ...)                                            (1)

Reference: [clevert2016fast].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals

STEP_SIZE = 1e-6


def predicted(alphas):
    """Returns the slopes of the ELU to the right and to the left of zero, for each alpha."""
    return [[1.0, alpha] for alpha in alphas]


def slopes(alphas, place):
    """Returns difference quotients of the ELU to the right and to the left of ``place``, for each alpha."""
    at = torch.tensor([place, place + STEP_SIZE, place - STEP_SIZE], dtype=torch.float64)
    values = [torch.nn.ELU(alpha)(at).tolist() for alpha in alphas]
    return [[(right - here) / STEP_SIZE, (here - left) / STEP_SIZE] for here, right, left in values]


observed = partial(slopes, place=0.0)  # At zero.
control = partial(slopes, place=-1.0)  # Control: the slopes at -1; both one-sided slopes are alpha / e.

CLAIM = Claim(
    id="activation-elu",
    question="Is the ELU activation smooth at zero?",
    equation=r"\mathrm{elu}'(0^+) = 1, \quad \mathrm{elu}'(0^-) = \alpha",
    axes=("alpha (right, then left slope for each)", "slope at zero"),
    source=Source("theorem", "clevert2016fast"),
    premises=(
        Premise("slopes are taken at zero"),
        Premise(
            "half the step times alpha stays below the rounding allowed", lambda alphas: STEP_SIZE * max(alphas) <= 4e-6
        ),
    ),
    parameters={"alphas": (0.5, 1.0, 2.0)},
    judge=equals(
        within=2e-6, because="half the step times the second derivative alpha <= 2, and rounding over the step"
    ),
)
