"""Batch norm's backward pass removes two directions from the gradient and divides it by the standard deviation.

For z = scale yhat + shift with yhat = (y - mean) / sigma over m values, the chain rule gives, with g = dL/dz:

    |dL/dy|^2 = (scale / sigma)^2 (|g|^2 - <1, g>^2 / m - <g, yhat>^2 / m)                               (1)

The removed directions are the mean and the normalized values.
Reference: [santurkar2018how], Theorem 4.1, which states an inequality against a network without the layer.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def problem(m, d, seed):
    """Returns values before the layer, a scale for each feature, and coefficients of a loss after it."""
    torch.manual_seed(seed)
    y = 3 * torch.randn(m, d, dtype=torch.float64) + 1
    return y, torch.randn(d, dtype=torch.float64), torch.randn(m, d, dtype=torch.float64)


def predicted(m, d, seed):
    """Returns the squared gradient with respect to the layer's inputs, by the formula, for each feature."""
    y, scale, c = problem(m, d, seed)
    sigma = y.std(0, correction=0)
    hat = (y - y.mean(0)) / sigma
    g = torch.cos(scale * hat + c)
    return (scale / sigma) ** 2 * (g.square().sum(0) - g.sum(0) ** 2 / m - (g * hat).sum(0) ** 2 / m)


def gradients(training, m, d, seed):
    """Returns the squared gradient with respect to the layer's inputs, by autograd, for each feature."""
    y, scale, c = problem(m, d, seed)
    norm = nn.BatchNorm1d(d, eps=1e-30, dtype=torch.float64).train(training)
    norm.weight = nn.Parameter(scale)
    norm.running_mean, norm.running_var = y.mean(0), y.var(0, correction=0)
    y.requires_grad_()
    return torch.autograd.grad(torch.sin(norm(y) + c).sum(), y)[0].square().sum(0)


observed = partial(gradients, training=True)  # In training mode.
control = partial(gradients, training=False)  # Control: in evaluation mode, mean and variance are constants.

CLAIM = Claim(
    id="batchnorm-gradient-lipschitz",
    question="What does batch normalization do to gradients?",
    equation=r"\|\nabla_y L\|^2 = \frac{\gamma^2}{\sigma^2} (\|g\|^2 - \tfrac1m \langle 1, g \rangle^2"
    r" - \tfrac1m \langle g, \hat y \rangle^2)",
    axes=("feature", "squared norm of the gradient"),
    source=Source("theorem", "santurkar2018how", "Theorem 4.1"),
    premises=(
        Premise("the layer normalizes by its own batch"),
        Premise("a batch has three or more values: two become 1 and -1, with gradient zero", lambda m: m >= 3),
    ),
    parameters={"m": 16, "d": 4},
    grid={"m": (2, 4, 8, 16, 32, 64), "d": (2, 3, 4, 5, 8)},
    full={"m": 500, "d": 50},
    judge=equals(rounding=10_000),
)
