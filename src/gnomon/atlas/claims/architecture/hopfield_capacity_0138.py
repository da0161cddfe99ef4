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


def overlap(load, up, units, rng):
    """Returns the mean overlap of 40 stored patterns with their states after 60 updates; bits are 1 at rate ``up``."""
    x = np.where(rng.random(size=(round(load * units), units)) < up, np.float32(1), np.float32(-1))
    s = x[:40]
    for _ in range(60):
        s = np.where((s @ x.T) @ x >= len(x) * s, np.float32(1), np.float32(-1))
    return float((s * x[:40]).mean())


def kept_and_lost(up, units, networks, seed):
    """Returns the overlaps with stored patterns at 0.12 and 0.16 patterns per unit, for several networks."""
    rng = np.random.default_rng(seed)
    low, high = ([overlap(load, up, units, rng) for _ in range(networks)] for load in (0.12, 0.16))
    return dict(zip(predicted(), (high, [OVERLAP_AT_THE_LIMIT] * networks, low), strict=True))


observed = partial(kept_and_lost, up=0.5)  # Bits of the patterns are 1 or -1 with equal probability.
control = partial(kept_and_lost, up=0.7)  # Control: bits are 1 with probability 0.7, so all patterns are similar.

CLAIM = Claim(
    id="hopfield-capacity-0138",
    question="How many patterns can a Hopfield network remember?",
    equation=r"n_c / d \approx 0.138",
    axes=("load, compared with the overlap at the limit", "overlap with the stored pattern"),
    source=Source("theorem", "amit1985storing"),
    premises=(Premise("bits of the patterns are independent, and 1 or -1 with equal probability"),),
    parameters={"units": 1000, "networks": 16},
    full={"units": 5000, "networks": 16},
    judge=in_order(confidence=0.999),
)
