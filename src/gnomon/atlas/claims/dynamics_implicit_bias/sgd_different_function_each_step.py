"""Averaged over random batches, the gradient of a batch is the gradient of the whole loss.

Every example is equally likely to be in a batch, so

    E g_B(w) = g(w)                                                                                           (1)

g_B is the gradient of a batch and g the gradient of the whole loss.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(n, d, seed):
    """Returns examples and labels of two classes, and weights of a logistic regression."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + 0.5
    return x, (rng.uniform(size=n) < 0.3).astype(float), (1 + 0.3 * rng.normal(size=d)) / d**0.5


def predicted(n, d, seed):
    """Returns the gradient of the logistic loss over all examples."""
    x, y, w = problem(n, d, seed)
    return x.T @ (1 / (1 + np.exp(-x @ w)) - y) / n


def gradients(n, d, batch, draws, seed, weights):
    """Returns the gradients of random batches by automatic differentiation."""
    x, y, w = (torch.from_numpy(v) for v in problem(n, d, seed))
    picks = torch.multinomial(weights(y), draws * batch, replacement=True).view(draws, batch)
    copies = w.expand(draws, d).clone().requires_grad_()
    scores = (x[picks] @ copies[:, :, None])[..., 0]
    loss = functional.binary_cross_entropy_with_logits(scores, y[picks], reduction="none").mean(1).sum()
    return torch.autograd.grad(loss, copies)[0]


observed = partial(gradients, weights=torch.ones_like)  # Uniform draws.
control = partial(gradients, weights=lambda y: 1 + 2 * y)  # Control: examples of the rarer class are drawn more often.

CLAIM = Claim(
    id="sgd-different-function-each-step",
    question="What does SGD follow on average, if each step sees only one batch?",
    equation=r"E\, \nabla C_B(w) = \nabla C(w)",
    axes=("weight", "derivative of the loss"),
    source=Source("derived", "robbins1951stochastic"),
    premises=(Premise("every example is equally likely to be drawn"),),
    parameters={"n": 200, "d": 4, "batch": 8, "draws": 4000},
    full={"n": 2000, "d": 10, "draws": 20_000},
    judge=mean_equals(confidence=0.9999, resolution=0.2),
)
