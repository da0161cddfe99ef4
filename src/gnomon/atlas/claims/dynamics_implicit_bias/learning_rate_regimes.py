"""Gradient descent on a quadratic loss is stable exactly for steps below 2 / (largest Hessian eigenvalue).

The error along an eigenvector with eigenvalue l is multiplied by 1 - r l in each step of size r: |1 - r l| < 1 for all
l in (0, l_max] if and only if

    r < 2 / l_max                                                                                             (1)
"""

from functools import partial

import numpy as np

from gnomon.atlas.check.descent import check_edge_of_stability
from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns the inputs of a regression with exact targets, and the initial error of the weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=d)


def predicted(n, d, seed):
    """Returns 2 / (largest Hessian eigenvalue), the largest stable step size of the regression loss."""
    x, _ = problem(n, d, seed)
    return 2 / np.linalg.eigvalsh(x.T @ x / n)[-1]


def threshold(n, d, steps, seed, momentum, halvings=40):
    """Returns the step size at which errors begin to grow, by bisection between stable and unstable runs."""
    x, start = problem(n, d, seed)
    h = x.T @ x / n
    low, high = 0.0, 10.0
    for _ in range(halvings):
        rate = (low + high) / 2
        e = before = start
        for k in range(steps):
            e, before = e - rate * (h @ e) + momentum * (e - before), e
            if k == steps // 2:
                scale = np.abs(e).max()
                e, before = e / scale, before / scale
            if not np.abs(e).max() < 1e100:
                break
        low, high = (low, rate) if not np.abs(e).max() < 1 else (rate, high)
    return low


observed = partial(threshold, momentum=0.0, halvings=40)  # Without momentum.
control = partial(threshold, momentum=0.5, halvings=40)  # Control: momentum 0.5 raises the limit to 3 / l_max.

CLAIM = Claim(
    id="learning-rate-regimes",
    question="How large may the learning rate be?",
    equation=r"r < 2 / \lambda_{max}(H)",
    axes=("one data set", "largest stable learning rate"),
    source=Source("derived"),
    premises=(Premise("momentum is zero"),),
    parameters={"n": 200, "d": 6, "steps": 400},
    full={"n": 1000, "d": 20, "steps": 2000},
    judge=equals(within=1e-6, because="other modes vanish in half the steps; the bisection ends at 1e-11"),
    check=check_edge_of_stability,
)
