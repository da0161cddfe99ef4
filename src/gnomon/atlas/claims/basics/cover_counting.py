"""Planes through the origin can label n points in d dimensions in C(n, d) ways, a sum of binomial coefficients.

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
    """Returns sets of n Gaussian points in d dimensions; sizes are n1, d1, n2, d2, and further pairs."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)) for n, d in zip(sizes[::2], sizes[1::2], strict=True)]


def predicted(sizes):
    """Returns the number C(n, d) of labelings that planes can produce, for each set of points."""
    return [2 * sum(comb(n - 1, i) for i in range(d)) for n, d in zip(sizes[::2], sizes[1::2], strict=True)]


def count(x):
    """Returns the number of separable labelings of the points: those with the first label fixed, times two."""
    from scipy.optimize import nnls

    n, d = x.shape
    target = np.eye(d + 1)[-1]
    signs = (np.array([1.0, *rest]) for rest in product((-1.0, 1.0), repeat=n - 1))
    return 2 * sum(nnls(np.vstack([(y[:, None] * x).T, np.ones(n)]), target)[1] > 1e-9 for y in signs)


def observed(sizes, seed):
    """Returns the number of separable labelings of each set, by trying every labeling."""
    return [count(x) for x in problem(sizes, seed)]


def control(sizes, seed):
    """Returns the number of separable labelings if all points of a set lie in one plane (first coordinate 0)."""
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
