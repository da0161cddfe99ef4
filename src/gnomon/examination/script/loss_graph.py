"""Finds mistakes in the autograd graph of a loss: a wrong sign, softmax applied twice, weights that get no gradient.

>>> import torch
>>> w = torch.ones(1, requires_grad=True)
>>> loss_depends_on(w * 2, {id(w)}), loss_depends_on(w * 2, set())
(True, False)
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from gnomon.examination.script.loss_head import mistake_in_loss, operations_in
from gnomon.examination.script.seen import OptimizerRecord

__all__ = ["LossGraphs", "activation_applied_twice", "is_negated", "loss_depends_on"]

LOSSES = (
    "NllLoss", "NllLoss2D", "NllLossNd", "MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy",
    "BinaryCrossEntropyWithLogits",
)  # fmt: skip
"""Operations of torch that are losses to minimize."""
SHAPES = ("View", "Reshape", "UnsafeView", "Squeeze", "Unsqueeze", "Alias", "ToCopy", "Transpose", "Permute", "T")
"""Operations that only move or copy numbers."""
SCALES = ("Mean", "Sum", "Mul", "Div")
"""Operations that keep the sign of a loss, if they multiply by a positive number."""
FIRST_FUNCTION = {"LogSoftmax": "Softmax", "BinaryCrossEntropyWithLogits": "Sigmoid"}
"""What a loss applies to its inputs, and the operation that applies the same function before it."""
CHECKPOINT_OPERATION = "CheckpointFunction"
"""The operation of torch.utils.checkpoint with use_reentrant=True."""
GRAPHS_READ = 3
"""First backward passes whose whole graphs are read."""
MAX_NODES = 20_000
"""Operations of a graph that are visited at most."""


@dataclass(slots=True, eq=False)
class LossGraphs:
    """Stores which mistakes the autograd graphs of the first losses of a script contain."""

    read: int = 0
    unreaching: int = 0
    negated: list[str] = field(default_factory=list)
    applied_twice: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    operations: list[int] = field(default_factory=list)

    def is_cut_off(self, loss: Tensor, optimizers: Iterable[OptimizerRecord]) -> bool:
        """Checks whether the loss depends on no weight of any optimizer; reads only the graphs of the first losses."""
        if loss.grad_fn is None:
            return True
        if self.read < GRAPHS_READ:
            held = {id(p) for one in optimizers for ref in one.parameters if (p := ref()) is not None}
            self.read += 1
            self.unreaching += bool(held) and not loss_depends_on(loss, held)
            self.negated.append(is_negated(loss))
            self.applied_twice.append(activation_applied_twice(loss))
            self.mistakes.append(mistake_in_loss(loss))
            self.operations.append(operations_in(loss))
        return self.unreaching >= GRAPHS_READ

    @staticmethod
    def common(names: list[str]) -> str:
        """Returns the mistake that the first losses of a script have in common; "" if there is none, or if they
        differ.
        """
        return names[0] if names and len(set(names)) == 1 else ""


def loss_depends_on(loss: Tensor, parameters: Set[int]) -> bool:
    """Checks whether a loss depends on any of these parameters, which are given by ``id``.

    A graph of more than `MAX_NODES` operations counts as reaching them, and so does one with a reentrant checkpoint,
    which hides the weights that it computes with.
    Cost: a walk over the graph.

    >>> import torch
    >>> loss_depends_on(torch.ones(1, requires_grad=True) * 2, {0})
    False
    """
    found = False

    def visit(node: Any) -> bool:
        nonlocal found
        found = found or id(getattr(node, "variable", None)) in parameters or _name(node) == CHECKPOINT_OPERATION
        return found

    return not _walk(loss.grad_fn, visit) or found


def is_negated(loss: Tensor) -> str:
    """Returns the name of the loss function whose negative value this loss is, such as "NllLoss"; "" if it is not
    negated.

    >>> import torch
    >>> is_negated(-torch.nn.functional.mse_loss(torch.ones(1, requires_grad=True), torch.zeros(1)))
    'MseLoss'
    """
    node, sign = loss.grad_fn, 1
    while node is not None:
        name = _name(node)
        if name in LOSSES:
            return name if sign < 0 else ""
        parents = [parent for parent, _ in node.next_functions if parent is not None]
        if name not in (*SHAPES, *SCALES, "Neg") or len(parents) != 1:
            return ""
        factor = getattr(node, "_saved_other", None)
        negative = isinstance(factor, Tensor) and factor.numel() == 1 and bool(factor < 0)
        sign *= -1 if name == "Neg" or negative else 1
        node = parents[0]
    return ""


def activation_applied_twice(loss: Tensor) -> str:
    """Returns "softmax" or "sigmoid" if the network ends in this function and the loss applies it again; otherwise "".

    Cost: a walk over the graph.

    >>> import torch
    >>> logits = torch.zeros(2, 3, requires_grad=True)
    >>> activation_applied_twice(torch.nn.functional.cross_entropy(logits.softmax(1), torch.tensor([0, 1])))
    'softmax'
    """
    found = ""

    def visit(node: Any) -> bool:
        nonlocal found
        first = FIRST_FUNCTION.get(_name(node))
        if first is not None and node.next_functions and _name(_behind_shapes(node.next_functions[0][0])) == first:
            found = first.lower()
        return bool(found)

    _walk(loss.grad_fn, visit)
    return found


def _walk(root: Any, visit: Callable[[Any], bool]) -> bool:
    """Visits the operations of an autograd graph until ``visit`` returns True; returns False if the graph is too
    large.
    """
    todo, known = [root], {root}
    while todo and len(known) <= MAX_NODES:
        node = todo.pop()
        if node is None or visit(node):
            continue
        new = {parent for parent, _ in node.next_functions} - known
        known |= new
        todo.extend(new)
    return len(known) <= MAX_NODES


def _behind_shapes(node: Any) -> Any:
    while node is not None and _name(node) in SHAPES and node.next_functions:
        node = node.next_functions[0][0]
    return node


def _name(node: Any) -> str:
    """Returns the name of an autograd operation without its ending, such as "NllLoss" for "NllLossBackward0"."""
    return type(node).__name__.split("Backward")[0]
