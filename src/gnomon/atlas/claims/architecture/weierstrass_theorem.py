"""Bernstein polynomials of degree n approximate a function with a corner at rate n^(-1/2).

    sup |B_n f - f| <= (5/4) omega_f(n^(-1/2)),    slope -1/2 for |x - 1/2|                                   (1)

B_n f is the Bernstein polynomial of f, and omega_f its modulus of continuity. They converge uniformly for every
continuous function. Reference: [devore1993constructive].
"""

from functools import partial

import numpy as np
from scipy.stats import binom

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The power of the degree."""
    return -0.5


def errors(function, degrees):
    """The largest error on a grid that contains the corner."""
    x = np.linspace(0, 1, 201)
    found = []
    for n in degrees:
        k = np.arange(n + 1)
        found.append(np.abs(binom.pmf(k, n, x[:, None]) @ function(k / n) - function(x)).max())
    return np.array(degrees, dtype=float), np.array(found)


observed = partial(errors, function=lambda x: np.abs(x - 0.5))  # A corner.
control = partial(errors, function=lambda x: (x - 0.5) ** 2)  # A parabola, which is smooth.

CLAIM = Claim(
    id="weierstrass-theorem",
    question="How fast do polynomials approximate a function with a corner?",
    equation=r"\sup_x |B_n f(x) - f(x)| \sim n^{-1/2}",
    axes=("degree n", "largest error"),
    source=Source("theorem", "devore1993constructive"),
    premises=(Premise("the function has a corner"),),
    parameters={"degrees": (16, 64, 256, 1024)},
    judge=rate_is(next_order=-1.0, label="degree"),
)
