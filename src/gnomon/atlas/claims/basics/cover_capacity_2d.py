"""A plane can separate randomly labeled points in d dimensions with probability 1/2 if there are 2 d points.

Planes through the origin realize C(n, d) of the 2^n labelings of n points, so for coin-flip labels

    P(separable) = C(n, d) / 2^n = P(Binomial(n - 1, 1/2) <= d - 1)                                      (1)

which is 1/2 at n = 2 d by symmetry. Reference: [cover1965geometrical].
"""

from math import comb

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(d, sizes):
    """Returns the probability that a plane separates randomly labeled points, for each number of points."""
    return [2 * sum(comb(n - 1, i) for i in range(d)) / 2**n for n in sizes]


def separable(z):
    """Returns whether a plane through the origin separates the points: 0 is outside the hull of label times point."""
    from scipy.optimize import nnls

    return nnls(np.vstack([z.T, np.ones(len(z))]), np.eye(z.shape[1] + 1)[-1])[1] > 1e-9


def observed(d, sizes, draws, seed):
    """Returns whether Gaussian points with coin-flip labels are separable, for each draw and number of points."""
    rng = np.random.default_rng(seed)
    return [[separable(rng.normal(size=(n, d)) * rng.choice((-1, 1), (n, 1))) for n in sizes] for _ in range(draws)]


def control(d, sizes, draws, seed):
    """Returns whether points are separable if their labels come from a plane, with one label in ten flipped."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        sets = [rng.normal(size=(n, d)) for n in sizes]
        flips = [np.where(rng.random(n) < 0.1, -1, 1) for n in sizes]
        rows.append([separable(x * (np.sign(x[:, 0]) * f)[:, None]) for x, f in zip(sets, flips, strict=True)])
    return rows


CLAIM = Claim(
    id="cover-capacity-2d",
    question="How many random labels can a linear classifier with d weights fit?",
    equation=r"P = C(n, d) / 2^n, \quad P(n = 2d) = 1/2",
    axes=("number of points n", "probability that the labels are separable", "sizes"),
    source=Source("theorem", "cover1965geometrical"),
    premises=(Premise("labels are independent coin flips"),),
    parameters={"d": 8, "sizes": (8, 13, 16, 19, 22), "draws": 400},
    full={"d": 25, "sizes": (25, 40, 45, 50, 55, 60), "draws": 1000},
    judge=mean_equals(confidence=0.9999),
    remark="The fraction of labelings falls with n; their number grows.",
)
