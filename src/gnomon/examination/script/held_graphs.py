"""Counts the earlier training steps whose autograd graphs a script still holds, as a sum of losses without ``item()``
does.

A mark in the first operations of each graph lives as long as the graph, because torch stores it with the operation.

>>> import torch
>>> w, graphs, kept = torch.ones(1, requires_grad=True), HeldGraphs(), []
>>> for step in range(10):
...     kept.append((w * 2).exp())
...     graphs.note_loss(kept[-1], step)
>>> graphs.held
8
"""

import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

__all__ = ["HeldGraphs"]

STEPS_COMPARED = 8
"""Successive steps whose graphs must all be alive. Scripts that need earlier graphs need only a few of them."""
STEPS_MARKED = 48
"""First steps whose graphs are marked."""
MAX_DEPTH = 100
"""Operations between a loss and the marked operation. Outputs that a script keeps hold this part of the graph."""
METADATA_KEY = "gnomon"
"""Key of the mark in the metadata of an operation."""


class _Mark:
    """An object that a graph holds; weak references show whether the graph is alive."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True, eq=False)
class HeldGraphs:
    """Marks the graphs of the first losses; ``held`` is `STEPS_COMPARED` once this many graphs were alive at a time."""

    marks: "deque[weakref.ref[_Mark]]" = field(default_factory=lambda: deque(maxlen=STEPS_COMPARED))
    last_step: int = -1
    marked: int = 0
    held: int = 0

    def note_loss(self, loss: Tensor, step: int) -> None:
        """Marks the graph of a loss before its backward pass, once in each step."""
        if self.held or step == self.last_step or self.marked >= STEPS_MARKED or loss.grad_fn is None:
            return
        self.last_step = step
        self.marked += 1
        mark = _Mark()
        _deep_operation(loss.grad_fn).metadata[METADATA_KEY] = mark
        self.marks.append(weakref.ref(mark))
        del mark
        if len(self.marks) == STEPS_COMPARED and all(mark() is not None for mark in self.marks):
            self.held = STEPS_COMPARED


def _deep_operation(node: Any) -> Any:
    """Returns an operation far below a loss, but above the weights."""
    for _ in range(MAX_DEPTH):
        below = next((parent for parent, _ in node.next_functions if _has_parents(parent)), None)
        if below is None:
            return node
        node = below
    return node


def _has_parents(node: Any) -> bool:
    return node is not None and bool(node.next_functions)
