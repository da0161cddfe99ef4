"""Whole patterns, with every bit right, are kept by a Hopfield network up to d / (2 ln d) of them.

    P(a pattern is not at rest) <= d P(S > d - 1),  S a sum of (n - 1)(d - 1) signs;  ~ 1 / sqrt(4 pi ln d)   (1)

at n = d / (2 ln d). Printed with a logarithm to the base 2 the number is smaller, and safe as well.
Reference: [mceliece1987capacity].
"""

from math import log

import numpy as np
from scipy.stats import binom

from gnomon.lab import Claim, Premise, Source, at_most


def predicted(units):
    """Equation (1): the union bound with the exact tail of one bit; ties are kept."""
    n = int(units / (2 * log(units)))
    signs = (n - 1) * (units - 1)
    return units * float(binom.sf((signs + units - 1) // 2, signs, 0.5))


def moved(patterns, units, repeats, seed):
    """Shares of patterns that one step changes."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(repeats):
        x = rng.choice([-1.0, 1.0], size=(patterns, units))
        w = x.T @ x
        np.fill_diagonal(w, 0.0)
        found.append(float((x * (x @ w) < 0).any(1).mean()))
    return np.array(found)


def observed(units, repeats, seed):
    """As many patterns as are said to be kept."""
    return moved(int(units / (2 * log(units))), units, repeats, seed)


def control(units, repeats, seed):
    """Twice as many."""
    return moved(int(units / log(units)), units, repeats, seed)


CLAIM = Claim(
    id="hopfield-sublinear-capacity",
    title="A Hopfield network keeps d / (2 ln d) patterns without a single wrong bit",
    equation=r"P(\text{moved}) \le d\, P(S_{(n-1)(d-1)} > d - 1) \sim 1 / \sqrt{4 \pi \ln d}",
    source=Source("theorem", "mceliece1987capacity"),
    premises=(Premise("there are at most d / (2 ln d) patterns"),),
    parameters={"units": 256, "repeats": 1000},
    full={"units": 1024, "repeats": 1000},
    judge=at_most(resolution=0.15),
)
