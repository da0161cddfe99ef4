"""Below 0.138 d stored patterns a network stays near each of them; above, errors spread over the whole pattern.

    overlap at rest:  above 0.95 at n / d = 0.1,   below 0.6 at n / d = 0.25                                  (1)

It is sometimes printed as d / n = 0.138.
Reference: [amit1985storing].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Overlap above 0.95 at 0.1, and loss above 0.4 at 0.25."""
    return np.array([0.95, 0.4])


def overlap(load, units, rng):
    """At rest, from stored patterns, after synchronous steps."""
    x = rng.choice([-1.0, 1.0], size=(round(load * units), units))
    w = x.T @ x / units
    np.fill_diagonal(w, 0.0)
    s = x.copy()
    for _ in range(15):
        s = np.where(s @ w >= 0, 1.0, -1.0)
    return float((s * x).mean())


def measured(loads, units, seed):
    """What is kept at the first load, and lost at the second."""
    rng = np.random.default_rng(seed)
    return np.array([overlap(loads[0], units, rng), 1 - overlap(loads[1], units, rng)])


observed = partial(measured, loads=(0.1, 0.25))  # Loads on both sides.
control = partial(measured, loads=(0.3, 0.05))  # Loads of the other reading: units over patterns.

CLAIM = Claim(
    id="hopfield-capacity-0138",
    title="Stored patterns are kept at a load of 0.1 and lost at 0.25, on the two sides of 0.138",
    equation=r"n_c / d \approx 0.138",
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("the load is patterns over units"),),
    parameters={"units": 400},
    full={"units": 2000},
    judge=bounded_by("below"),
)
