"""On a sparse problem, flatter solutions generalize better, until the weights are rescaled.

f(x) = <u^2 - v^2, x> from u = v = a: descent from a small start finds sparse solutions, from a large one solutions of
small norm. If all points are fitted the Hessian of the mean squared error has the trace

    tr H = (8 / n) sum_ij x_ij^2 (u_j^2 + v_j^2)                                                         (1)

which grows with a. Adding the same number to u^2 and to v^2 leaves f unchanged and changes (1) arbitrarily.
References: [hochreiter1997flat] for the saying, [dinh2017sharp] for the rescaling, [woodworth2020kernel] for the model.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, at_most

INITIAL_SIZES = np.geomspace(0.03, 1.5, 8)[:, None]


def predicted():
    """Minus the smallest rank correlation of trace and test error."""
    return -0.8


def correlations(extra, sets, n, d, steps, seed):
    """Minus the rank correlation over starts; a random number up to ``extra`` is added to u^2 and v^2 at the end."""
    rng, rows = np.random.default_rng(seed), []
    truth = np.r_[np.ones(2), np.zeros(d - 2)]
    for _ in range(sets):
        x = rng.normal(size=(n, d))
        u, v, y = np.ones((8, d)) * INITIAL_SIZES, np.ones((8, d)) * INITIAL_SIZES, x @ truth
        rate = 0.05 / (1 + 2 * INITIAL_SIZES**2)
        for _ in range(steps):
            slope = ((u**2 - v**2) @ x.T - y) @ x / n
            u, v = u - rate * slope * u, v + rate * slope * v
        size = u**2 + v**2 + 2 * extra * rng.uniform(size=(8, 1))
        trace = 8 / n * (size @ (x**2).T).sum(1)
        error = ((u**2 - v**2 - truth) ** 2).sum(1)
        rows.append(-np.corrcoef(trace.argsort().argsort(), error.argsort().argsort())[0, 1])
    return rows


observed = partial(correlations, extra=0.0)  # The weights that descent found.
control = partial(correlations, extra=100.0)  # The same functions with other weights.

CLAIM = Claim(
    id="flat-minima-generalisation",
    question="Do flat minima generalize better?",
    equation=r"\rho(\mathrm{tr} H, \text{test error}) \ge 0.8",
    axes=("data set", "- rank correlation of Hessian trace and test error"),
    source=Source("observed", "hochreiter1997flat"),
    premises=(Premise("the weights are those that descent found"), Premise("the problem has a sparse solution")),
    parameters={"sets": 12, "n": 20, "d": 40, "steps": 600},
    full={"sets": 40, "n": 40, "d": 100, "steps": 3000},
    judge=at_most(confidence=0.999),
    remark="Not a law: the control has the same functions and test errors, but an arbitrary sharpness.",
)
