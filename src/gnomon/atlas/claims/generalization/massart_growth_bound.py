"""The Rademacher complexity of a class that labels m points in few ways is small.

    Rad <= sqrt(2 ln Pi(m) / m)                                                                                    (1)

Half-planes through the origin on m points of the circle: Pi = 2 m, and the supremum over them is exact.
Reference: [bartlett2002rademacher].
"""

import numpy as np

from gnomon.bounds.capacity import massart
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(sizes):
    """Equation (1)."""
    return [massart(m, 2 * m) for m in sizes]


def observed(sizes, draws, seed):
    """Means over random signs of the largest correlation with a half-plane."""
    rng = np.random.default_rng(seed)
    found = []
    for m in sizes:
        signs = rng.choice((-1, 1), size=(draws, m))  # already reflected to the upper half, in order
        steps = signs.sum(1, keepdims=True) - 2 * np.cumsum(signs, 1)
        best = np.maximum(np.abs(signs.sum(1)), np.abs(steps).max(1))
        found.append(best.mean() / m)
    return found


def control(sizes, draws, seed):
    """All labelings: any signs are matched, and the complexity is one."""
    return [1.0 + 0 * draws * seed for _ in sizes]


CLAIM = Claim(
    id="massart-growth-bound",
    title="A class with few labelings has a small Rademacher complexity",
    equation=r"\mathrm{Rad}_m \le \sqrt{2\ln\Pi(m)/m}",
    source=Source("theorem", "bartlett2002rademacher"),
    premises=(Premise("the class labels the points in 2 m ways"),),
    parameters={"sizes": (10, 30, 100, 300, 1000), "draws": 400},
    judge=bounded_by("above"),
)
