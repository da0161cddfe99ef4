"""Linear interpolation at n points approximates a smooth function with an error that falls as 1 / n^2.

    sup |f - interpolant| <= max |f''| h^2 / 8                                                                (1)

h is the distance of the points, and f'' the second derivative of f. Reference: [devore1993constructive].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -2, the exponent of the number of points in the interpolation error."""
    return -2.0


def errors(function, pieces):
    """Returns the largest interpolation error on a fine grid, for each number of linear pieces."""
    x = np.linspace(0, 1, 20001)
    found = []
    for n in pieces:
        knots = np.linspace(0, 1, n + 1)
        found.append(np.abs(np.interp(x, knots, function(knots)) - function(x)).max())
    return np.array(pieces, dtype=float), np.array(found)


observed = partial(errors, function=lambda x: np.sin(3 * x + 0.2))  # A sine.
control = partial(errors, function=np.sqrt)  # Control: a square root, whose second derivative is unbounded at 0.

CLAIM = Claim(
    id="piecewise-linear-universality",
    question="How fast do straight lines between points approximate a smooth function?",
    equation=r"\sup |f - I_h f| \le \tfrac18 \|f''\|_\infty h^2",
    axes=("number of pieces n", "largest error"),
    source=Source("theorem", "devore1993constructive"),
    premises=(Premise("the function has two bounded derivatives"),),
    parameters={"pieces": (8, 16, 32, 64)},
    judge=rate_is(next_order=-1.0, label="pieces"),
)
