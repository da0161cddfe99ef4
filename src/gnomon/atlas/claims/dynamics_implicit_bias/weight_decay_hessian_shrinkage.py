"""Weight decay a multiplies weights along Hessian eigenvalue l by l / (l + a), so flat directions shrink most.

The minimum of (1/2)(w - w*)^T H (w - w*) + (a/2)|w|^2 is at H (w - w*) + a w = 0, that is

    w = (H + a I)^-1 H w* = sum_i  l_i / (l_i + a)  q_i <q_i, w*>                                              (1)

l_i and q_i are eigenvalues and eigenvectors of the Hessian H, a is the weight decay, and w* the minimum without it.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns examples with columns of different sizes, and the weights that give the targets exactly."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.geomspace(0.3, 2, d), 2 * rng.normal(size=d)


def predicted(n, d, decay, seed):
    """Returns the weights that minimize the loss with weight decay, computed from the Hessian X^T X / n."""
    x, best = problem(n, d, seed)
    values, q = np.linalg.eigh(x.T @ x / n)
    return q @ (values / (values + decay) * (q.T @ best))


def descend(n, d, decay, steps, seed, slope):
    """Returns the weights after descent with weight decay; ``slope`` is the derivative of a residual's loss."""
    x, best = problem(n, d, seed)
    w, rate = 0 * best, 1 / (np.linalg.norm(x, 2) ** 2 / n + decay)
    for _ in range(steps):
        w = w - rate * (x.T @ slope(x @ (w - best)) / n + decay * w)
    return w


observed = partial(descend, slope=lambda r: r)  # The test's loss is half the squared residual, a quadratic.
control = partial(descend, slope=np.tanh)  # Control: log cosh of the residual, not quadratic but of equal Hessian at 0.

CLAIM = Claim(
    id="weight-decay-hessian-shrinkage",
    question="Which weights does weight decay shrink most?",
    equation=r"\tilde w = (H + \alpha I)^{-1} H w^*",
    axes=("weight", "weight after training"),
    source=Source("derived", "krogh1992simple"),
    premises=(
        Premise("the loss is quadratic up to its minimum"),
        Premise("descent has converged", lambda decay, steps: decay * steps >= 100),
    ),
    parameters={"n": 60, "d": 8, "decay": 0.2, "steps": 1000},
    full={"n": 1000, "d": 30, "steps": 3000},
    judge=equals(within=1e-8, because="the remaining error of the slowest mode: rate * decay >= 1/40, over 1000 steps"),
    remark="The second order of Taylor has a factor 1/2 that is often left out in print.",
)
