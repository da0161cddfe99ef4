"""A Hopfield network keeps its patterns at a load of 0.1 per unit and loses them at 0.25; the limit is 0.138.

    overlap at rest:  above 0.95 at n / d = 0.1,   below 0.6 at n / d = 0.25                                  (1)

The load is n / d: patterns n per unit d. The overlap is the mean agreement with the stored pattern, 1 if all bits
agree. Some texts print the limit as d / n = 0.138. Reference: [amit1985storing].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Overlap of at least 0.95 at load 0.1; loss of at least 0.4 at load 0.25."""
    return np.array([0.95, 0.4])


def overlap(load, units, rng):
    """Mean overlap with the stored patterns after 15 synchronous updates."""
    x = rng.choice([-1.0, 1.0], size=(round(load * units), units))
    w = x.T @ x / units
    np.fill_diagonal(w, 0.0)
    s = x.copy()
    for _ in range(15):
        s = np.where(s @ w >= 0, 1.0, -1.0)
    return float((s * x).mean())


def kept_and_lost(loads, units, seed):
    """Overlap at the first load, and lost overlap at the second."""
    rng = np.random.default_rng(seed)
    return np.array([overlap(loads[0], units, rng), 1 - overlap(loads[1], units, rng)])


observed = partial(kept_and_lost, loads=(0.1, 0.25))  # Loads on both sides of the limit.
control = partial(kept_and_lost, loads=(0.3, 0.05))  # Loads according to the inverted reading, units over patterns.

CLAIM = Claim(
    id="hopfield-capacity-0138",
    question="How many patterns can a Hopfield network remember?",
    equation=r"n_c / d \approx 0.138",
    axes=("load 0.1, then load 0.25", "overlap kept; overlap lost"),
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("the load is the number of patterns divided by the number of units"),),
    parameters={"units": 400},
    full={"units": 2000},
    judge=bounded_by("below"),
)
