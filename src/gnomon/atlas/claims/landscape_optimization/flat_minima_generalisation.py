"""On a sparse problem, flatter solutions have a smaller test error, unless the weights are rescaled.

f(x) = <u^2 - v^2, x> from u = v = a: descent from a small start finds sparse solutions, from a large one solutions of
small norm. If all points are fitted the Hessian of the mean squared error has the trace

    tr H = (8 / n) sum_ij x_ij^2 (u_j^2 + v_j^2)                                                         (1)

which grows with a. Adding the same number to u^2 and to v^2 leaves f unchanged and changes (1) arbitrarily.
References: [hochreiter1997flat] for the saying, [dinh2017sharp] for the rescaling, [woodworth2020kernel] for the model.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order

INITIAL_SIZES = np.geomspace(0.03, 1.5, 9)[:, None]


def predicted():
    """Returns the names of three groups of solutions, flat to sharp, from the smallest test error to the largest."""
    return ("flattest", "middle", "sharpest")


def errors_by_flatness(extra, sets, n, d, steps, seed):
    """Returns mean test errors of solutions sorted by the Hessian's trace; ``extra`` rescales them before."""
    rng, rows = np.random.default_rng(seed), []
    truth = np.r_[np.ones(2), np.zeros(d - 2)]
    for _ in range(sets):
        x = rng.normal(size=(n, d))
        u, v, y = np.ones((9, d)) * INITIAL_SIZES, np.ones((9, d)) * INITIAL_SIZES, x @ truth
        rate = 0.05 / (1 + 2 * INITIAL_SIZES**2)
        for _ in range(steps):
            slope = ((u**2 - v**2) @ x.T - y) @ x / n
            u, v = u - rate * slope * u, v + rate * slope * v
        size = u**2 + v**2 + 2 * extra * rng.uniform(size=(9, 1))
        trace = 8 / n * (size @ (x**2).T).sum(1)
        error = ((u**2 - v**2 - truth) ** 2).sum(1)
        rows.append(error[trace.argsort()].reshape(3, 3).mean(1))
    return dict(zip(predicted(), np.transpose(rows), strict=True))


observed = partial(errors_by_flatness, extra=0.0)  # The weights are those that gradient descent found.
control = partial(errors_by_flatness, extra=100.0)  # Control: rescaled weights compute the same function.

CLAIM = Claim(
    id="flat-minima-generalisation",
    question="Do flat minima generalize better?",
    equation=r"E_{flattest} < E_{middle} < E_{sharpest}",
    axes=("solutions sorted by the trace of the Hessian", "test error"),
    source=Source("observed", "hochreiter1997flat"),
    premises=(Premise("the weights are those that descent found"), Premise("the problem has a sparse solution")),
    parameters={"sets": 12, "n": 20, "d": 40, "steps": 600},
    full={"sets": 40, "n": 40, "d": 100, "steps": 3000},
    judge=in_order(confidence=0.999),
    remark="Not a law: the control has the same functions and test errors, but an arbitrary sharpness.",
)
