"""Represents elementwise functions such as x * sigmoid(x) as small immutable trees.

A maximal region of elementwise calls with one source is ONE activation: ``0.5 * torch.erf(x / 2.4) + 0.5`` becomes
``Apply("add", (Apply("mul", (0.5, Apply("erf", ...))), 0.5))``, and ``x * torch.sigmoid(x)`` a tree in which the
variable occurs twice.

>>> import torch
>>> tree = Apply("mul", torch.mul, (Variable(), Apply("sigmoid", torch.sigmoid, (Variable(),))))
>>> u = torch.tensor([0.0, 1.0])
>>> torch.equal(evaluate(tree, u), torch.nn.functional.silu(u))
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

__all__ = ["Apply", "Expression", "Variable", "evaluate"]


@dataclass(frozen=True, slots=True)
class Variable:
    """The argument x of an elementwise expression tree, which stands for the preactivation."""


@dataclass(frozen=True, slots=True)
class Apply:
    """The function call ``function(*args, **options)`` in an elementwise expression tree; args are trees or
    constants.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def option(self, name: str, position: int, default: Any) -> Any:
        """Returns the value of an argument of this call, which was given by name or by position."""
        named = dict(self.options)
        return named.get(name, self.args[position] if len(self.args) > position else default)


Expression = Variable | Apply
"""An elementwise function of one variable, as a tree."""


def evaluate(tree: Any, u: Tensor) -> Any:
    """Evaluates an elementwise expression at u; constants evaluate to themselves.

    Cost: the operations of the tree.

    >>> import torch
    >>> evaluate(Apply("neg", torch.neg, (Variable(),)), torch.ones(2))
    tensor([-1., -1.])
    """
    match tree:
        case Variable():
            return u
        case Apply():
            return tree.function(*(evaluate(a, u) for a in tree.args), **dict(tree.options))
        case _:
            return tree


def words(tree: Any) -> str:
    """Returns an elementwise expression as text."""
    match tree:
        case Variable():
            return "x"
        case Apply():
            options = [f"{k}={v!r}" for k, v in tree.options]
            return f"{tree.name}({', '.join([words(a) for a in tree.args] + options)})"
        case float():
            return f"{tree:g}"
        case _:
            return str(tree)
