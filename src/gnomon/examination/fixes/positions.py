"""Reads outputs that hold scores of classes at each position, if only the user's own loss says so.

>>> import torch
>>> class_axis((5, 12, 32), (5, 32), largest=11), class_axis((5, 32, 12), (5, 32), largest=11)
(1, 2)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional as F

from gnomon.core.results.record import Record

__all__ = ["PositionLoss", "class_axis", "share_correct"]


def class_axis(outputs: Sequence[int], targets: Sequence[int], *, largest: int) -> int | None:
    """Returns the axis of the outputs that holds the classes: without it the outputs have the shape of the targets.

    If two axes have the same size, the last one counts. None if no axis fits.

    >>> class_axis((5, 3), (5, 3), largest=2) is None
    True
    """
    shape = tuple(outputs)
    fits = [axis for axis in range(1, len(shape))
            if shape[:axis] + shape[axis + 1 :] == tuple(targets) and shape[axis] > largest]  # fmt: skip
    return fits[-1] if fits else None


def share_correct(outputs: Tensor, y: Tensor) -> Tensor | None:
    """Returns for each example the share of positions with the right class; None if the outputs hold no classes.

    >>> import torch
    >>> share_correct(torch.eye(2)[None], torch.tensor([[0, 0]])).tolist()
    [0.5]
    """
    axis = None if y.is_floating_point() or not y.numel() else class_axis(outputs.shape, y.shape, largest=int(y.max()))
    if axis is None:
        return None
    counted = y >= 0
    right = (outputs.argmax(axis) == y) & counted
    return right.reshape(len(y), -1).double().sum(1) / counted.reshape(len(y), -1).double().sum(1).clamp(min=1)


@dataclass(frozen=True, slots=True, eq=False)
class PositionLoss(Record):
    """The mean cross-entropy over all positions, whichever axis of the outputs holds the classes.

    >>> import torch
    >>> round(float(PositionLoss(classes=2)(torch.zeros(1, 3, 2), torch.tensor([[0, 1, 1]]))), 4)  # ln 2
    0.6931
    """

    classes: int

    def __call__(self, outputs: Tensor, y: Tensor) -> Tensor:  # noqa: D102
        axis = class_axis(outputs.shape, y.shape, largest=self.classes - 1)
        return F.cross_entropy(outputs.movedim(1 if axis is None else axis, 1), y.long())
