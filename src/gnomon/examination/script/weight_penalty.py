"""Finds a penalty on the weights that a loss subtracts, from the autograd graph of the loss.

>>> import torch
>>> w = torch.ones(3, requires_grad=True)
>>> subtracts_penalty((w * 2).sum() - w.pow(2).sum()), subtracts_penalty((w * 2).sum() + w.pow(2).sum())
(True, False)
"""

from typing import Any

from torch import Tensor

__all__ = ["subtracts_penalty"]

LINEAR_OPERATIONS = (
    "Add",
    "Sub",
    "Rsub",
    "Neg",
    "Mul",
    "Div",
    "Sum",
    "Mean",
    "Stack",
    "Cat",
    "Select",
    "Squeeze",
    "Unsqueeze",
)
"""Operations between a loss and its penalty on weights."""
SHAPE_OPERATIONS = ("View", "Reshape", "UnsafeView", "Alias", "ToCopy", "Transpose", "T", "Clone", "Cat")
"""Operations that only move or copy numbers."""
SIZE_OPERATIONS = ("Abs", "Norm", "LinalgVectorNorm", "LinalgMatrixNorm")
"""Operations whose result grows with the size of the weights."""
MAX_OPERATIONS = 3000
"""Operations that are visited at most."""


def subtracts_penalty(loss: Tensor) -> bool:
    """Checks whether a loss subtracts a norm, the absolute values or an even power of weights, and adds none.

    Cost: a walk over the operations between the loss and the penalty.

    >>> import torch
    >>> w = torch.ones(3, requires_grad=True)
    >>> subtracts_penalty(w.sum() - w.abs().sum())
    True
    """
    signs: set[int] = set()
    todo: list[tuple[Any, int]] = [(loss.grad_fn, 1)]
    visited = 0
    while todo and visited < MAX_OPERATIONS:
        node, sign = todo.pop()
        visited += 1
        name = _name(node)
        if _is_size_of_weights(node, name):
            signs.add(sign)
        elif name in LINEAR_OPERATIONS:
            factor = _sign_of_factor(node, name)
            for place, (parent, _) in enumerate(node.next_functions):
                if parent is not None:
                    todo.append((parent, sign * factor * _sign_of_operand(node, name, place)))
    return signs == {-1}


def _sign_of_operand(node: Any, name: str, place: int) -> int:
    """Returns the sign with which an operand enters a sum or a difference."""
    negative = (name == "Sub" and place == 1) or (name == "Rsub" and place == 0)
    alpha = getattr(node, "_saved_alpha", 1) if name in ("Add", "Sub", "Rsub") and place == 1 else 1
    return -1 if negative != (not isinstance(alpha, complex) and alpha < 0) else 1


def _sign_of_factor(node: Any, name: str) -> int:
    if name == "Neg":
        return -1
    if name not in ("Mul", "Div"):
        return 1
    factor = getattr(node, "_saved_other", None)
    negative = isinstance(factor, Tensor) and factor.numel() == 1 and not factor.requires_grad and bool(factor < 0)
    return -1 if negative else 1


def _is_size_of_weights(node: Any, name: str) -> bool:
    parents = [parent for parent, _ in node.next_functions if parent is not None]
    if name == "Mul":
        return len(parents) == 2 and parents[0] is parents[1] and _is_weights(parents[0])
    if name == "Pow":
        exponent = getattr(node, "_saved_exponent", None)
        even = isinstance(exponent, int | float) and exponent > 0 and exponent % 2 == 0
        return even and _is_weights(parents[0])
    return name in SIZE_OPERATIONS and bool(parents) and _is_weights(parents[0])


def _is_weights(node: Any) -> bool:
    """Checks whether a node is a weight, or weights of which only the shape was changed."""
    while node is not None and _name(node) in SHAPE_OPERATIONS and node.next_functions:
        node = node.next_functions[0][0]
    return node is not None and _name(node) == "AccumulateGrad"


def _name(node: Any) -> str:
    return type(node).__name__.split("Backward")[0]
