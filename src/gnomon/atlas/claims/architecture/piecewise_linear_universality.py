"""Straight lines between the values at points h apart come to a smooth function with an error of at most |f''| h^2 / 8.

    sup |f - interpolant| <= max |f''| h^2 / 8                                                                (1)

Reference: [devore1993constructive].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The rate in the number of pieces."""
    return -2.0


def errors(function, pieces):
    """Largest differences on a fine grid."""
    x = np.linspace(0, 1, 20001)
    found = []
    for n in pieces:
        knots = np.linspace(0, 1, n + 1)
        found.append(np.abs(np.interp(x, knots, function(knots)) - function(x)).max())
    return np.array(pieces, dtype=float), np.array(found)


observed = partial(errors, function=lambda x: np.sin(3 * x + 0.2))  # A sine.
control = partial(errors, function=np.sqrt)  # A root.

CLAIM = Claim(
    id="piecewise-linear-universality",
    title="Lines between n points come to a smooth function as 1 / n^2",
    equation=r"\sup |f - I_h f| \le \tfrac18 \|f''\|_\infty h^2",
    source=Source("theorem", "devore1993constructive"),
    premises=(Premise("the function has two derivatives"),),
    parameters={"pieces": (8, 16, 32, 64)},
    judge=rate_is(next_order=-1.0, label="pieces"),
)
