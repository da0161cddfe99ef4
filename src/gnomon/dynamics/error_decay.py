"""Computes how the error along one eigenvector of a kernel decays under gradient flow, gradient descent or momentum.

On a quadratic loss each mode of curvature a is a scalar c with gradient a c - b, started at c = 0. After time t

    c(t) = g_t(a) b,    p_t(a) = 1 - a g_t(a)                                                      (1)

where the *gain* g_t is the learned part of the mode and the *remainder* p_t the remaining part of its error:

    flow       p_t = exp(-a t)                                                                     (2)
    descent    p_t = (1 - lr a)^s,    t = lr s                                                   (3)
    momentum   p_{s+1} = (1 + beta - lr a) p_s - beta p_{s-1},    p_0 = 1,  p_1 = 1 - lr a     (4)

Time is the learning rate lr times the number of steps for all three: with momentum it does not count the factor
1 / (1 - beta) by which heavy-ball momentum moves further in the same time.
Descent converges for 0 < a < 2 / lr, momentum for 0 < a < 2 (1 + beta) / lr.

The update rules themselves are in `gnomon.training`: ``SGD(lr)`` is (3), ``SGD(lr, momentum=beta)`` is (4).

Hypotheses: a >= 0. (4) is ``torch.optim.SGD(momentum=beta)`` without dampening and without Nesterov's change.
Reference: [polyak1964some] for (4).

>>> import torch
>>> error_decay(SGD(0.5)).remainder(torch.tensor([1.0]), torch.tensor([1.0]))   # two steps: (1 - 0.5)^2
tensor([[0.2500]], dtype=torch.float64)
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.results.record import Record
from gnomon.training import SGD
from gnomon.training.optimizers import AbstractOptimizer

__all__ = ["AbstractErrorDecay", "GradientFlow", "error_decay"]


class AbstractErrorDecay(ABC):
    """Base class of optimizers, described by how fast the error along an eigenvector of the kernel falls over time."""

    lr: float
    """Learning rate; 0 for gradient flow, the limit of small steps."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """Returns the smallest product of learning rate and curvature at which training does not converge."""

    @abstractmethod
    def remainder(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:
        """Returns the fraction of the initial error that remains along each eigenvector of the kernel at each time."""

    @abstractmethod
    def gain(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:
        """Returns (1 - p) / a for the remaining error fraction p and curvature a: how far outputs have moved at each
        time.
        """

    @abstractmethod
    def decay(self, rates: Float[Tensor, " r"]) -> Float[Tensor, " r"]:
        """Returns the exponential rate at which the error falls in the long run, for each curvature; negative if it
        grows.
        """

    def clock(self, times: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        """Rounds the times to multiples of the learning rate, which are the times of whole training steps."""
        return self.lr * (times / self.lr).round() if self.lr > 0 else times

    def largest_lr(self, rate: float) -> float:
        """Returns the learning rate from which training does not converge along an eigenvector of curvature
        ``rate``.
        """
        return self.reach / rate if rate > 0 else inf


@dataclass(frozen=True, slots=True)
class GradientFlow(Record, AbstractErrorDecay):
    """Gradient flow, the limit of gradient descent with small steps: errors fall exponentially in time.

    >>> round(float(GradientFlow().remainder(torch.ones(1), torch.ones(1))), 12)      # exp(-1)
    0.367879441171
    """

    lr = 0.0
    name = "gradient flow"
    reach = 2.0

    def to_dict(self) -> dict[str, Any]:
        """Returns the optimizer's name and learning rate as plain values for JSON."""
        return {"name": self.name, "lr": self.lr}

    def remainder(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:  # noqa: D102
        a, t = _grid(rates, times)
        return torch.where(a == 0, 1.0, torch.exp(-a * t))  # (2)

    def gain(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:  # noqa: D102
        a, t = _grid(rates, times)
        return torch.where(a == 0, t, -torch.expm1(-a * t) / a)

    def decay(self, rates: Float[Tensor, " r"]) -> Float[Tensor, " r"]:  # noqa: D102
        return rates.double()


@dataclass(frozen=True, slots=True)
class _Descent(AbstractErrorDecay):
    """Full-batch gradient descent with a fixed learning rate: the error along an eigenvector shrinks by one factor per
    step.
    """

    lr: float
    reach = 2.0

    def remainder(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:  # noqa: D102
        a, t = _grid(rates, times)
        left = torch.pow(1 - self.lr * a, (t / self.lr).round())  # (3)
        return torch.where(t.isinf(), _forever(self.decay(rates), rates), left)

    def gain(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:  # noqa: D102
        a, t = _grid(rates, times)
        # Rates a above 0.5 / lr are clamped here, because `large` below is accurate for them.
        shrink = torch.log1p(-self.lr * a.clamp_max(0.5 / self.lr))
        small = -torch.expm1((t / self.lr).round() * shrink) / a
        large = (1 - self.remainder(rates, times)) / a
        return torch.where(a == 0, self.clock(times)[:, None], torch.where(a * self.lr < 0.5, small, large))

    def decay(self, rates: Float[Tensor, " r"]) -> Float[Tensor, " r"]:  # noqa: D102
        return -(1 - self.lr * rates.double()).abs().log() / self.lr


@dataclass(frozen=True, slots=True)
class _Momentum(AbstractErrorDecay):
    """Full-batch heavy-ball momentum: the error along an eigenvector follows a two-step recursion."""

    lr: float
    beta: float

    @property
    def reach(self) -> float:  # noqa: D102
        return 2 * (1 + self.beta)

    def remainder(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:  # noqa: D102
        a = rates.double()
        turn = torch.zeros(len(a), 2, 2, dtype=torch.float64)
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0] = 1 + self.beta - self.lr * a, -self.beta, 1  # (4)
        start = torch.ones(2, dtype=torch.float64)  # With p_0 = p_{-1} = 1, the first momentum step is p_1 = 1 - lr a.
        return self._powers(turn, start, times, _forever(self.decay(rates), a))

    def gain(self, rates: Float[Tensor, " r"], times: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:  # noqa: D102
        a = rates.double()
        turn = torch.zeros(len(a), 3, 3, dtype=torch.float64)
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 0, 2] = 1 + self.beta - self.lr * a, -self.beta, self.lr
        turn[:, 1, 0] = turn[:, 2, 2] = 1
        start = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
        last = (1 - _forever(self.decay(rates), a)) / a
        return self._powers(turn, start, times, torch.where(a == 0, inf, last))

    def decay(self, rates: Float[Tensor, " r"]) -> Float[Tensor, " r"]:  # noqa: D102
        half = (1 + self.beta - self.lr * rates.double()) / 2
        real = half.abs() + (half**2 - self.beta).clamp_min(0).sqrt()
        size = torch.where(half**2 < self.beta, sqrt(self.beta), real)
        size = torch.where(rates == 0, 1.0, size)  # At rate zero the size is exactly 1, which rounding would miss.
        return -size.log() / self.lr

    def _powers(
        self, turn: Float[Tensor, "r w w"], start: Float[Tensor, " w"], times: Float[Tensor, " t"], last: Tensor
    ) -> Float[Tensor, "t r"]:
        rows = []
        for time in times.tolist():
            powered = last if time == inf else torch.linalg.matrix_power(turn, round(time / self.lr)) @ start
            rows.append(powered if time == inf else powered[:, 0])
        return torch.stack(rows)


@add_call_to_errors
def error_decay(optimizer: GradientFlow | AbstractOptimizer) -> AbstractErrorDecay:
    """Returns an object that computes how errors decay under gradient flow, gradient descent or momentum.

    See equations (2) to (4) of the module docstring.
    Hypotheses: steps along the gradient of the whole data, without weight decay.
    Reference: [polyak1964some].

    >>> error_decay(SGD(0.1)).largest_lr(4.0)                                  # 2 / a
    0.5
    >>> two = error_decay(SGD(0.5, momentum=0.9)).remainder(torch.ones(1), torch.ones(1))  # p_2 = 1.4 x 0.5 - 0.9
    >>> round(float(two), 12)
    -0.2
    """
    if isinstance(optimizer, GradientFlow):
        return optimizer
    if not isinstance(optimizer, SGD):
        raise out_of_range_error("optimizer", "GradientFlow() or SGD(lr, momentum=...)", optimizer)
    if optimizer.decay:
        fix = "Use SGD(lr, momentum=...) without decay; for a penalty toward the initial weights pass penalty="
        raise InputError(f"the optimizer is {optimizer}", accepted="steps along the gradient of the loss", fix=fix)
    return _Momentum(optimizer.lr, optimizer.momentum) if optimizer.momentum else _Descent(optimizer.lr)


def _grid(rates: Tensor, times: Tensor) -> tuple[Tensor, Tensor]:
    return rates.double()[None, :], times.double()[:, None]


def _forever(decay: Tensor, rates: Tensor) -> Tensor:
    """Returns the fraction of the error that remains after infinite training: 0, 1, or infinity if training
    diverges.
    """
    left = torch.where(decay > 0, 0.0, inf).to(torch.float64)
    return torch.where(rates == 0, 1.0, left)
