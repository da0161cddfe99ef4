"""The gradient of the mean squared error over N points has the factor 2 / N; half the sum of squares has the factor 1.

    grad (1/N) sum (y_i - <w, x_i>)^2 = (2/N) X^T (X w - y),    grad (1/2) |X w - y|^2 = X^T (X w - y)   (1)

X has the N inputs x_i as rows, y the targets, and w are the weights.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns random inputs, targets and weights of a linear model."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)


def predicted(n, d, seed):
    """Returns the gradients of the mean squared error and of half the sum of squares."""
    x, y, w = problem(n, d, seed)
    return np.stack([2 / n * x.T @ (x @ w - y), x.T @ (x @ w - y)])


def gradients(n, d, seed, reduction):
    """Returns the gradients of torch's MSE and of half the squared norm by automatic differentiation."""
    x, y, w = (torch.from_numpy(v) for v in problem(n, d, seed))
    w.requires_grad_()
    losses = functional.mse_loss(x @ w, y, reduction=reduction), (x @ w - y).norm() ** 2 / 2
    return torch.stack([torch.autograd.grad(loss, w)[0] for loss in losses])


observed = partial(gradients, reduction="mean")  # The mean.
control = partial(gradients, reduction="sum")  # The sum.

CLAIM = Claim(
    id="loss-mse",
    question="Where does the factor 2 / N in the gradient of the MSE come from?",
    equation=r"\nabla \frac1N \sum_i (y_i - w^T x_i)^2 = \frac2N X^T (X w - y)",
    axes=("weight, for both losses", "derivative of the loss"),
    source=Source("derived"),
    premises=(Premise("the loss is averaged over the points"),),
    parameters={"n": 30, "d": 5},
    full={"n": 10_000, "d": 50},
    judge=equals(rounding=10_000),  # tolerance 10,000 x machine precision: a sum of n terms makes n rounding errors
    remark="The same learning rate moves the weights N / 2 times less with the first convention than with the second.",
)
