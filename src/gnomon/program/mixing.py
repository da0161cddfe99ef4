"""Converts products with matrices that are not parameters and mix positions (tokens, nodes), as in graph networks.

    y[p] = sum_s M[p, s] h[s]                                                                             (1)

M may be the same for all samples (a buffer, the adjacency of one graph) or data (each sample has its own graph). A
product with one number for each position (a mask, one over a length) has a diagonal M, and the state of each sequence
at its own last step an M of one row.
"""

from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnomon.program import layout as lay
from gnomon.program.affine import linear
from gnomon.program.builder import Builder, constant_value, extract, varies
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import DataPositionMap, FixedPositionMap, Input
from gnomon.program.values import Call, Fixed, Random


class Matrices(nn.Module):
    """A module that computes a matrix for each sample from the data, with one channel: (n, 1, out, in)."""

    def __init__(self, function: nn.Module, turned: bool) -> None:
        super().__init__()
        self.function, self.turned = function, turned

    def forward(self, x: Tensor) -> Tensor:
        """Returns each example's own matrix, transposed if the matrix stands on the right of the product."""
        found: Tensor = self.function(x)
        return (found.transpose(-1, -2) if self.turned else found).unsqueeze(1)


def product(b: Builder, call: Call) -> Any:
    """Converts x @ y to a program step: an affine layer if y is a parameter, a linear map of positions if x or y is
    data.
    """
    left, right = call.args[0], call.get(1, "other", call.get(1, "mat2"))
    if isinstance(left, Fixed) and isinstance(right, Random):
        return _mix(b, call, left, right, dimension=len(right.layout) - 2)
    if isinstance(left, Random) and isinstance(right, Fixed):
        return _mix(b, call, right, left, dimension=len(left.layout) - 1)
    if isinstance(left, Random) and isinstance(right, Random):
        raise b.refuse(
            call,
            "multiplies two outputs of layers",
            "branches are added or concatenated; products of them are not Gaussian",
            "Write the network without that product",
        )
    return linear(b, call)


def _mix(b: Builder, call: Call, matrix: Fixed, value: Random, *, dimension: int) -> Random:
    """Adds a program step that multiplies the positions (pixels, tokens) along one dimension of a tensor by a fixed
    matrix.
    """
    value = b.flush(value, call)
    turned = dimension == len(value.layout) - 1  # Right multiplication h @ M is M^T applied along the last dimension.
    if dimension < 0 or {a.role for a in value.layout[dimension]} - {Role.POSITION}:
        raise b.refuse(
            call,
            "multiplies channels by a matrix that is not a parameter",
            "channels are exchangeable: only affine layers mix them",
            "Multiply positions: (matrix) @ (batch, positions, channels)",
        )
    size, out = lay.shape_of(value.layout)[dimension], call.shape[dimension]
    layout = list(value.layout)
    layout[dimension] = (LayoutAxis(size, Role.POSITION),)
    value = b.settle(value, tuple(layout), call.where)
    layout[dimension] = (LayoutAxis(out, Role.POSITION),) if out > 1 else ()
    kept = [*layout[:dimension], (LayoutAxis(out, Role.POSITION),), *layout[dimension + 1 :]]
    gaussian = b.steps[value.source].gaussian
    if varies(matrix):
        return _blend_(b, call, matrix, value, tuple(kept), turned)
    m = constant_value(b, matrix)
    if m.dim() != 2:
        raise b.unread(call, f"multiplies by a fixed tensor of shape {tuple(m.shape)}; matrices have a rule")
    axis = lay.position_axes(value.layout, dimension)[0]
    matrices: list[Tensor | None] = [None] * len(lay.grid(value.layout))
    matrices[axis] = m.T.contiguous() if turned else m
    made = b.emit(FixedPositionMap(tuple(matrices)), (value.source,), call.where, tuple(kept), gaussian=gaussian)  # (1)
    return b.settle(made, tuple(layout), call.where)


def _blend_(b: Builder, call: Call, matrix: Fixed, value: Random, layout: lay.Layout, turned: bool) -> Random:
    """Adds a program step that multiplies the positions (tokens, nodes) of each sample by the sample's own matrix."""
    if len(lay.grid(value.layout)) != 1:
        raise b.unread(call, "multiplies a grid of several axes by data; (batch, positions, channels) has a rule")
    function = Matrices(extract(b.root, b.graph, matrix.node), turned)
    made = _blend(b, call, function, value, layout)
    kept = tuple(() if d and d[0].role is Role.POSITION and d[0].size == 1 else d for d in layout)
    return b.settle(made, kept, call.where)


