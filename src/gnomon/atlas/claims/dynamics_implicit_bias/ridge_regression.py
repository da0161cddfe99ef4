"""Ridge regression adds its penalty to the diagonal of the inputs' Gram matrix X^T X.

The gradient of |y - X w|^2 + a |w|^2 is 2 X^T (X w - y) + 2 a w = 0, hence

    w(a) = (X^T X + a I)^-1 X^T y,    training error grows with a, |w| falls with a                          (1)

X are the examples, y the targets, w the weights, a the penalty.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns random inputs and noisy targets of a linear regression."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x @ rng.normal(size=d) + rng.normal(size=n)


def predicted(n, d, penalties, seed):
    """Returns the weights for each penalty, then 1 twice: with the penalty errors grow and norms fall."""
    x, y = problem(n, d, seed)
    w = [np.linalg.solve(x.T @ x + a * np.eye(d), x.T @ y) for a in penalties]
    return [*np.concatenate(w), 1.0, 1.0]


def minimize(n, d, penalties, steps, seed, weight):
    """Returns the weights after descent for each penalty, then whether errors grow and norms fall with it."""
    x, y = (torch.from_numpy(v) for v in problem(n, d, seed))
    a = torch.tensor(penalties).double()
    w = torch.zeros(len(penalties), d, dtype=torch.float64, requires_grad=True)
    top = float(torch.linalg.matrix_norm(x, 2) ** 2)
    for _ in range(steps):
        loss = weight * ((w @ x.T - y) ** 2).sum(1) + a * (w**2).sum(1)
        w = (w - torch.autograd.grad(loss.sum(), w)[0] / (2 * (weight * top + a[:, None]))).detach().requires_grad_()
    errors, norms = ((w @ x.T - y) ** 2).sum(1), w.norm(dim=1)
    return [*w.detach().flatten(), float((errors.diff() > 0).all()), float((norms.diff() < 0).all())]


observed = partial(minimize, weight=1.0)  # The test sums the squared errors instead of averaging them.


def control(n, d, penalties, steps, seed):
    """Returns weights and both checks if squared errors are averaged, so the penalty counts more."""
    return minimize(n, d, penalties, steps, seed, 1 / n)


CLAIM = Claim(
    id="ridge-regression",
    question="What does ridge regression do to the normal equations?",
    equation=r"w(\alpha) = (X^T X + \alpha I)^{-1} X^T y",
    axes=("weight for each penalty, then order of errors and norms", "weight; 1 if in order"),
    source=Source("derived", "hoerl1970ridge"),
    premises=(
        Premise("the squared errors are summed, not averaged"),
        Premise(
            "descent has converged: examples outnumber dimensions, and steps suffice for the slowest mode",
            lambda n, d, steps: n > d and steps * ((n**0.5 - d**0.5) / (n**0.5 + d**0.5)) ** 2 > np.log(1e8),
        ),
    ),
    grid={"n": (10, 20, 30, 40, 60, 120)},
    parameters={"n": 40, "d": 5, "penalties": (0.1, 1.0, 10.0, 100.0), "steps": 300},
    full={"n": 500, "d": 50, "steps": 1000},
    judge=equals(within=1e-8, because="the remaining error of the slowest mode, with rate 1/5 or more over 300 steps"),
)
