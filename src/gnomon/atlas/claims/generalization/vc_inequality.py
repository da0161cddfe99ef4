"""Training and true error of half-planes differ by far less than the VC (Vapnik-Chervonenkis) bound allows.

    P(sup |R_n - R| > e) <= 8 Pi(n) exp(-n e^2 / 32)                                                               (1)

R is the true error and R_n the training error on n examples; Pi(n) is the number of labelings of n points. For
half-planes through the origin, points uniform on the circle and random labels, every R is 1/2 and the supremum is
exact. Reference: [vapnik1971uniform].
"""

from functools import partial

import numpy as np

from gnomon.bounds import vc_bound
from gnomon.lab import Claim, Premise, Source, bounded_by

DELTA = 0.05


def predicted(sizes):
    """Returns the VC bound on the gap of errors at delta = 0.05, with the 2 n labelings of n points on a circle."""
    return [vc_bound(n, 2 * n, DELTA) for n in sizes]


def deviations(copies, sizes, repetitions, seed):
    """Returns the 95 % quantile of the largest |training error - 1/2|; each point is repeated ``copies`` times."""
    rng = np.random.default_rng(seed)
    found = []
    for n in sizes:
        sups = []
        for _ in range(repetitions):
            m = max(n // copies, 1)
            angle, y = rng.uniform(0, 2 * np.pi, m), rng.choice((-1, 1), m)
            order = np.argsort(angle % np.pi)  # by angle in the upper half plane: a turning line passes one by one
            signs = (y * np.where(angle < np.pi, 1, -1))[order]
            right = np.concatenate([[signs.sum()], signs.sum() - 2 * np.cumsum(signs)])
            sups.append(np.abs(right).max() / (2 * m))
        found.append(np.quantile(sups, 1 - DELTA))
    return found


observed = partial(deviations, copies=1)  # Independent points.


def control(sizes, repetitions, seed):
    """Returns the quantile for four points repeated n / 4 times each, so that examples are not independent."""
    return [deviations(n // 4, (n,), repetitions, seed)[0] for n in sizes]


CLAIM = Claim(
    id="vc-inequality",
    question="How far can training and true error of half-planes differ?",
    equation=r"P(\sup_f |\hat R - R| > \epsilon) \le 8\Pi(n)e^{-n\epsilon^2/32}",
    axes=("number of examples n", "95 % quantile of the largest deviation", "sizes"),
    source=Source("theorem", "vapnik1971uniform"),
    premises=(Premise("the examples are independent"),),
    parameters={"sizes": (10_000, 40_000), "repetitions": 30},
    full={"sizes": (10_000, 100_000), "repetitions": 300},
    judge=bounded_by("above"),
    loose_because="its constants 8 and 32 come from the proof: 0.07 of the bound is reached.",
)
