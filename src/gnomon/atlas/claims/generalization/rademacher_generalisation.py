"""The gap of true and training error is at most twice the Rademacher complexity of the class, plus a small term.

    sup (R - R_n) <= 2 Rad + 3 sqrt(ln(2 / delta) / (2 n))   with probability 1 - delta                            (1)

R is the true and R_n the training error on n examples, Rad the complexity. For linear functions with |w| <= 1 on the
unit sphere and the loss (1 - <w, x> y) / 2 in [0, 1], the supremum is |mean of y x - its expectation| / 2, and Rad of
the losses is half of Rad of the functions. Reference: [bartlett2002rademacher].
"""

from functools import cache, partial

import numpy as np
import torch

from gnomon.bounds.capacity import linear_rademacher
from gnomon.lab import Claim, Premise, Source, at_most

DELTA = 0.05


def predicted():
    """Returns delta, the largest allowed share of samples whose gap exceeds the bound."""
    return DELTA


def bound_broken(copies, n, d, repetitions, seed):
    """Returns for each sample whether the gap of errors exceeds the bound; each point is repeated ``copies`` times."""
    rng = np.random.default_rng(seed)
    mean = 0.3 * np.eye(d)[0]
    found = []
    for k in range(repetitions):
        m = max(n // copies, 1)
        x = rng.normal(size=(m, d)) + mean * np.sqrt(d)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        z = np.repeat(x, copies, axis=0)
        rad = linear_rademacher(torch.tensor(z), draws=50, seed=k)
        gap = np.linalg.norm(z.mean(0) - expectation(d)) / 2
        found.append(float(gap > rad.gap(DELTA) / 2 + 1.5 * np.sqrt(np.log(2 / DELTA) / (2 * len(z)))))
    return found


@cache
def expectation(d, draws=200_000):
    """Returns the mean of a random point, from a large separate sample."""
    x = np.random.default_rng(12345).normal(size=(draws, d)) + 0.3 * np.eye(d)[0] * np.sqrt(d)
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).mean(0)


observed = partial(bound_broken, copies=1)  # Independent points.


def control(n, d, repetitions, seed):
    """Returns whether the gap exceeds the bound if one point is repeated n times, so examples are dependent."""
    return bound_broken(n, n, d, repetitions, seed)


CLAIM = Claim(
    id="rademacher-generalisation",
    question="How far can training and true error differ over a whole class?",
    equation=r"\sup_f (R - \hat R) \le 2\,\mathrm{Rad} + 3\sqrt{\ln(2/\delta)/2n}",
    axes=("sample", "1 if the bound is broken"),
    source=Source("theorem", "bartlett2002rademacher", "Theorem 8"),
    premises=(Premise("the examples are independent"),),
    parameters={"n": 200, "d": 5, "repetitions": 150},
    full={"repetitions": 1000},
    judge=at_most(confidence=0.99),
    covers=("empirical-rademacher-bound",),
    remark="Often printed without the factor 2 and without the last term, which is then false.",
    loose_because="the bounded-difference inequality of the proof is loose: none of these samples breaks the bound.",
)
