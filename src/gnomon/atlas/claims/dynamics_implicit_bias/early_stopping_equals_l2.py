"""Stopping gradient descent after t steps of size r acts like an L2 penalty 1 / (r t), up to 0.2036 per weight.

From zero, the mode of least squares with eigenvalue l is scaled by 1 - (1 - r l)^t = 1 - e^{-s} + O(1/t), s = l r t.
The penalty a = 1 / (r t) scales it by l / (l + a) = s / (s + 1). The two differ by

    g(s) = e^{-s} - 1/(s + 1),   -g(s) = (s^2)/2 - ... for small s,   max |g| = 0.2036 at s = 2.51           (1)
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, steps, seed):
    """Returns a Hessian, its eigenvectors, the minimum of the loss (1 along each of them), and the step size."""
    s = np.geomspace(0.01, 50, d)
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    return q * s @ q.T, q, q.sum(1), 1 / steps


def predicted(d):
    """Returns the weight with early stopping minus that with the penalty, per eigenvalue, then the largest gap."""
    s = np.geomspace(0.01, 50, d)
    return [*(1 / (s + 1) - np.exp(-s)), 0.2036]


def gap(d, steps, seed, start):
    """Returns descent's weights minus the weights with penalty 1, along each eigenvector, then the largest gap."""
    h, q, best, rate = problem(d, steps, seed)
    w = start * q.sum(1)
    for _ in range(steps):
        w = w - rate * (h @ (w - best))
    ridge = np.linalg.solve(h + np.eye(d), h @ best)
    modes = q.T @ (w - ridge)
    return [*modes, np.abs(modes).max()]


observed = partial(gap, start=0.0)  # From zero.
control = partial(gap, start=0.5)  # Control: descent starts halfway between zero and the minimum.

CLAIM = Claim(
    id="early-stopping-equals-l2",
    question="How similar is early stopping to an L2 penalty?",
    equation=r"(1 - e^{-s}) - \frac{s}{s + 1} \le 0.2036, \quad s = \lambda / \alpha, \ \alpha = 1 / (r t)",
    axes=("mode with curvature x time s, then the maximum", "weight of descent - weight of ridge"),
    source=Source("derived", "ali2019continuous"),
    premises=(
        Premise("descent starts at zero"),
        Premise("the loss is quadratic"),
        Premise("steps are short: 0.28 / t is below 0.001", lambda steps: 0.28 / steps < 1e-3),
    ),
    parameters={"d": 60, "steps": 1000},
    full={"d": 200, "steps": 10_000},
    judge=equals(within=1e-3, because="(1 - s/t)^t is within 0.28/t of e^-s, and the maximum of a grid within 7e-4"),
    remark="Derivations often print log(1 - x) = x instead of -x, and omit the 1/2 in Taylor's second order.",
)
