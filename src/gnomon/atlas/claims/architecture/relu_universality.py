"""m ReLU units approximate a smooth function f of one variable with an error of at most max |f''| / (8 m^2).

    sup |f - f_m| <= |f''| h^2 / 8,     h = 1 / m the distance of the knots                                   (1)

f'' is the second derivative (its largest absolute value) and f_m the network that interpolates f at m + 1 knots. The
bound is nearly reached: around the knot with the largest |f''|, the second derivative is at least |f''| - |f^(4)| h^2 /
2, so the error is at least that share of the bound. Reference: [devore1993constructive], Chapter 7.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by

MIN_SHARE_OF_BOUND = 1 - 7**4 / (2 * 64**2 * 43)
"""The share of the bound that 64 units must reach: |f^(4)| <= 7^4, the largest |f''| >= 43, h = 1/64."""


def predicted(widths):
    """Returns the error bound for the function sin 7x + x^3 with second derivative 6x - 49 sin 7x, per width."""
    x = np.linspace(0, 1, 1_000_001)
    return np.abs(6 * x - 49 * np.sin(7 * x)).max() / (8 * np.array(widths, float) ** 2)


def errors(function, widths):
    """Returns the largest error of the ReLU network that interpolates the function at m + 1 points, for each m."""
    x = np.linspace(0, 1, 20_011)
    found = []
    for m in widths:
        knots = np.linspace(0, 1, m + 1)
        slopes = np.diff(function(knots)) * m
        units = torch.relu(torch.from_numpy(x[:, None] - knots[:-1]))
        changes = torch.from_numpy(np.r_[slopes[0], np.diff(slopes)])
        found.append(np.abs(function(knots[0]) + (units @ changes).numpy() - function(x)).max())
    return np.array(found)


observed = partial(errors, function=lambda x: np.sin(7 * x) + x**3)  # A smooth function.
control = partial(errors, function=np.sqrt)  # Control: a square root, whose second derivative is unbounded at 0.

CLAIM = Claim(
    id="relu-universality",
    question="How well does a single hidden ReLU layer approximate a smooth function?",
    equation=r"\sup |f - f_m| \le \|f''\| h^2 / 8",
    axes=("width m", "largest error", "widths"),
    source=Source("theorem", "devore1993constructive", "Chapter 7"),
    premises=(Premise("the function has a bounded second derivative"),),
    parameters={"widths": (8, 16, 32, 64)},
    full={"widths": (8, 16, 32, 64, 128, 256)},
    grid={"widths": ((8, 16, 32, 64), (12, 24, 48, 96), (16, 32, 64, 128), (24, 48, 96, 192), (32, 64, 128, 256))},
    judge=bounded_by("above", rounding=1e4, tight=MIN_SHARE_OF_BOUND),
)
