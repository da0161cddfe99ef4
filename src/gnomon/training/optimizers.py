"""Defines optimizers as frozen objects without state: gradient descent with momentum, and Adam.

With the gradient g of the mean loss over a batch, elementwise for each parameter w,

    SGD    v <- momentum v + g + decay w,    w <- w - lr v                                          (1)
    Adam   m <- b1 m + (1 - b1) g,    v <- b2 v + (1 - b2) g^2
           w <- w - lr (m / (1 - b1^s) / (sqrt(v / (1 - b2^s)) + eps) + decay w)                  (2)

(1) is ``torch.optim.SGD`` without dampening and without Nesterov's change; (2) is ``torch.optim.AdamW``, whose decay
does not pass through the moments, and with ``decay=0`` also ``torch.optim.Adam``. Like those they leave a parameter
alone that the loss does not depend on. Running averages are kept by the loop, so that one object serves any number of
runs.

Reference: [polyak1964some] for (1), [kingma2015adam] and [loshchilov2019decoupled] for (2).

>>> import torch
>>> rule, w = SGD(0.5), torch.ones(2)
>>> rule.move([w], lambda: (w.sum(), [torch.tensor([1.0, 0.0])]), rule.memory([w]), 1)
>>> w
tensor([0.5000, 1.0000])
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_number
from gnomon.core.results.plain import public_fields

__all__ = ["AbstractOptimizer", "Adam", "SGD"]

Slope = Callable[[], tuple[Tensor, Sequence[Tensor | None]]]
"""Returns the loss and its gradients at the current parameters, recomputed at each call; a gradient is None if
the loss does not depend on the parameter."""


class AbstractOptimizer(ABC):
    """Interface of optimizers: objects that update parameters from gradients."""

    lr: float
    """Learning rate."""

    name: str
    """The name of the rule in a sentence."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the optimizer's name and options as plain values for JSON."""
        return {"name": self.name, **public_fields(self)}

    @abstractmethod
    def memory(self, parameters: Sequence[Tensor]) -> Any:
        """Returns the optimizer's state before the first step, such as running averages, which each step then
        updates.
        """

    @abstractmethod
    def move(self, parameters: Sequence[Tensor], slope: Slope, memory: Any, count: int) -> None:
        """Takes one optimizer step: updates the parameters in place, for step number ``count`` (from 1)."""


@dataclass(frozen=True, slots=True)
class SGD(AbstractOptimizer):
    """Gradient descent on all examples or on batches, with heavy-ball momentum.

    >>> SGD(0.1, momentum=0.9)
    SGD(lr=0.1, momentum=0.9, decay=0.0)
    """

    lr: float
    momentum: float = 0.0
    decay: float = 0.0

    @add_call_to_errors
    def __post_init__(self) -> None:
        _check(self.lr, self.decay, momentum=self.momentum)

    @property
    def name(self) -> str:  # type: ignore[override]  # noqa: D102
        return "momentum" if self.momentum else "gradient descent"

    def memory(self, parameters: Sequence[Tensor]) -> list[list[Tensor]]:  # noqa: D102
        return [[torch.zeros_like(w) for w in parameters]] if self.momentum else []

    @torch.no_grad()
    def move(self, parameters: Sequence[Tensor], slope: Slope, memory: Any, count: int) -> None:  # noqa: D102
        for i, (w, g) in enumerate(zip(parameters, slope()[1], strict=True)):
            if g is None:
                continue
            g = g.add(w, alpha=self.decay) if self.decay else g
            v = memory[0][i].mul_(self.momentum).add_(g) if self.momentum else g
            w.sub_(v, alpha=self.lr)  # (1)


@dataclass(frozen=True, slots=True)
class Adam(AbstractOptimizer):
    """The Adam optimizer: scales steps by running averages of the gradient and its square.

    See equation (2) of the module docstring.

    >>> Adam(1e-3).name
    'Adam'
    """

    lr: float = 1e-3
    b1: float = 0.9
    b2: float = 0.999
    eps: float = 1e-8
    decay: float = 0.0
    name = "Adam"

    @add_call_to_errors
    def __post_init__(self) -> None:
        _check(self.lr, self.decay, b1=self.b1, b2=self.b2)

    def memory(self, parameters: Sequence[Tensor]) -> list[list[Tensor]]:  # noqa: D102
        return [[torch.zeros_like(w) for w in parameters] for _ in range(2)]

    @torch.no_grad()
    def move(self, parameters: Sequence[Tensor], slope: Slope, memory: Any, count: int) -> None:  # noqa: D102
        first, second = 1 - self.b1**count, sqrt(1 - self.b2**count)
        for w, g, m, v in zip(parameters, slope()[1], *memory, strict=True):
            if g is None:
                continue
            m.mul_(self.b1).add_(g, alpha=1 - self.b1)
            v.mul_(self.b2).addcmul_(g, g, value=1 - self.b2)
            if self.decay:
                w.mul_(1 - self.lr * self.decay)
            w.addcdiv_(m, v.sqrt().div_(second).add_(self.eps), value=-self.lr / first)  # (2)


def _check(lr: Any, decay: Any, **rates: Any) -> None:
    check_number("lr", lr, above=0)
    if check_number("decay", decay) < 0:
        raise out_of_range_error("decay", "a number of at least 0", decay)
    for name, rate in rates.items():
        if not 0 <= check_number(name, rate) < 1:
            raise out_of_range_error(name, "at least 0 and below 1, such as 0.9", rate)
