"""With an L2 penalty, training forgets its initial weights; without one, they decide which solution is found.

Least squares with more weights than examples. With the penalty (a/2)|w|^2 the minimum is unique; without it the limit
is the solution nearest to the start w_0:

    penalty: w_inf = X^T (X X^T + a I)^-1 y,    none: w_inf = w_0 + X^T (X X^T)^-1 (y - X w_0)               (1)

X are the examples, y the targets.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, weights, starts, seed):
    """Returns examples, targets and several starting weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, weights)), rng.normal(size=n), rng.normal(size=(starts, weights))


def predicted(n, weights, starts, penalty, seed):
    """Returns the norm of the final weights from each start, without and then with the penalty."""
    x, y, w0 = problem(n, weights, starts, seed)
    free = w0 + np.linalg.solve(x @ x.T, (y - w0 @ x.T).T).T @ x
    held = x.T @ np.linalg.solve(x @ x.T + penalty * np.eye(n), y)
    return [*np.linalg.norm(free, axis=1), *[np.linalg.norm(held)] * starts]


def final_norms(x, y, w0, penalty, steps, slowest):
    """Returns final norms per start; learning rates of the weights fall from 1 to ``slowest`` times the largest."""
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    w, rate = torch.from_numpy(w0).requires_grad_(), 1 / (torch.linalg.matrix_norm(x, 2) ** 2 + penalty)
    rate = rate * torch.linspace(1, slowest, w.shape[1])
    for _ in range(steps):
        loss = 0.5 * ((w @ x.T - y) ** 2).sum() + 0.5 * penalty * (w**2).sum()
        w = (w - rate * torch.autograd.grad(loss, w)[0]).detach().requires_grad_()
    return w.detach().norm(dim=1)


def norms(slowest, n, weights, starts, penalty, steps, seed):
    """Returns the final norms from each start, without and then with the penalty."""
    x, y, w0 = problem(n, weights, starts, seed)
    return torch.cat([final_norms(x, y, w0, p, steps, slowest) for p in (0.0, penalty)])


observed = partial(norms, slowest=1.0)  # All weights have the same learning rate.
control = partial(norms, slowest=0.5)  # Control: the last weights have half the learning rate of the first ones.


CLAIM = Claim(
    id="explicit-vs-implicit-regularisation",
    question="What decides which solution training finds: the penalty or the start?",
    equation=r"w_\infty = w_0 + X^T (X X^T)^{-1} (y - X w_0)",
    axes=("start (without penalty, then with penalty)", "norm of the final weights"),
    source=Source("derived"),
    premises=(
        Premise("all weights have the same learning rate"),
        Premise("there are more weights than examples", lambda n, weights: weights > n),
        Premise(
            "training is long enough for the penalty to erase the start",
            lambda n, weights, penalty, steps: weights < 1e-6 * (1 + penalty / (n**0.5 + weights**0.5) ** 2) ** steps,
        ),
    ),
    grid={"penalty": (1.2, 3.8, 5.0, 7.5, 15.0)},
    parameters={"n": 8, "weights": 40, "starts": 3, "penalty": 5.0, "steps": 400},
    full={"n": 20, "weights": 200, "starts": 10, "penalty": 10.0, "steps": 1000},
    judge=equals(within=1e-6, because="the influence of the start decays by 5/90 per step, over 400 steps"),
)
