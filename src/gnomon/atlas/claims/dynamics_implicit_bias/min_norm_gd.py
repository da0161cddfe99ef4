"""Gradient descent on an underdetermined linear system converges to the solution nearest to its start.

With A = U S V^T of rank m, every gradient A^T (A x - b) lies in the span of V, so the rest of x_0 never moves:

    x_inf = (I - V V^T) x_0 + V S^-1 U^T b,    |x_inf|^2 - |x_short|^2 = |(I - V V^T) x_0|^2                   (1)

So the shortest solution x_short is found exactly from starts in the span, such as zero.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(rows, columns, seed):
    """Returns a wide matrix, a right side and a start."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=rows), rng.normal(size=columns)


def predicted(rows, columns, seed):
    """Returns the solution nearest to the start, then its squared norm minus the smallest squared norm."""
    a, b, start = problem(rows, columns, seed)
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    unseen = start - vt.T @ (vt @ start)
    return [*(unseen + vt.T @ ((u.T @ b) / s)), unseen @ unseen]


def descend(rows, columns, steps, seed, scale):
    """Returns where descent ends from the start and from zero; ``scale`` sets a step size per coordinate."""
    a, b, start = problem(rows, columns, seed)
    rate = scale(np.arange(columns) / columns) / (a**2).sum()
    x, zero = start, 0 * start
    for _ in range(steps):
        x, zero = x - rate * (a.T @ (a @ x - b)), zero - rate * (a.T @ (a @ zero - b))
    return [*x, x @ x - zero @ zero]


observed = partial(descend, scale=lambda place: 1.0 + 0 * place)  # All coordinates have the same step size.
control = partial(descend, scale=lambda place: 1.0 - place / 2)  # Control: later coordinates have smaller steps.

CLAIM = Claim(
    id="min-norm-gd",
    question="Which solution does gradient descent choose if there are many?",
    equation=r"x_\infty = (I - V V^T) x_0 + V S^{-1} U^T b",
    axes=("coordinate of the limit, then excess squared norm", "coordinate; squared norm"),
    source=Source("derived"),
    premises=(
        Premise("each step is a multiple of the gradient"),
        Premise("more unknowns than equations", lambda rows, columns: columns > rows),
        Premise(
            "descent has converged in the slowest mode of a random matrix",
            lambda rows, columns, steps: steps * (columns**0.5 - rows**0.5) ** 2 / (rows * columns) > np.log(1e7),
        ),
    ),
    parameters={"rows": 5, "columns": 40, "steps": 1000},
    full={"rows": 10, "columns": 200, "steps": 3000},
    judge=equals(within=1e-7, because="the remaining error of the slowest mode"),
)
