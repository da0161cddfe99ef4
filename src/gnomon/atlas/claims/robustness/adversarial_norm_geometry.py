"""The best attack on a linear score changes all entries if the largest change is limited, one if the sum is.

    argmin w e over |e|_inf <= eps is -eps sign(w);    over |e|_1 <= eps it is -eps sign(w_k) e_k, |w_k| largest   (1)

w are the weights and e the move. A limit on the number of changed entries (the "norm" of order 0) selects the same
entry as the sum norm. Reference: [boyd2004convex], Section 2.6.
"""

from functools import partial

import numpy as np
from scipy.optimize import linprog

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, repeats, seed):
    """Returns random weights, one row for each repetition."""
    return np.random.default_rng(seed).normal(size=(repeats, d))


def predicted(d, repeats):
    """Returns the number of changed entries: all d for a limit on the largest entry, then 1 for one on the sum."""
    return np.r_[np.full(repeats, d), np.ones(repeats)]


def supports(limit, d, repeats, seed):
    """Returns how many entries the optimal moves change, by linear programs with entries of at most ``limit``."""
    wide, narrow, weights = [], [], problem(d, repeats, seed)
    for row in weights:
        wide.append(np.sum(np.abs(linprog(row, bounds=[(-1, 1)] * d).x) > 1e-9))
        both = linprog(np.r_[row, -row], np.ones((1, 2 * d)), [1.0], bounds=[(0, limit)] * (2 * d), method="highs-ds").x
        narrow.append(np.sum(np.abs(both[:d] - both[d:]) > 1e-9))
    return np.r_[wide, narrow]


observed = partial(supports, limit=None)  # Each limit alone.
control = partial(supports, limit=0.3)  # Control: the sum is limited, and no entry may change by more than 0.3.


CLAIM = Claim(
    id="adversarial-norm-geometry",
    question="How many input entries does the best attack change?",
    equation=r"|\mathrm{supp}\, \eta_\infty| = d, \qquad |\mathrm{supp}\, \eta_1| = 1",
    axes=("random weights (largest-entry norm, then sum norm)", "number of changed entries"),
    source=Source("theorem", "boyd2004convex", "Section 2.6"),
    premises=(Premise("there is one limit, on the sum or on the entries"), Premise("no weight is zero")),
    parameters={"d": 12, "repeats": 10},
    full={"d": 100, "repeats": 100},
    judge=equals(rounding=0),
)