class Diagonals(nn.Module):
    """A module that computes a diagonal matrix for each sample from the data, with one channel: (n, 1, size, size)."""

    def __init__(self, function: nn.Module, size: int, rank: int, *, inverse: bool) -> None:
        super().__init__()
        self.function, self.size, self.rank, self.inverse = function, size, rank, inverse

    def forward(self, x: Tensor) -> Tensor:
        """Returns each sample's diagonal matrix; entries that positions or samples share are repeated."""
        found: Tensor = self.function(x).double()
        found = found.reshape(*(1,) * (self.rank - found.dim()), *found.shape)
        rows = found.flatten(1).expand(len(x), self.size)
        return torch.diag_embed(1 / rows if self.inverse else rows).unsqueeze(1)


class PositionRows(nn.Module):
    """A module that computes, for each sample, a one-hot row that selects one of its positions: (n, 1, 1, size)."""

    def __init__(self, function: nn.Module, size: int) -> None:
        super().__init__()
        self.function, self.size = function, size

    def forward(self, x: Tensor) -> Tensor:
        """Returns each sample's one-hot row that selects a position; negative positions count from the end."""
        place = self.function(x).long() % self.size
        return functional.one_hot(place, self.size).double().reshape(len(x), 1, 1, self.size)


def scale_by_data(b: Builder, call: Call, value: Random, factor: Fixed, *, inverse: bool) -> Random | None:
    """Converts a product or quotient with data that have one number per position or sample; returns None for other
    data.
    """
    value = b.flush(value, call)
    shape, channel = lay.shape_of(value.layout), lay.channel_dimension(value.layout)
    sizes = (1,) * (len(shape) - len(factor.shape)) + factor.shape
    apart = channel is not None and len(value.layout[channel]) == 1 and len(value.layout[0]) == 1
    if call.shape != shape or not apart or sizes[channel or 0] != 1 or len(shape) > 3:
        return None
    size = prod(lay.grid(value.layout))
    if len(lay.grid(value.layout)) > 1 or prod(sizes[1:]) not in (1, size):
        return None
    one: lay.Layout = (
        value.layout[0],
        (LayoutAxis(size, Role.POSITION),),
        (LayoutAxis(lay.channels(value.layout), Role.CHANNEL),),
    )
    entered = b.settle(value, one, call.where)
    function = Diagonals(extract(b.root, b.graph, factor.node), size, len(shape), inverse=inverse)
    made = _blend(b, call, function, entered, one)
    return b.settle(made, value.layout, call.where)


def select_by_data(b: Builder, call: Call) -> Random | None:
    """Converts h[torch.arange(n), index], which selects one position of each sample; returns None for other indices."""
    value, index = call.args[0], call.args[1]
    if not isinstance(index, tuple) or len(index) != 2 or not all(isinstance(i, Fixed) for i in index):
        return None
    value = b.flush(value, call)
    roles = [{a.role for a in d} for d in value.layout]
    if roles != [{Role.BATCH}, {Role.POSITION}, {Role.CHANNEL}] or len(index[1].shape) != 1:
        return None
    like = next(n.meta["result"] for n in b.graph.nodes if n.op == "placeholder")
    rows = extract(b.root, b.graph, index[0].node)(torch.zeros(like.shape, dtype=like.dtype))
    if not torch.equal(rows.long(), torch.arange(b.batch)):
        return None
    function = PositionRows(extract(b.root, b.graph, index[1].node), lay.grid(value.layout)[0])
    single: lay.Layout = (value.layout[0], (LayoutAxis(1, Role.POSITION),), value.layout[2])
    return b.settle(_blend(b, call, function, value, single), (value.layout[0], value.layout[2]), call.where)


def _blend(b: Builder, call: Call, function: nn.Module, value: Random, layout: lay.Layout) -> Random:
    """Adds a step that multiplies each sample's positions (tokens, nodes) by a matrix that a function computes from
    data.

    See equation (1) of the module docstring.
    """
    out, size = lay.grid(layout)[0], lay.grid(value.layout)[0]
    shape: lay.Layout = (
        (LayoutAxis(b.batch, Role.BATCH),),
        (LayoutAxis(1, Role.CHANNEL),),
        (LayoutAxis(out, Role.POSITION),),
        (LayoutAxis(size, Role.POSITION),),
    )
    entered = b.emit(Input(function, 1), (), call.where, shape, gaussian=False)
    gaussian = b.steps[value.source].gaussian
    return b.emit(DataPositionMap(), (value.source, entered.source), call.where, layout, gaussian=gaussian)  # (1)
