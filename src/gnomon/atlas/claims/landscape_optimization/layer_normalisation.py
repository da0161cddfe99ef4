"""Layer norm normalizes each example by the mean and variance of its own features, independently of others.

    y_i = scale (x_i - mean_j x_ij) / sqrt(var_j x_ij + eps) + shift                                     (1)

x_ij is feature j of sample i. Reference: [ba2016layer].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns a batch whose features have different means and spreads."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(1, 3, d) + rng.normal(size=d)


def predicted(n, d, seed):
    """Returns layer norm's outputs by the formula, then 0, the change of an example if the others are replaced."""
    x = problem(n, d, seed)
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return np.concatenate([y, np.zeros((1, d))])


def outputs_and_change(kind, n, d, seed):
    """Returns the layer's outputs, then the change of the first example if all others are replaced."""
    x, layer = torch.from_numpy(problem(n, d, seed)), kind(d, dtype=torch.float64)
    other = torch.cat([x[:1], 3 * torch.randn(n - 1, d, dtype=torch.float64)])
    with torch.no_grad():
        return torch.cat([layer(x), layer(other)[:1] - layer(x)[:1]])


observed = partial(outputs_and_change, kind=nn.LayerNorm)  # Layer normalization.
control = partial(outputs_and_change, kind=nn.BatchNorm1d)  # Control: batch normalization mixes examples of a batch.

CLAIM = Claim(
    id="layer-normalisation",
    question="How does layer normalization differ from batch normalization?",
    equation=r"y_i = \gamma (x_i - \mathrm{mean}_j x_{ij}) / \sqrt{\mathrm{var}_j x_{ij} + \epsilon} + \mu",
    axes=("output, then change of the first sample", "output; change"),
    source=Source("definition", "ba2016layer"),
    premises=(Premise("mean and variance are taken over the features"),),
    parameters={"n": 10, "d": 8},
    full={"n": 1000, "d": 100},
    judge=equals(rounding=1000),
)
