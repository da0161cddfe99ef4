"""For small learning rates only the sum of the rates over all steps matters; its inverse is the implicit L2 penalty.

On a quadratic loss from zero, the mode with eigenvalue l is scaled by 1 - prod_t (1 - r_t l). With S = sum_t r_t,

    w = (1 - e^{-l S}) w*,    error <= l^2 e^{-l S} (1/2) sum_t r_t^2 (1 + ...),    a = 1 / S                  (1)

w* is the minimum and a the strength of the matching penalty.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed):
    """Returns a Hessian with eigenvalues from 0.05 to 5, and the minimum."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.geomspace(0.05, 5, d) @ q.T, rng.normal(size=d) / d**0.5


def predicted(d, total, seed):
    """Returns the predicted final weights, which depend only on the sum of learning rates, for three schedules."""
    h, best = problem(d, seed)
    values, q = np.linalg.eigh(h)
    return [q @ ((1 - np.exp(-values * total)) * (q.T @ best))] * 3


def descend(d, total, steps, seed, equal):
    """Returns the final weights of descent with three learning rate schedules; ``equal`` gives them equal sums."""
    h, best = problem(d, seed)
    k = np.arange(steps) / steps
    ends = []
    for shape in (np.ones(steps), 0.1 ** np.floor(3 * k), 1 + np.cos(np.pi * k)):
        w = 0 * best
        for rate in shape * total / (shape.sum() if equal else steps):
            w = w - rate * (h @ (w - best))
        ends.append(w)
    return ends


observed = partial(descend, equal=True)  # All schedules have the same sum of learning rates.
control = partial(descend, equal=False)  # Control: the sums of the learning rates differ; step decay has a smaller sum.

CLAIM = Claim(
    id="learning-rate-schedule-implicit-l2",
    question="What matters in a learning rate schedule, if steps are small?",
    equation=r"w = (1 - e^{-\lambda S}) w^*, \quad S = \sum_t r_t, \quad \alpha = 1 / S",
    axes=("weight, for three schedules", "weight after training"),
    source=Source("derived"),
    premises=(
        Premise("the step sizes of all schedules have the same sum"),
        Premise("the loss is quadratic and each step is far below 2 / (largest eigenvalue)"),
    ),
    parameters={"d": 20, "total": 2.0, "steps": 1000},
    full={"d": 100, "steps": 10_000},
    judge=equals(within=1e-3, because="0.27 sum r^2 / S^2 by (1), and sum r^2 <= 2.5 S^2 / 1000"),
)
