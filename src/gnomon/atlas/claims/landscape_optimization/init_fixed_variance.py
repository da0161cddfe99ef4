"""A uniform distribution on [-sqrt(3) s, sqrt(3) s] has variance s^2.

The variance of a uniform distribution on [a, b] is (b - a)^2 / 12:

    (2 sqrt(3) s)^2 / 12 = s^2                                                                           (1)
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(s):
    """Returns s^2, the variance of the weights, for the Gaussian and for the uniform distribution."""
    return [s**2, s**2]


def squares(stretch, s, count):
    """Returns squares of weights from torch's initializers; the uniform distribution ends at +-``stretch`` s."""
    end = stretch * s
    normal, uniform = torch.empty(2, count, dtype=torch.float64)
    nn.init.normal_(normal, std=s), nn.init.uniform_(uniform, -end, end)
    return torch.stack([normal**2, uniform**2], 1)


observed = partial(squares, stretch=3**0.5)  # The uniform distribution ends at +- sqrt(3) s.
control = partial(squares, stretch=1.0)  # Control: the uniform distribution ends at +- s, so its variance is s^2 / 3.

CLAIM = Claim(
    id="init-fixed-variance",
    question="Which uniform distribution has the variance of a Gaussian?",
    equation=r"\mathrm{Var} \, U[-\sqrt3 \sigma, \sqrt3 \sigma] = \sigma^2",
    axes=("Gaussian, then uniform", "mean square of the weights"),
    source=Source("derived"),
    premises=(Premise("the uniform distribution ends at sqrt(3) s"),),
    parameters={"s": 0.3, "count": 100_000},
    full={"count": 5_000_000},
    judge=mean_equals(confidence=0.9999, resolution=0.03),
)
