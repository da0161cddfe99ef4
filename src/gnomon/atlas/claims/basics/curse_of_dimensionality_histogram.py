"""In many dimensions nearly all bins of a histogram are empty: n points occupy at most n of b^N bins.

Each of n uniform points falls into one of B = b^N bins (b per axis, N axes). A bin is empty with chance (1 - 1/B)^n, so

    E[occupied bins] = B (1 - (1 - 1/B)^n)                                                               (1)

which is n for B >> n: every point is alone in its bin. Reference: [bellman1961adaptive].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(n, b, dimensions):
    """Returns the expected number of occupied bins, divided by the largest possible number, per dimension."""
    bins = [b**d for d in dimensions]
    return [-count * np.expm1(n * np.log1p(-1 / count)) / min(count, n) for count in bins]


def count_occupied_bins(points, b):
    """Returns the number of different bins that the points fall into."""
    digits = np.minimum((points * b).astype(np.int64), b - 1)
    return len(np.unique(digits @ b ** np.arange(points.shape[1])))


def observed(n, b, dimensions, repetitions, seed):
    """Returns the share of occupied bins for uniform points, for each repetition and dimension."""
    rng = np.random.default_rng(seed)
    return [[count_occupied_bins(rng.random((n, d)), b) / min(b**d, n) for d in dimensions] for _ in range(repetitions)]


def control(n, b, dimensions, repetitions, seed):
    """Returns the share of occupied bins for points near the cube's diagonal: nearly one-dimensional data."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(repetitions):
        sets = [np.clip(rng.random((n, 1)) + 0.02 * rng.normal(size=(n, d)), 0, 1) for d in dimensions]
        rows.append([count_occupied_bins(x, b) / min(b**d, n) for x, d in zip(sets, dimensions, strict=True)])
    return rows


CLAIM = Claim(
    id="curse-of-dimensionality-histogram",
    question="Why do histograms fail in high dimensions?",
    equation=r"E[\mathrm{occupied}] = B (1 - (1 - 1/B)^n), \quad B = b^N",
    axes=("number of dimensions N", "occupied bins / largest possible number", "dimensions"),
    source=Source("derived", "bellman1961adaptive"),
    premises=(
        Premise("the points are uniform in the cube"),
        Premise("some bins stay empty", lambda n, b, dimensions: n < 5 * b ** min(dimensions)),
        Premise(
            "at least ten pairs of points share a bin in all repetitions, so that the number of pairs can be estimated",
            lambda n, b, dimensions, repetitions: repetitions * n**2 >= 20 * b ** max(dimensions),
        ),
    ),
    parameters={"n": 1000, "b": 4, "dimensions": (4, 5, 6, 8), "repetitions": 40},
    grid={"b": (2, 3, 4, 5, 6, 7)},
    full={"n": 10_000, "b": 4, "dimensions": (6, 7, 8, 9, 10), "repetitions": 100},
    judge=mean_equals(confidence=0.9999, resolution=0.01),
)
