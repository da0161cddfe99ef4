"""A Hopfield network recalls its patterns at 0.12 patterns per unit and loses them at 0.16; the limit is 0.138.

    mean overlap at rest:  above 0.967 at n / d = 0.12,  below 0.967 at n / d = 0.16                          (1)

The load is n / d: patterns n per unit d. The overlap is the mean agreement with the stored pattern, 1 if all bits
agree. Theory gives 0.967 at the limit, and a jump to a small overlap beyond it. Some texts print the limit as d / n =
0.138. Reference: [amit1985storing].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order

OVERLAP_AT_THE_LIMIT = 0.967


def predicted():
    """Returns the names of both overlaps and of the theoretical limit, from the smallest value to the largest."""
    return ("load 0.16", "overlap at the limit", "load 0.12")


def overlap(load, units, rng):
    """Returns the mean overlap of 40 stored patterns with their states after 60 synchronous updates."""
    x = rng.choice(np.array([-1, 1], np.float32), size=(round(load * units), units))
    s = x[:40]
    for _ in range(60):
        s = np.where((s @ x.T) @ x >= len(x) * s, np.float32(1), np.float32(-1))
    return float((s * x[:40]).mean())


def kept_and_lost(loads, units, networks, seed):
    """Returns the overlaps with stored patterns at both numbers of patterns per unit, for several networks."""
    rng = np.random.default_rng(seed)
    low, high = ([overlap(load, units, rng) for _ in range(networks)] for load in loads)
    return dict(zip(predicted(), (high, [OVERLAP_AT_THE_LIMIT] * networks, low), strict=True))


observed = partial(kept_and_lost, loads=(0.12, 0.16))  # One load is below 0.138 patterns per unit, one is above it.
control = partial(kept_and_lost, loads=(0.3, 0.05))  # Control: 0.3 and 0.05 patterns per unit, each on the wrong side.

CLAIM = Claim(
    id="hopfield-capacity-0138",
    question="How many patterns can a Hopfield network remember?",
    equation=r"n_c / d \approx 0.138",
    axes=("load, compared with the overlap at the limit", "overlap with the stored pattern"),
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("the load is the number of patterns divided by the number of units"),),
    parameters={"units": 1000, "networks": 16},
    full={"units": 5000, "networks": 16},
    judge=in_order(confidence=0.999),
)
