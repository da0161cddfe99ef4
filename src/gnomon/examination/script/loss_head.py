"""Finds mistakes in the last operations of a loss, from its autograd graph: shapes that are broadcast, and softmax.

>>> import torch
>>> outputs, targets = torch.zeros(5, 1, requires_grad=True), torch.arange(5.0)
>>> mistake_in_loss(((outputs - targets) ** 2).mean())
'loss-broadcast'
"""

from typing import Any

from torch import Tensor

__all__ = ["mistake_in_loss", "operations_in"]

PASSED = (
    "Mean", "Sum", "Mul", "Div", "Neg", "Add", "Pow", "Abs", "Sqrt", "Square", "MseLoss", "L1Loss", "SmoothL1Loss",
    "HuberLoss", "View", "Reshape", "UnsafeView", "Alias", "ToCopy",
)  # fmt: skip
"""Operations between a loss and the difference of outputs and targets."""
MAX_LOG_PROBABILITY = 1e-3
"""Logarithms of probabilities are at most 0, apart from rounding."""
MAX_OPERATIONS = 20_000
"""Operations of a graph that are counted at most."""


def mistake_in_loss(loss: Tensor) -> str:
    """Returns the kind of mistake in the last operations of a loss; "" if there is none.

    "loss-broadcast": outputs of shape (n, 1) and targets of shape (n,) were broadcast to n x n differences, or the
    reverse. "nll-without-log-softmax": NLLLoss got positive numbers. "softmax-over-batch": log_softmax normalizes over
    the examples.

    >>> import torch
    >>> logits, labels = torch.eye(3, requires_grad=True), torch.arange(3)
    >>> nll_loss, log_softmax = torch.nn.functional.nll_loss, torch.nn.functional.log_softmax
    >>> mistake_in_loss(nll_loss(logits, labels)), mistake_in_loss(nll_loss(log_softmax(logits, 0), labels))
    ('nll-without-log-softmax', 'softmax-over-batch')
    >>> mistake_in_loss(nll_loss(log_softmax(logits, 1), labels))
    ''
    """
    node = loss.grad_fn
    while node is not None:
        name = _name(node)
        parents = [(parent, place) for parent, place in node.next_functions if parent is not None]
        if name.startswith("NllLoss"):
            return _mistake_in_nll(node, parents)
        if len(parents) != 1:
            return ""
        if name in ("Sub", "Rsub", "Expand") and _is_broadcast(node, *parents[0]):
            return "loss-broadcast"
        if name not in (*PASSED, "Sub", "Rsub"):
            return ""
        node = parents[0][0]
    return ""


def operations_in(loss: Tensor) -> int:
    """Returns the number of operations in the autograd graph of a loss, without its weights.

    Cost: a walk over the graph.

    >>> import torch
    >>> operations_in((torch.ones(2, requires_grad=True) * 3).sum())
    2
    """
    todo, known = [loss.grad_fn], {loss.grad_fn}
    while todo and len(known) <= MAX_OPERATIONS:
        node: Any = todo.pop()
        new = {parent for parent, _ in node.next_functions if parent is not None} - known
        known |= new
        todo.extend(new)
    return sum(_name(node) != "AccumulateGrad" for node in known)


def _mistake_in_nll(node: Any, parents: list[tuple[Any, int]]) -> str:
    inputs = node._saved_self
    if inputs.numel() and float(inputs.detach().max()) > MAX_LOG_PROBABILITY:
        return "nll-without-log-softmax"
    before = parents[0][0] if parents else None
    if before is None or _name(before) != "LogSoftmax" or inputs.dim() < 2 or len(inputs) < 2:
        return ""
    return "softmax-over-batch" if before._saved_dim in (0, 2**64 - inputs.dim()) else ""


def _is_broadcast(node: Any, parent: Any, place: int) -> bool:
    """Checks whether n outputs became n x n numbers; the other operand has no gradient, as targets do."""
    after, before = tuple(node._input_metadata[0].shape), tuple(parent._input_metadata[place].shape)
    return len(after) == 2 and after[0] == after[1] > 1 and before in ((after[0], 1), (1, after[0]), after[:1])


def _name(node: Any) -> str:
    return type(node).__name__.split("Backward")[0]
