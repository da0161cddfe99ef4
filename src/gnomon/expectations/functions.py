"""Checks elementwise functions, and derives new functions from them with autograd.

>>> Derivative(torch.sin)(torch.zeros(2, dtype=torch.float64))
tensor([1., 1.], dtype=torch.float64)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError

__all__ = ["Derivative", "Elementwise", "InputTimesDerivative", "SquaredFunction", "check_elementwise"]

Elementwise = Callable[[Tensor], Tensor]
"""A function of each number separately, from float64 to float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Derivative:
    """The derivative f' of an elementwise function f by autograd; can be differentiated again."""

    function: Elementwise

    def __call__(self, u: Tensor) -> Tensor:
        """Returns the derivative f'(u); zero if the function f does not depend on u."""
        with torch.inference_mode(False), torch.enable_grad():
            deeper = u.requires_grad
            x = u if deeper else u.detach().clone().requires_grad_()
            y = self.function(x)
            if not y.requires_grad:
                return torch.zeros_like(u)
            (slope,) = torch.autograd.grad(y.sum(), x, create_graph=deeper, allow_unused=True)
        return torch.zeros_like(u) if slope is None else slope


@dataclass(frozen=True, slots=True, eq=False)
class InputTimesDerivative:
    """The function u f'(u), with the derivative f' of an elementwise function f."""

    function: Elementwise

    def __call__(self, u: Tensor) -> Tensor:
        """Returns u f'(u), with the derivative f' of the wrapped function f."""
        return u * Derivative(self.function)(u)


@dataclass(frozen=True, slots=True, eq=False)
class SquaredFunction:
    """The function f(u)^2 for an elementwise function f."""

    function: Elementwise

    def __call__(self, u: Tensor) -> Tensor:
        """Returns f(u)^2 for the wrapped function f."""
        return self.function(u) ** 2


def check_elementwise(function: Elementwise) -> None:
    """Raises an error unless a function is elementwise, real, finite and deterministic.

    Cost: four evaluations at 12 points.

    >>> check_elementwise(torch.tanh)
    >>> check_elementwise(lambda x: torch.softmax(x, -1))                        # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gnomon.core.errors.InputError: f(x) changes when x is reshaped (expected ...
    """
    x = torch.tensor([-3.1, -1.7, -1.0, -0.4, -1e-3, 0.0, 2e-3, 0.3, 0.9, 1.0, 1.9, 3.3], dtype=torch.float64)
    with torch.no_grad():
        y = _call(function, x)
        if not isinstance(y, Tensor) or y.shape != x.shape or not y.dtype.is_floating_point:
            kind = f"{y.dtype} of shape {tuple(y.shape)}" if isinstance(y, Tensor) else type(y).__name__
            raise _refusal(f"12 numbers in float64 gave {kind}", "Return one real number for each input number")
        if not bool(torch.isfinite(y).all()):
            raise NotFiniteError(
                f"f({float(x[~torch.isfinite(y)][0]):g}) is not finite",
                accepted="a function with finite E[phi(u)^2]",
                fix="Use a function that is finite on the whole line",
            )
        if not torch.equal(_call(function, x), y):
            raise _refusal("two calls with the same x gave different results", "Remove randomness and internal state")
        order = (5 * torch.arange(len(x)) + 3) % len(x)
        moved, folded = _call(function, x[order]), _call(function, x.view(3, 4))
        tolerance = 1e-12 * (1 + y.abs())  # Vectorized and scalar code may round differently.
        if moved.shape != x.shape or bool(((moved - y[order]).abs() > tolerance[order]).any()):
            raise _refusal("f(x) changes when x is reordered", "Pass an elementwise function")
        if folded.shape != (3, 4) or bool(((folded.flatten() - y).abs() > tolerance).any()):
            raise _refusal("f(x) changes when x is reshaped", "Pass an elementwise function")


def _call(function: Elementwise, x: Tensor) -> Any:
    try:
        return function(x.clone())
    except Exception as error:
        raise _refusal(f"a call with 12 float64 numbers raised '{error}'", "Make it accept any tensor") from error


def _refusal(found: str, fix: str) -> InputError:
    return InputError(found, accepted="an elementwise function", fix=fix)
