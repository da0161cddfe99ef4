"""Batch normalization gives each feature the mean and the standard deviation set by its two parameters.

    y = shift + scale (x - mean) / sqrt(variance + eps)                                                  (1)

Mean and variance (divided by n) are taken over the batch. Reference: [ioffe2015batch], Algorithm 1.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns a batch with features of different means and spreads, and the layer's scale and shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * rng.uniform(1, 5, d) + rng.normal(size=d)
    return x, rng.normal(size=d), rng.normal(size=d)


def predicted(n, d, eps, seed):
    """Returns batch norm's output by the formula, then the mean and the variance of each feature."""
    x, scale, shift = problem(n, d, seed)
    v = x.var(0)
    return np.concatenate([shift + scale * (x - x.mean(0)) / np.sqrt(v + eps), [shift, scale**2 * v / (v + eps)]])


def layer(training, n, d, eps, seed):
    """Returns the output of torch's BatchNorm1d, then the mean and the variance of each feature."""
    x, scale, shift = (torch.from_numpy(v) for v in problem(n, d, seed))
    norm = torch.nn.BatchNorm1d(d, eps=eps, dtype=torch.float64).train(training)
    with torch.no_grad():
        norm.weight.copy_(scale), norm.bias.copy_(shift)
        y = norm(x)
    return torch.cat([y, y.mean(0, keepdim=True), y.var(0, correction=0, keepdim=True)])


observed = partial(layer, training=True)  # In training mode.
control = partial(layer, training=False)  # Control: in evaluation mode the layer uses running averages, not the batch.

CLAIM = Claim(
    id="batch-normalisation",
    question="What does batch normalization compute?",
    equation=r"\bar f = \mu + \gamma (f - E f) / \sqrt{\mathrm{Var} f + \epsilon}",
    axes=("output of the layer, then mean and variance of each feature", "output; mean; variance"),
    source=Source("definition", "ioffe2015batch", "Algorithm 1"),
    premises=(Premise("mean and variance come from the batch"),),
    parameters={"n": 20, "d": 5, "eps": 1e-5},
    full={"n": 1000, "d": 50},
    judge=equals(rounding=10_000),
    remark="torch divides by n in the forward pass, and by n - 1 in the running variance.",
)
