"""A ReLU network's signal grows or falls exponentially with depth, at the rate log(n E W^2 / 2) (width n, weights W).

Without biases the mean square is multiplied by r = n E W^2 / 2 in each layer on average, with width n and weights W, so

    (1/L) log(|F_L|^2 / |F_0|^2) -> log r    (up to 5 / (2 n), the variance 5 / n of one factor)         (1)

F_L is the signal after L layers. It keeps its size exactly for E W^2 = 2 / n. Reference: [he2015delving], Section 2.2.
"""

import math
from functools import partial

import torch

from gnomon.atlas.check.layers import check_signal_propagation
from gnomon.lab import Claim, Premise, Source, mean_equals

VARIANCE_RATIOS = (0.5, 1.0, 2.0)


def predicted():
    """Returns the predicted rate log r for each factor r = n E W^2 / 2 of width n and weights W."""
    return [math.log(r) for r in VARIANCE_RATIOS]


def rates(activation, nets, width, depth):
    """Returns the measured growth of the log squared signal per layer, for each network and factor r."""
    columns = []
    for r in VARIANCE_RATIOS:
        f = torch.randn(nets, width, 1, dtype=torch.float64)
        start = f.square().sum((1, 2))
        for _ in range(depth):
            f = activation(torch.randn(nets, width, width, dtype=torch.float64) * (2 * r / width) ** 0.5 @ f)
        columns.append((f.square().sum((1, 2)) / start).log() / depth)
    return torch.stack(columns, 1)


observed = partial(rates, activation=torch.relu)  # ReLU.
control = partial(rates, activation=lambda z: z)  # Control: no activation, which adds log 2 to the growth rate.

CLAIM = Claim(
    id="vanishing-exploding-criterion",
    question="When do signals vanish or explode in a ReLU network?",
    equation=r"\frac1L \log \frac{\|F_L\|^2}{\|F_0\|^2} \to \log \rho, \quad \rho = \tfrac n2 E W^2",
    axes=("variance factor r = 0.5, 1, 2", "growth of log |signal|^2 per layer"),
    source=Source("theorem", "he2015delving", "Section 2.2"),
    premises=(Premise("the activation is a ReLU"),),
    parameters={"nets": 50, "width": 100, "depth": 15},
    full={"nets": 60, "width": 160, "depth": 20},
    judge=mean_equals(confidence=0.9999, within=0.036, because="5 / (2 n) = 0.025 at width 100, over log 2"),
    check=check_signal_propagation,
)
