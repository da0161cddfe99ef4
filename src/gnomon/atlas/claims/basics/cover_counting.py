"""Planes through the origin can label n points in d dimensions in C(n, d) ways, a sum of binomials.

A new point splits those labelings whose planes can pass through it, which are labelings by planes in one dimension
less. So C(n+1, d) = C(n, d) + C(n, d-1), with C(1, d) = C(n, 1) = 2, and

    C(n, d) = 2 sum_{i=0}^{d-1} binom(n - 1, i)                                                          (1)
Reference: [cover1965geometrical].
"""

from itertools import product
from math import comb

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(sizes, seed):
    """Returns sets of n Gaussian points in d dimensions, for sizes n1, d1, n2, d2, ..."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)) for n, d in zip(sizes[::2], sizes[1::2], strict=True)]


def predicted(sizes):
    """Returns the number of labelings C(n, d), for each set of points."""
    return [2 * sum(comb(n - 1, i) for i in range(d)) for n, d in zip(sizes[::2], sizes[1::2], strict=True)]


def count(x):
    """Counts the separable labelings of the points; the first label is fixed, so the count is doubled."""
    from scipy.optimize import nnls

    n, d = x.shape
    target = np.eye(d + 1)[-1]
    signs = (np.array([1.0, *rest]) for rest in product((-1.0, 1.0), repeat=n - 1))
    return 2 * sum(nnls(np.vstack([(y[:, None] * x).T, np.ones(n)]), target)[1] > 1e-9 for y in signs)


def observed(sizes, seed):
    """Counts the separable labelings by trying every labeling of each set."""
    return [count(x) for x in problem(sizes, seed)]


def control(sizes, seed):
    """Puts all points of a set into one plane: their first coordinate is 0."""
    return [count(x * (np.arange(x.shape[1]) > 0)) for x in problem(sizes, seed)]


CLAIM = Claim(
    id="cover-counting",
    question="How many ways are there to separate n points by planes?",
    equation=r"C(n, d) = 2 \sum_{i=0}^{d-1} \binom{n-1}{i}",
    axes=("combination of n and d", "number of labelings"),
    source=Source("theorem", "cover1965geometrical"),
    premises=(Premise("any d of the points are linearly independent"),),
    parameters={"sizes": (3, 4, 5, 2, 7, 3, 8, 3, 8, 4)},
    full={"sizes": (3, 4, 6, 2, 8, 3, 9, 4, 10, 3, 10, 5)},
    judge=equals(rounding=0),
    remark="Also printed as C(n+1, d) = 2 sum binom(n, i): the same count for one more point.",
)
