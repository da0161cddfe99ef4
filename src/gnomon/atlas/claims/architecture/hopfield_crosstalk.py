"""The other patterns act on a bit as Gaussian noise of variance (n - 1) / d, so that it flips with known probability.

    P(flip) = (1 - erf(sqrt(d / (2 (n - 1))))) / 2                                                            (1)

Reference: [amit1985storing].
"""

from functools import partial
from math import erf, sqrt

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(units, loads):
    """Equation (1)."""
    return np.array([(1 - erf(sqrt(units / (2 * (round(a * units) - 1))))) / 2 for a in loads])


def flips(common, units, loads, repeats, seed):
    """Shares of bits that one step turns; ``common`` of the bits are the same in all patterns."""
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
control = partial(flips, common=0.3)  # Patterns with a part in common.

CLAIM = Claim(
    id="hopfield-crosstalk",
    title="A bit of a stored pattern flips with the probability of a Gaussian tail",
    equation=r"P = \frac12\left(1 - \mathrm{erf}\sqrt{d / 2(n-1)}\right)",
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("patterns are independent"),),
    parameters={"units": 300, "loads": (0.16, 0.2, 0.3), "repeats": 10},
    full={"units": 1000, "loads": (0.1, 0.13, 0.16, 0.2), "repeats": 20},
    judge=mean_equals(resolution=0.2, within=0.04, because="corrections of order 1 / d to the Gaussian law"),
)
