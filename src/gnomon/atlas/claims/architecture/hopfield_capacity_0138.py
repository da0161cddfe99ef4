"""A Hopfield network keeps its patterns at a load of 0.12 per unit and loses them at 0.16; the limit is 0.138.

    overlap at rest:  above 0.95 at n / d = 0.12,  below 0.6 at n / d = 0.16                                  (1)

The load is n / d: patterns n per unit d. The overlap is the mean agreement with the stored pattern, 1 if all bits
agree. Some texts print the limit as d / n = 0.138. Reference: [amit1985storing].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns lower bounds: overlap 0.95 at load 0.12, and lost overlap 0.4 at load 0.16."""
    return np.array([0.95, 0.4])


def overlap(load, units, rng):
    """Returns the mean overlap of 40 stored patterns with their states after 60 synchronous updates."""
    x = rng.choice(np.array([-1, 1], np.float32), size=(round(load * units), units))
    s = x[:40]
    for _ in range(60):
        s = np.where((s @ x.T) @ x >= len(x) * s, np.float32(1), np.float32(-1))
    return float((s * x[:40]).mean())


def kept_and_lost(loads, units, seed):
    """Returns the overlap at the first load, and one minus the overlap at the second load."""
    rng = np.random.default_rng(seed)
    return np.array([overlap(loads[0], units, rng), 1 - overlap(loads[1], units, rng)])


observed = partial(kept_and_lost, loads=(0.12, 0.16))  # A load below the limit 0.138, and one above it.
control = partial(kept_and_lost, loads=(0.3, 0.05))  # Loads that fit the inverted reading d / n = 0.138.

CLAIM = Claim(
    id="hopfield-capacity-0138",
    question="How many patterns can a Hopfield network remember?",
    equation=r"n_c / d \approx 0.138",
    axes=("load 0.12, then load 0.16", "overlap kept; overlap lost"),
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("the load is the number of patterns divided by the number of units"),),
    parameters={"units": 3000},
    full={"units": 10000},
    judge=bounded_by("below"),
)
