"""The squared error is convex in the weights of a linear model, but not in the weights of a network.

At the middle of a segment from a to b the loss L of a linear model with inputs X is below the mean of its ends by

    (L(a) + L(b)) / 2 - L((a + b) / 2) = |X (a - b)|^2 / (4 n) >= 0                                      (1)

A tanh network without biases is the same function at (W, v) and (-W, -v), and zero in the middle: there the gap is L -
mean(y^2), which is negative for every network that fits better than zero.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns points, targets, the ends of 50 segments, and weights of a network that fits better than zero."""
    torch.manual_seed(seed)
    x = torch.randn(n, d, dtype=torch.float64)
    y = torch.tanh(x[:, 0] - x[:, 1])
    w = torch.zeros(d, 2, dtype=torch.float64)
    w[0], w[1] = 0.9, -0.9
    v = torch.tensor([0.5, 0.4], dtype=torch.float64)
    return x, y, torch.randn(2, 50, d, dtype=torch.float64), w, v


def predicted(n, d, seed):
    """Returns the convexity gap of each segment for the linear model, then the negative gap of a network."""
    x, y, (a, b), w, v = problem(n, d, seed)
    linear = ((a - b) @ x.T).square().sum(1) / (4 * n)
    rest = (y - 0.9 * torch.tanh(0.9 * (x[:, 0] - x[:, 1]))).square().mean() - y.square().mean()
    return torch.cat([linear, rest[None]])


def gaps(model, n, d, seed):
    """Returns the loss at the ends (mean) minus the middle for each segment, then between two equal networks."""
    x, y, (a, b), w, v = problem(n, d, seed)

    def loss(f):
        return (f - y).square().mean(-1)

    def network(w, v):
        return torch.tanh(x @ w) @ v

    line = (loss(model(a @ x.T)) + loss(model(b @ x.T))) / 2 - loss(model((a + b) / 2 @ x.T))
    middle = network((w - w) / 2, (v - v) / 2)
    return torch.cat([line, ((loss(network(w, v)) + loss(network(-w, -v))) / 2 - loss(middle))[None]])


observed = partial(gaps, model=lambda f: f)  # A linear model.
control = partial(gaps, model=torch.tanh)  # Control: the model is one tanh unit, which is not linear in its weights.

CLAIM = Claim(
    id="convex-vs-nonconvex-loss",
    question="Is the loss of a neural network convex?",
    equation=r"\tfrac12 (L(a) + L(b)) - L(\tfrac{a + b}{2}) = \|X (a - b)\|^2 / (4 n)",
    axes=("segment between two weight vectors", "mean of the ends minus loss in the middle"),
    source=Source("derived"),
    premises=(Premise("the first model is linear in its weights"), Premise("the loss is the mean squared error")),
    parameters={"n": 40, "d": 5},
    full={"n": 2000, "d": 50},
    judge=equals(rounding=10_000),  # tolerance 10,000 x machine precision: a sum of n terms rounds n times
    remark="Not convex jointly in both layers; in the last layer alone the network's loss is convex.",
)
