"""A uniform law on [-sqrt(3) s, sqrt(3) s] has the variance of a Gaussian of standard deviation s.

The variance of a uniform law on [a, b] is (b - a)^2 / 12:

    (2 sqrt(3) s)^2 / 12 = s^2                                                                           (1)
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(s):
    """s^2 for the Gaussian and for the uniform law."""
    return [s**2, s**2]


def squares(end, s, count):
    """Squares of weights drawn by torch's initializers."""
    normal, uniform = torch.empty(2, count, dtype=torch.float64)
    nn.init.normal_(normal, std=s), nn.init.uniform_(uniform, -end, end)
    return torch.stack([normal**2, uniform**2], 1)


def observed(s, count):
    """Ends at sqrt(3) s."""
    return squares(3**0.5 * s, s, count)


def control(s, count):
    """Ends at s."""
    return squares(s, s, count)


CLAIM = Claim(
    id="init-fixed-variance",
    title="A uniform law on [-sqrt(3) s, sqrt(3) s] has the variance of a Gaussian of standard deviation s",
    equation=r"\mathrm{Var} \, U[-\sqrt3 \sigma, \sqrt3 \sigma] = \sigma^2",
    source=Source("derived"),
    premises=(Premise("the uniform law ends at sqrt(3) s"),),
    parameters={"s": 0.3, "count": 100_000},
    full={"count": 5_000_000},
    judge=mean_equals(confidence=0.9999, resolution=0.03),
)
