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
CHOOSING_OPERATIONS = ("Index", "IndexSelect", "Slice", "Select", "View", "Reshape", "UnsafeView", "Alias")
"""Operations between log_softmax and a loss of chosen rows."""
VIEW_OPERATIONS = ("View", "Reshape", "UnsafeView", "ReshapeAlias", "Alias", "ToCopy")
"""Operations that keep the numbers in their order and may change the shape."""
MAX_LOG_PROBABILITY = 1e-3
"""Logarithms of probabilities are at most 0, apart from rounding."""
MAX_OPERATIONS = 20_000
"""Operations of a graph that are counted at most."""


def mistake_in_loss(loss: Tensor) -> str:
    """Returns the kind of mistake in the last operations of a loss; "" if there is none.

    "loss-broadcast": outputs of shape (n, 1) and targets of shape (n,) were broadcast to n x n differences, or the
    reverse. "nll-without-log-softmax": NLLLoss got positive numbers. "softmax-over-batch": log_softmax normalizes over
    the examples. "reshaped-axes": a view gives (n, positions, classes) the shape (n, classes, positions), which mixes
    classes and positions.

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
    while before is not None and _name(before) in CHOOSING_OPERATIONS and before.next_functions:
        before = before.next_functions[0][0]  # The loss of chosen rows, such as the training nodes of a graph.
    if before is None or _name(before) != "LogSoftmax":
        return ""
    shape = before._input_metadata[0].shape
    if len(shape) < 2 or shape[0] < 2:
        return ""
    if before._saved_dim in (0, 2**64 - len(shape)):
        return "softmax-over-batch"
    return "reshaped-axes" if _exchanges_axes(*before.next_functions[0]) else ""


def _exchanges_axes(node: Any, place: int) -> bool:
    """Checks whether a view before the loss gives its input the same lengths of axes in another order."""
    while node is not None and _name(node) in VIEW_OPERATIONS and node.next_functions:
        parent, parent_place = node.next_functions[0]
        if parent is None or not parent._input_metadata:
            return False
        after, before = (
            [n for n in one._input_metadata[at].shape if n > 1] for one, at in ((node, place), (parent, parent_place))
        )
        if after != before and sorted(after) == sorted(before):
            return True
        node, place = parent, parent_place
    return False


def _is_broadcast(node: Any, parent: Any, place: int) -> bool:
    """Checks whether n outputs became n x n numbers; the other operand has no gradient, as targets do."""
    after, before = tuple(node._input_metadata[0].shape), tuple(parent._input_metadata[place].shape)
    return len(after) == 2 and after[0] == after[1] > 1 and before in ((after[0], 1), (1, after[0]), after[:1])


def _name(node: Any) -> str:
    return type(node).__name__.split("Backward")[0]
