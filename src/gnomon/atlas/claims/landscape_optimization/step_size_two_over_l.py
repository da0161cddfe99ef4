"""A gradient step surely lowers a loss of curvature at most L exactly for learning rates below 2/L.

The parabola of curvature L above the loss h, at the end of the step -lr g, gives h' - h <= -lr (1 - lr L / 2) |g|^2, or

    1 - (h - h') / (lr |g|^2) <= lr L / 2                                                                (1)

with equality on a quadratic along its steepest direction; h' is the loss after the step. The right side is 1, no
decrease, at lr = 2 / L. The guaranteed decrease is largest at lr = 1 / L: |g|^2 / (2 L). Reference:
[nesterov2018lectures], Section 1.2.3.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, bounded_by

LEARNING_RATES = (0.5, 1.0, 1.9, 2.1)


def problem(n, d, seed):
    """Returns points times labels, scaled so that L = lambda_max / (4 n) = 1."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d))
    return torch.from_numpy(z * 2 * n**0.5 / np.linalg.norm(z, 2))


def predicted(steps):
    """Returns lr L / 2 for the steps on the loss and for one step on a quadratic, for each learning rate lr."""
    return [[rate / 2] * (steps + 1) for rate in LEARNING_RATES]


def excess(loss, w, rate, steps):
    """Returns for each step the share of the linear decrease lr |gradient|^2 that the loss does not fall."""
    rows = []
    for _ in range(steps):
        w = w.detach().requires_grad_()
        h = loss(w)
        g = torch.autograd.grad(h, w)[0]
        if float(rate * g.square().sum()) < 1e-3 * float(h.detach()):
            break  # The remaining decrease of the loss is near its rounding error, so descent stops.
        rows.append(float((1 - (h - loss(w - rate * g)) / (rate * g.square().sum())).detach()))
        w = w - rate * g
    return rows + rows[-1:] * (steps - len(rows))


def table(curve, steps, n, d, seed):
    """Returns the missing share of the decrease for the logistic loss, then for one step on ``curve``."""
    z = problem(n, d, seed)
    start, one = 3 * torch.randn(d, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    return [
        excess(lambda w: functional.softplus(-z @ w).mean(), start, rate, steps) + excess(curve, one, rate, 1)
        for rate in LEARNING_RATES
    ]


observed = partial(table, curve=lambda w: (w**2).sum() / 2)  # The loss w^2 / 2 has curvature L = 1 everywhere.
control = partial(table, curve=lambda w: (w**2 / 2 + w**4 / 8).sum())  # Control: curvature 2.5 at w = 1, above L.

CLAIM = Claim(
    id="step-size-two-over-l",
    question="For which learning rates does a gradient step always lower the loss?",
    equation=r"h(\theta - \eta \nabla h) \le h(\theta) - \eta (1 - \tfrac{\eta L}{2}) \|\nabla h\|^2",
    axes=("step, for four learning rates", "missing share of the decrease"),
    source=Source("theorem", "nesterov2018lectures", "Section 1.2.3"),
    premises=(Premise("the curvature is at most L everywhere"),),
    parameters={"steps": 20, "n": 50, "d": 5},
    full={"steps": 200, "n": 500, "d": 50},
    judge=bounded_by("above", rounding=1e4, tight=1 - 1e-9),
)
