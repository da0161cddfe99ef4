"""The noise of gradients: how many examples a batch needs before more of them stop helping.

    B = tr(Sigma) / |G|^2,    Sigma = covariance of one example's gradient, G = the mean gradient                (1)

Sigma is estimated from the gradients of groups of b examples, whose covariance is Sigma / b; |G|^2 is made unbiased by
taking tr(Sigma) / n off. Reference: [mccandlish2018empirical], appendix A.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.arrays import Array
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs, take
from gnomon.core.losses import AbstractLoss
from gnomon.core.pure import Pure, evaluating, undisturbed
from gnomon.training.evaluate import Points, by_targets

CALL = "noise_scale(module, x, y)"


@dataclass(frozen=True, slots=True)
class NoiseScale:
    """B of equation (1) with an interval of two standard errors (jackknife over groups), and its two parts."""

    value: float
    low: float
    high: float
    variance: float
    signal: float

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.value == inf:
            return "The mean gradient drowns in noise: no batch of this size sees it."
        return f"Batches of about {max(1, round(self.value))} examples hold as much signal as noise."

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {name: getattr(self, name) for name in self.__slots__}


def noise_scale(
    module: nn.Module, x: Inputs, y: Array, *, loss: AbstractLoss | None = None, groups: int = 32, seed: int = 0
) -> NoiseScale:
    """The simple noise scale: the batch size at which noise and signal of a gradient are equal.

        B = tr(Sigma) / |G|^2                                                                                (1)

    Hypotheses: examples are independent draws; at least four groups.
    Reference: [mccandlish2018empirical].
    Cost: one forward and backward pass over the examples; ``groups`` gradients are held.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> x, y = torch.ones(64, 1), torch.ones(64)
    >>> noise_scale(net, x, y).variance < 1e-9                                   # equal examples: no noise
    True
    """
    with undisturbed(module), evaluating(module), torch.enable_grad():
        loss = by_targets(y) if loss is None else loss
        points, f = Points.of(x, y, module, loss, CALL), Pure.of(module, call=CALL)
        count = min(groups, points.n)
        if count < 4:
            found = f"{points.n} examples in {count} groups"
            raise InputError(lesson(CALL, found, "at least four groups", "Pass more examples"))
        each = points.n // count
        order = torch.randperm(points.n, generator=torch.Generator().manual_seed(seed))[: each * count]
        rows = [_gradient(f, loss, points, index) for index in order.split(each)]
    g = torch.stack(rows).double()
    value, variance, signal = _scale(g, each)
    left = torch.tensor([_scale(torch.cat([g[:i], g[i + 1 :]]), each)[0] for i in range(count)], dtype=torch.float64)
    if not bool(torch.isfinite(left).all()) or value == inf:
        return NoiseScale(value, 0.0 if value == inf else value / 2, inf, variance, signal)
    error = sqrt((count - 1) / count * float((left - left.mean()).square().sum()))
    return NoiseScale(value, max(0.0, value - 2 * error), value + 2 * error, variance, signal)


def _gradient(f: Pure, loss: AbstractLoss, points: Points, index: Tensor) -> Tensor:
    leaves = list(f.leaves.values())
    value = loss.value(f(take(points.x, index)), points.targets[index])
    grads = torch.autograd.grad(value, leaves, allow_unused=True)
    return torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in zip(grads, leaves, strict=True)])


def _scale(g: Tensor, each: int) -> tuple[float, float, float]:
    """Equation (1) from gradients of groups."""
    mean = g.mean(0)
    variance = each * float((g - mean).square().sum()) / (len(g) - 1)
    signal = float(mean.square().sum()) - variance / (len(g) * each)
    return (variance / signal if signal > 0 else inf), variance, signal
