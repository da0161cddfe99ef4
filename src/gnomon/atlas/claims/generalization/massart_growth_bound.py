"""A class of functions that labels m points in Pi(m) ways has Rademacher complexity at most sqrt(2 ln Pi(m) / m).

    Rad <= sqrt(2 ln Pi(m) / m)                                                                                    (1)

For half-planes through the origin and m points on the circle Pi = 2 m, and the supremum is exact.
Reference: [bartlett2002rademacher].
"""

from functools import partial

import numpy as np

from gnomon.bounds.capacity import massart_bound
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(sizes):
    """Returns sqrt(2 ln Pi(m) / m), the bound on the Rademacher complexity, for each number of points m."""
    return [massart_bound(m, 2 * m) for m in sizes]


def complexity(half_planes, sizes, draws, seed):
    """Returns the Rademacher complexity of half-planes, or of a class with a free label for each pair of points."""
    rng = np.random.default_rng(seed)
    found = []
    for m in sizes:
        signs = rng.choice((-1, 1), size=(draws, m))  # random labels (signs) of the points, ordered by angle
        steps = signs.sum(1, keepdims=True) - 2 * np.cumsum(signs, 1)
        best = np.maximum(np.abs(signs.sum(1)), np.abs(steps).max(1))
        if not half_planes:
            best = np.abs(signs[:, ::2] + signs[:, 1::2]).sum(1)
        found.append(best.mean() / m)
    return found


observed = partial(complexity, half_planes=True)  # Half-planes label m points in at most 2 m ways.
control = partial(complexity, half_planes=False)  # Control: 2^(m/2) labelings have complexity 1/2 at every m.

CLAIM = Claim(
    id="massart-growth-bound",
    question="Does a class with few labelings overfit?",
    equation=r"\mathrm{Rad}_m \le \sqrt{2\ln\Pi(m)/m}",
    axes=("number of points m", "Rademacher complexity", "sizes"),
    source=Source("theorem", "bartlett2002rademacher"),
    premises=(Premise("the class labels the points in 2 m ways"),),
    parameters={"sizes": (10, 30, 100, 300, 1000), "draws": 400},
    judge=bounded_by("above"),
)
