"""Gradient descent for a fixed time stays within a distance O(step size) of the continuous gradient flow.

Each step of size r has an error of O(r^2) compared with the flow w' = -grad C, and there are T / r steps:

    |w_{T/r} - w(T)| = O(r)                                                                                   (1)
"""

from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from gnomon.lab import Claim, Premise, Source, rate_is


def problem(d, seed):
    """Returns the gradient of the loss (1/2)|u v^T - M|^2 of a two-layer linear network, and a start."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(d, d)) / d**0.5

    def gradient(w):
        u, v = w[:d], w[d:]
        rest = np.outer(u, v) - target
        return np.concatenate([rest @ v, rest.T @ u])

    return gradient, rng.normal(size=2 * d)


def predicted():
    """Returns 1, the exponent of the step size in the distance between descent and gradient flow."""
    return 1.0


def gap(d, time, counts, seed, momentum):
    """Returns the distance between gradient descent and an accurate gradient flow, for each step size."""
    gradient, start = problem(d, seed)
    flow = solve_ivp(lambda _, w: -gradient(w), (0, time), start, rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for count in counts:
        w = before = start
        for _ in range(count):
            w, before = w - time / count * gradient(w) + momentum * (w - before), w
        errors.append(np.linalg.norm(w - flow))
    return [time / count for count in counts], errors


observed = partial(gap, momentum=0.0)  # Without momentum.
control = partial(gap, momentum=0.5)  # Control: momentum 0.5 doubles the speed of descent.

CLAIM = Claim(
    id="gradient-flow-limit",
    question="How close is gradient descent to gradient flow?",
    equation=r"\|w_{T/r} - w(T)\| = O(r)",
    axes=("step size r", "distance to gradient flow at time T"),
    source=Source("derived"),
    premises=(Premise("momentum is zero"), Premise("the loss is smooth")),
    parameters={"d": 4, "time": 0.5, "counts": (100, 200, 400, 800)},
    full={"d": 20, "counts": (500, 1000, 2000, 4000, 8000)},
    judge=rate_is(next_order=1.0, label="step size"),
)
