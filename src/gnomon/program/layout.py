"""Tracks which dimensions of a tensor hold the batch, the channels and the positions through reshapes and permutes.

A tensor of a random network has one batch axis, one channel axis (the one that grows) and any number of position
axes. Each dimension of the tensor holds a row-major product of such axes: after ``flatten(1)`` of (n, c, h, w) the
second dimension holds (channel, position h, position w).

    layout = ((batch n,), (channel c,), (position h,), (position w,))       of an image

Axes of size one carry nothing and are dropped (a channel axis is kept), so ``squeeze`` and ``unsqueeze`` need no rule.

>>> image = standard((5, 3, 4, 6), channel=1)
>>> grid(regroup(image, (5, 3, 24)))
(24,)
>>> [len(d) for d in regroup(image, (5, 72))]
[1, 2]
"""

from dataclasses import dataclass
from enum import Enum
from math import prod

from gnomon.core.errors import UnsupportedModuleError


class Role(Enum):
    """What a tensor axis counts: batch, channels or positions."""

    BATCH = "batch"
    CHANNEL = "channel"
    POSITION = "position"


@dataclass(frozen=True, slots=True)
class LayoutAxis:
    """One axis inside a tensor dimension: its size, and whether it counts batch, channels or positions."""

    size: int
    role: Role


Dimension = tuple[LayoutAxis, ...]
Layout = tuple[Dimension, ...]


def standard(shape: tuple[int, ...], channel: int) -> Layout:
    """Returns a tensor layout with batch first, channels at dimension ``channel``, and positions in every other
    dimension.
    """

    def dimension(index: int, size: int) -> Dimension:
        if index == 0:
            return (LayoutAxis(size, Role.BATCH),)
        if index == channel:
            return (LayoutAxis(size, Role.CHANNEL),)
        return (LayoutAxis(size, Role.POSITION),) if size > 1 else ()

    return tuple(dimension(i, s) for i, s in enumerate(shape))


def shape_of(layout: Layout) -> tuple[int, ...]:
    """Returns the shape of a tensor with a given layout."""
    return tuple(prod(a.size for a in d) for d in layout)


def grid(layout: Layout) -> tuple[int, ...]:
    """Returns the sizes of the position axes of a tensor layout, in order."""
    return tuple(a.size for d in layout for a in d if a.role is Role.POSITION)


def channels(layout: Layout) -> int:
    """Returns the number of channels in a tensor layout (1 if the channel axis was squeezed)."""
    return prod(a.size for d in layout for a in d if a.role is Role.CHANNEL)


def with_channels(layout: Layout, size: int) -> Layout:
    """Returns a tensor layout with another number of channels."""
    return tuple(tuple(LayoutAxis(size, a.role) if a.role is Role.CHANNEL else a for a in d) for d in layout)


def channel_dimension(layout: Layout) -> int | None:
    """Returns the tensor dimension that holds the channel axis, alone or with other axes; None without a channel
    axis.
    """
    return next((i for i, d in enumerate(layout) if any(a.role is Role.CHANNEL for a in d)), None)


def position_axes(layout: Layout, dimension: int) -> tuple[int, ...]:
    """Returns the numbers of the position axes that one tensor dimension holds."""
    before = sum(a.role is Role.POSITION for d in layout[:dimension] for a in d)
    inside = sum(a.role is Role.POSITION for a in layout[dimension])
    return tuple(range(before, before + inside))


def regroup(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """Returns the tensor layout after a row-major reshape; positions may merge and split, batch and channels may not.

    Cost: the number of axes.

    >>> flat = regroup(standard((5, 3, 4), channel=1), (5, 12))
    >>> shape_of(regroup(flat, (5, 3, 2, 2)))
    (5, 3, 2, 2)
    """
    runs = _runs([a for d in layout for a in d])
    result: list[Dimension] = []
    for size in shape:
        taken: list[LayoutAxis] = []
        while size > 1:
            if not runs:
                raise UnsupportedModuleError("the new shape has more elements than the tensor")
            head = runs.pop(0)
            if head.size <= size and size % head.size == 0:
                taken.append(head)
                size //= head.size
            elif head.role is Role.POSITION and head.size % size == 0:
                taken.append(LayoutAxis(size, Role.POSITION))
                runs.insert(0, LayoutAxis(head.size // size, Role.POSITION))
                size = 1
            else:
                raise UnsupportedModuleError(f"the reshape splits the {head.role.value} axis of size {head.size}")
        while runs and runs[0].size == 1 and not taken:  # A channel or batch axis of size one stays a separate axis.
            taken.append(runs.pop(0))
        result.append(tuple(taken))
    return tuple(result)


def permute(layout: Layout, order: tuple[int, ...]) -> tuple[Layout, tuple[int, ...]]:
    """Returns the tensor layout after a permutation of dimensions, and the old index of each new position axis."""
    moved = tuple(layout[i] for i in order)
    return moved, tuple(a for i in order for a in position_axes(layout, i))


def _runs(axes: list[LayoutAxis]) -> list[LayoutAxis]:
    """Merges adjacent position axes, because a row-major reshape depends only on the product of their sizes."""
    merged: list[LayoutAxis] = []
    for axis in axes:
        if merged and axis.role is Role.POSITION and merged[-1].role is Role.POSITION:
            merged[-1] = LayoutAxis(merged[-1].size * axis.size, Role.POSITION)
        else:
            merged.append(axis)
    return merged
