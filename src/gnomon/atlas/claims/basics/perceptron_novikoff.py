"""The perceptron makes at most R^2 / margin^2 mistakes on separable points of norm at most R.

A unit vector w* satisfies y_i <w*, x_i> >= gamma (the margin) and |x_i| <= R, for points x_i with labels y_i. Each
update w <- w + y_i x_i raises <w*, w> by at least gamma and |w|^2 by at most R^2: t gamma <= |w_t| <= R sqrt(t).

    t <= floor(R^2 / gamma^2)                                                                            (1)

Orthogonal points of one class reach equality: each is misclassified once. Reference: [novikoff1962convergence].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(sets, n, gap, seed):
    """Yields sixteen orthogonal points, which reach the bound, then Gaussian points away from a plane."""
    rng = np.random.default_rng(seed)
    yield np.eye(16), np.ones(16), np.ones(16) / 4
    for k in range(sets):
        d = 2 + k % 10
        w = rng.normal(size=d)
        x = rng.normal(size=(50 * n, d))
        x = x[np.abs(x @ w) > gap * np.linalg.norm(w)][:n]
        yield x, np.sign(x @ w), w / np.linalg.norm(w)


def predicted(sets, n, gap, seed):
    """Returns the bound on mistakes, R^2 / margin^2, for the largest norm R and the margin of the labeling plane."""
    return [np.floor((x**2).sum(1).max() / (y * (x @ w)).min() ** 2) for x, y, w in problem(sets, n, gap, seed)]


def updates(x, y, most=3_000):
    """Returns the number of updates until the perceptron makes no mistake, but at most ``most``."""
    w, t, clean = np.zeros(x.shape[1]), 0, False
    while not clean and t < most:
        clean = True
        for xi, yi in zip(x, y, strict=True):
            if yi * (w @ xi) <= 0:
                w, t, clean = w + yi * xi, t + 1, False
    return t


def observed(sets, n, gap, seed):
    """Returns the number of updates until all points are classified correctly, for each set."""
    return [updates(x, y) for x, y, _ in problem(sets, n, gap, seed)]


def control(sets, n, gap, seed):
    """Returns the number of updates if one label of each set is flipped, so that no plane separates the points."""
    found = problem(sets, n, gap, seed)
    return [updates(x, np.where(np.arange(len(y)) == np.abs(x @ w).argmax(), -y, y)) for x, y, w in found]


CLAIM = Claim(
    id="perceptron-novikoff",
    question="How many mistakes can a perceptron make before it separates the data?",
    equation=r"t \le \lfloor R^2 / \gamma^2 \rfloor",
    axes=("data set", "number of updates"),
    source=Source("theorem", "novikoff1962convergence", "Theorem 1"),
    premises=(Premise("a plane through the origin separates the points with margin gamma", lambda gap: gap > 0),),
    parameters={"sets": 10, "n": 40, "gap": 0.2},
    full={"sets": 50, "n": 100},
    judge=bounded_by("above", tight=1.0),
    remark="Often printed with 'less than' and without the floor: the bound is 'at most' the floor.",
)
