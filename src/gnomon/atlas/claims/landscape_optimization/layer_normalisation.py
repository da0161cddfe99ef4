"""Layer normalization takes mean and variance over the features of each sample, so that samples do not meet.

    y_i = scale (x_i - mean_j x_ij) / sqrt(var_j x_ij + eps) + shift                                     (1)

for sample i depends on x_i alone. Reference: [ba2016layer].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """A batch."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(1, 3, d) + rng.normal(size=d)


def predicted(n, d, seed):
    """Equation (1), and no change of a sample when the others are replaced."""
    x = problem(n, d, seed)
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return np.concatenate([y, np.zeros((1, d))])


def measured(layer, n, d, seed):
    """Outputs of torch's layer, and how the first sample's output changes when all others are replaced."""
    x = torch.from_numpy(problem(n, d, seed))
    other = torch.cat([x[:1], 3 * torch.randn(n - 1, d, dtype=torch.float64)])
    with torch.no_grad():
        return torch.cat([layer(x), layer(other)[:1] - layer(x)[:1]])


def observed(n, d, seed):
    """nn.LayerNorm."""
    return measured(nn.LayerNorm(d, dtype=torch.float64), n, d, seed)


def control(n, d, seed):
    """nn.BatchNorm1d."""
    return measured(nn.BatchNorm1d(d, dtype=torch.float64), n, d, seed)


CLAIM = Claim(
    id="layer-normalisation",
    title="Layer normalization treats each sample alone",
    equation=r"y_i = \gamma (x_i - \mathrm{mean}_j x_{ij}) / \sqrt{\mathrm{var}_j x_{ij} + \epsilon} + \mu",
    source=Source("theorem", "ba2016layer"),
    premises=(Premise("mean and variance are taken over the features"),),
    parameters={"n": 10, "d": 8},
    full={"n": 1000, "d": 100},
    judge=equals(rounding=1000),
)
