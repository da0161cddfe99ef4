"""In a Hopfield network with n patterns of d units, a bit of a pattern flips with a Gaussian tail probability.

    P(flip) = (1 - erf(sqrt(d / (2 (n - 1))))) / 2                                                            (1)

d is the number of units and n the number of patterns. The other patterns act on a bit as Gaussian noise of variance (n
- 1) / d. Reference: [amit1985storing].
"""

from functools import partial
from math import erf, sqrt

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(units, loads):
    """Returns the probability that a bit flips, for each number of patterns per unit, n / d."""
    return np.array([(1 - erf(sqrt(units / (2 * (round(a * units) - 1))))) / 2 for a in loads])


def flips(common, units, loads, repeats, seed):
    """Returns the share of bits that one update flips; a share ``common`` of the bits is the same in all patterns."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(repeats):
        row = []
        for load in loads:
            x = rng.choice([-1.0, 1.0], size=(round(load * units), units))
            x[:, rng.uniform(size=units) < common] = 1.0
            w = x.T @ x / units
            np.fill_diagonal(w, 0.0)
            row.append(float((x * (x @ w) < 0).mean()))
        found.append(row)
    return np.array(found)


observed = partial(flips, common=0.0)  # Independent patterns.
control = partial(flips, common=0.3)  # Control: all patterns share part of their bits, so they are correlated.

CLAIM = Claim(
    id="hopfield-crosstalk",
    question="How often does a Hopfield network get a bit of a stored pattern wrong?",
    equation=r"P = \frac12\left(1 - \mathrm{erf}\sqrt{d / 2(n-1)}\right)",
    axes=("patterns per unit n / d", "probability that a bit flips", "loads"),
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("patterns are independent"),),
    parameters={"units": 300, "loads": (0.16, 0.2, 0.3), "repeats": 10},
    full={"units": 1000, "loads": (0.1, 0.13, 0.16, 0.2), "repeats": 20},
    judge=mean_equals(resolution=0.2, within=0.04, because="corrections of order 1 / d to the Gaussian law"),
)
