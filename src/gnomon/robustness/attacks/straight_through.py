"""Straight-through gradients: the backward pass treats step functions such as rounding as the identity.

    forward  y = round(x),      backward  dL/dx = dL/dy                                                      (1)

Rounding, floors and signs have derivative zero, so an attack cannot see in which direction scores fall.
Straight-through gradients show this direction. They change only the search, not the values.
Reference: [bengio2013estimating] for (1), [athalye2018obfuscated] for its use against masked gradients.

>>> import torch
>>> x = torch.tensor([0.3], requires_grad=True)
>>> with StraightThrough():
...     y = torch.round(3 * x)
>>> y.item(), torch.autograd.grad(y, x)[0].item()
(1.0, 3.0)
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

__all__ = ["StraightThrough"]

STEPS: frozenset[Callable[..., Any]] = frozenset({
    torch.round, torch.floor, torch.ceil, torch.trunc, torch.fix, torch.sign, torch.sgn,
    Tensor.round, Tensor.floor, Tensor.ceil, Tensor.trunc, Tensor.fix, Tensor.sign, Tensor.sgn,
})  # fmt: skip
"""Functions with derivative zero that keep the shape of their first argument."""


class StraightThrough(TorchFunctionMode):
    """Context in which the backward pass treats step functions such as rounding as the identity."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Returns the value of the function, with the derivative of the identity if it is a step function."""
        value = func(*args, **(kwargs or {}))
        if func in STEPS and isinstance(value, Tensor) and value.is_floating_point():
            return args[0] + (value - args[0]).detach()  # (1)
        return value
