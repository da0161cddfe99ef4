"""Converts calls that only move entries of a tensor to program steps: reshapes, permutes, slices of positions.

Reshapes and permutes are followed on the layout. For slices, flips and rolls the call itself is run once on a tensor
of labels, and the labels show where each position came from.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import UnsupportedModuleError
from gnomon.program import layout as lay
from gnomon.program.builder import Builder
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.values import Call, Random

PRIMES = (2, 3, 5, 7, 11, 13, 17)


def reshape(b: Builder, call: Call) -> Random:
    """Converts view, reshape, flatten, unflatten, squeeze and unsqueeze, which keep the order of the entries."""
    value: Random = call.args[0]
    try:
        layout = lay.regroup(value.layout, call.shape)
    except UnsupportedModuleError as reason:
        raise b.refuse(
            call,
            f"reshapes {lay.shape_of(value.layout)} to {call.shape}: {reason}",
            "reshapes only move positions and keep the channel axis whole",
            "Reshape positions only",
        ) from None
    return b.settle(value, layout, call.where)


def permute(b: Builder, call: Call, function: Callable[..., Any]) -> Random:
    """Converts permute, transpose and movedim, which reorder the dimensions of a tensor."""
    value: Random = call.args[0]
    probe = torch.empty(PRIMES[: len(value.layout)], device="meta")
    order = tuple(PRIMES.index(s) for s in function(probe, *call.args[1:], **call.options).shape)
    layout, axes = lay.permute(value.layout, order)
    if axes == tuple(range(len(axes))):
        return b.settle(value, layout, call.where)
    grid = lay.grid(value.layout)
    index = torch.arange(int(torch.Size(grid).numel())).reshape(grid).permute(axes).reshape(-1)
    return b.settle(value, layout, call.where, index)


def expand(b: Builder, call: Call) -> Random:
    """Converts expand and expand_as, which repeat a dimension of size one along positions."""
    value: Random = call.args[0]
    old = lay.shape_of(value.layout)
    if len(old) != len(call.shape):
        raise b.unread(call, "adds dimensions in front of the batch")
    grown = [i for i, (a, s) in enumerate(zip(old, call.shape, strict=True)) if a != s]
    if any(axis.role is not Role.POSITION for i in grown for axis in value.layout[i]):
        raise b.unread(call, "repeats samples or channels")
    layout = tuple((LayoutAxis(call.shape[i], Role.POSITION),) if i in grown else d for i, d in enumerate(value.layout))
    sides = [[a.size for a in d if a.role is Role.POSITION] for d in value.layout]
    before = [int(torch.Size(side).numel()) for side in sides]
    after = [call.shape[i] if i in grown else n for i, n in enumerate(before)]
    index = torch.arange(int(torch.Size(before).numel())).reshape(before).expand(after).reshape(-1)
    return b.settle(value, layout, call.where, index)


def take(b: Builder, call: Call, function: Callable[..., Any]) -> Any:
    """Converts indexing, narrow, select, flip, roll, split, chunk and unbind along positions."""
    value: Random = call.args[0]
    shape = lay.shape_of(value.layout)
    labels = torch.arange(int(torch.Size(shape).numel())).reshape(shape)
    result = function(labels, *call.args[1:], **call.options)
    if isinstance(result, Tensor):
        return _take(b, call, value, result)
    return type(result)(_take(b, call, value, part) for part in result)


def _take(b: Builder, call: Call, value: Random, labels: Tensor) -> Random:
    """Finds which old dimension each dimension of an indexed tensor comes from, by following numbered entries."""
    old = lay.shape_of(value.layout)
    where = torch.unravel_index(labels, old)
    layout: list[lay.Dimension] = []
    for dimension, size in enumerate(labels.shape):
        moving = [j for j, w in enumerate(where) if size > 1 and bool((w.diff(dim=dimension) != 0).any())]
        if not moving:
            layout.append(())
            continue
        axes = value.layout[moving[0]]
        if len(moving) > 1 or len({a.role for a in axes}) != 1:
            raise b.unread(call, "mixes several dimensions")
        whole = size == old[moving[0]] and bool((where[moving[0]].diff(dim=dimension) == 1).all())
        if axes[0].role is not Role.POSITION and not whole:
            raise b.unread(call, f"takes a part of the {axes[0].role.value} axis")
        layout.append((LayoutAxis(size, axes[0].role),))
    held = {a.role for d in layout for a in d}
    if Role.BATCH not in held or (Role.CHANNEL not in held and lay.channels(value.layout) > 1):
        raise b.unread(call, "selects a sample or a channel")
    return b.settle(value, tuple(layout), call.where, _positions(value, layout, labels, where))


def _positions(value: Random, layout: list[lay.Dimension], labels: Tensor, where: tuple[Tensor, ...]) -> Tensor:
    """Returns the old flat index of each position in an indexed tensor."""
    pick = tuple(
        slice(None) if all(a.role is Role.POSITION for a in d) else 0 for d in layout
    )  # Dimensions that belong to no axis have size one, so their index is 0
    position, grid = torch.zeros_like(labels[pick]), lay.grid(value.layout)
    stride = int(torch.Size(grid).numel())
    for j, d in enumerate(value.layout):
        inside = [a.size for a in d if a.role is Role.POSITION]
        size = int(torch.Size(inside).numel())
        stride //= size
        if inside:
            position = position + (where[j][pick] % size) * stride
    return position.reshape(-1)
