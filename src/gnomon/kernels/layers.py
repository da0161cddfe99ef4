"""Predicts two numbers for every layer of an infinitely wide network: signal size, and how similar two inputs become.

    q_l = mean_i K_l(x_i, x_i),    c_l = mean_{i != j} K_l(x_i, x_j) / sqrt(K_l(x_i, x_i) K_l(x_j, x_j))           (1)

K_l is the covariance of one unit at layer l over the initialization. Reference: [poole2016exponential].

>>> LimitLayer("0", "Dense", 1.0, 0.5).kind
'Dense'
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results.record import Record
from gnomon.kernels import propagate
from gnomon.kernels.inputs import points, takes_tokens
from gnomon.kernels.limit import Limit
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.base import diagonal


@dataclass(frozen=True, slots=True)
class LimitLayer(Record):
    """What theory predicts after one layer of an infinitely wide network: mean square, and correlation between
    inputs.
    """

    where: str
    kind: str
    second_moment: float
    correlation: float


@add_call_to_errors
def limit_layers(limit: Limit, x: Any) -> tuple[LimitLayer, ...]:
    """Returns the predicted mean squares and correlations after every layer of an infinitely wide network, on a few
    points.

        q_l = mean_i K_l(x_i, x_i)                                                                           (1)

    With ``limit(net, init="measured")`` the law is measured on the current weights.

    Hypotheses: as for the limit; at least two points.
    Reference: [poole2016exponential], [schoenholz2017deep].
    Cost: the NNGP of the points by the reference engine; a few dozen points are enough.

    >>> from torch import nn
    >>> from gnomon.program import InitializationLaw
    >>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> found = limit_layers(Limit(net, init=InitializationLaw(2.0)), torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    >>> [round(v.second_moment, 6) for v in found]           # x: 1, times 4, half of it, times 4
    [1.0, 4.0, 2.0, 8.0]
    """
    data = points(x, "x", tokens=takes_tokens(limit.module))
    made = limit.plan(data)
    with torch.no_grad():
        seen = propagate.features(made, data)
        stats = propagate.statistics(made, seen)
        same = torch.eye(len(data), dtype=torch.bool, device=data.device)
        steps = propagate.walk(made, (seen, seen), (stats, stats), tangent=False, same=same)
        return tuple(_layer(made, i, pair.nngp) for i, pair in enumerate(steps))


def _layer(made: LimitPlan, i: int, covariance: Tensor) -> LimitLayer:
    step = made.program.steps[i]
    k = diagonal(covariance, 2, len(step.grid)) if made.full[i] else covariance
    own = k.diagonal(dim1=0, dim2=1).movedim(-1, 0)
    scale = (own[:, None] * own[None]).sqrt().clamp(min=1e-300)
    off = ~torch.eye(len(k), dtype=torch.bool, device=k.device)
    cosine = float((k / scale)[off].mean()) if len(k) > 1 else 1.0
    return LimitLayer(step.where, type(step.op).__name__, float(own.mean()), cosine)  # (1)
