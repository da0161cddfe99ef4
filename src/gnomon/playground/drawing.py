"""Chooses what the playground draws of a user's network: a curve over one input, a map over two inputs, or outputs
only.

A picture needs one number for each output. It is the output itself if there is one; for two classes the score of the
second minus the score of the first; for more classes the score of class 0 minus the largest other score.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["PictureGrid", "picture_grid"]

CURVE_POINTS = 121
"""Points of a curve, as in the page's own pictures."""
MAP_SIDE = 36
"""Cells of a map in each direction, as in the page's own pictures."""
RANGE_PADDING = 0.12
"""Part of the range of the data that is added on each side."""
CLASS_RANGE = (-3.0, 3.0)
"""Vertical range of a curve of scores; the classes are drawn at -1 and 1."""


@dataclass(frozen=True, slots=True)
class PictureGrid:
    """The grid of points at which the network is drawn, with a mark for each example and the ranges of the axes.

    Attributes:
        dimension: number of inputs that are drawn: 1, 2, or 0 if the inputs cannot be drawn.
        grid: inputs of the picture (m, dimension); no rows if the dimension is 0.
        marks: one number for each example: its target, or its class as 1 or -1.
        classes: whether the targets are classes.
        low: smallest value of each axis.
        high: largest value of each axis.
        message: what the picture leaves out; empty if nothing.

    >>> drawing = picture_grid(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]]), classes=None)
    >>> drawing.dimension, drawing.marks
    (1, [0.0, 2.0])
    """

    dimension: int
    grid: Tensor
    marks: list[float]
    classes: bool
    low: list[float]
    high: list[float]
    message: str

    def values(self, outputs: Tensor) -> list[float]:
        """Returns one number to draw for each row of network outputs."""
        if not self.dimension:
            return []
        if not self.classes or outputs.shape[1] == 1:
            return outputs[:, 0].tolist()
        if outputs.shape[1] == 2:
            return (outputs[:, 1] - outputs[:, 0]).tolist()
        return (outputs[:, 0] - outputs[:, 1:].amax(1)).tolist()

    def coordinates(self) -> dict[str, Any] | None:
        """Returns the ranges and names of the picture's axes."""
        if not self.dimension:
            return None
        names = ["input", "score" if self.classes else "output"] if self.dimension == 1 else ["x1", "x2"]
        return {"low": self.low, "high": self.high, "names": names}


def picture_grid(x: Tensor, targets: Tensor, *, classes: Tensor | None) -> PictureGrid:
    """Chooses what to draw for examples x with targets (n, k); `classes` are integer labels, if there are any.

    >>> picture_grid(torch.zeros(3, 5), torch.zeros(3, 1), classes=None).dimension
    0
    """
    outputs = targets.shape[1]
    marks = _marks(targets, classes)
    if x.dim() != 2 or x.shape[1] not in (1, 2) or not x.is_floating_point():
        return PictureGrid(0, torch.zeros(0, 1), marks, classes is not None, [], [], "")
    low, high = _pad(x)
    if x.shape[1] == 1:
        grid = torch.linspace(low[0], high[0], CURVE_POINTS, dtype=torch.float64)[:, None]
        below, above = CLASS_RANGE if classes is not None else _range(torch.tensor(marks))
        low, high = [low[0], below], [high[0], above]
    else:
        grid = _cells(low, high)
    return PictureGrid(x.shape[1], grid, marks, classes is not None, low, high, _message(outputs, classes is not None))


def _marks(targets: Tensor, classes: Tensor | None) -> list[float]:
    if classes is None:
        return targets[:, 0].tolist()
    first = classes == (1 if targets.shape[1] <= 2 else 0)
    return torch.where(first, 1.0, -1.0).tolist()


def _message(outputs: int, classes: bool) -> str:
    if classes and outputs > 2:
        return f"The picture shows class 0 against the other {outputs - 1} classes."
    return f"The picture shows the first of {outputs} outputs." if outputs > 1 and not classes else ""


def _range(values: Tensor) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = RANGE_PADDING * (high - low) if high > low else 1.0
    return low - room, high + room


def _pad(x: Tensor) -> tuple[list[float], list[float]]:
    ends = [_range(column) for column in x.T]
    return [low for low, _ in ends], [high for _, high in ends]


def _cells(low: list[float], high: list[float]) -> Tensor:
    """Returns the centers of the cells of a two-dimensional map, in rows from top to bottom."""
    part = (torch.arange(MAP_SIDE, dtype=torch.float64) + 0.5) / MAP_SIDE
    across = low[0] + part * (high[0] - low[0])
    down = high[1] - part * (high[1] - low[1])
    return torch.stack([across.repeat(MAP_SIDE), down.repeat_interleave(MAP_SIDE)], 1)
