"""Converts sums and concatenations of a network's branches to program steps."""

from typing import Any

from torch import Tensor, nn

from gnomon.program import layout as lay
from gnomon.program.builder import Builder, extract, varies
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.linear import slope_and_intercept
from gnomon.program.steps import Concat, Input, StackBranches
from gnomon.program.tokens import position_table
from gnomon.program.values import Call, Fixed, Parameter, Random


class Repeated(nn.Module):
    """A module that repeats a constant, such as sinusoidal positions, for every sample: (n, *shape)."""

    def __init__(self, function: nn.Module, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.function, self.shape = function, shape

    def forward(self, x: Tensor) -> Tensor:
        """Returns the constant, repeated for each sample of x."""
        constant: Tensor = self.function(x)
        return constant.expand(len(x), *self.shape)


def add(b: Builder, call: Call) -> Random:
    """Converts x + y, x - y or x + alpha * y of two branches to a program step."""
    sign = -1.0 if call.name == "sub" else 1.0
    weights = (1.0, sign * float(call.options.get("alpha", 1.0)))
    terms: list[tuple[float, Random]] = []
    first = next(a for a in call.args if isinstance(a, Random))
    for weight, value in zip(weights, call.args[:2], strict=True):
        if isinstance(value, Fixed):
            value = _data_branch(b, call, value, first)
        if not isinstance(value, Random) or lay.shape_of(value.layout) != lay.shape_of(first.layout):
            raise b.unread(call, "adds tensors of different shapes")
        slope = slope_and_intercept(value.expression)
        if slope is not None and slope[1] == 0.0 and not value.trainable:
            weight, value = weight * slope[0], Random(value.source, value.layout)
        else:
            value = b.flush(value, call)
        terms.append((weight, _same_layout(b, call, value, first.layout)))
    return b.combine(terms, call)


def concatenate(b: Builder, call: Call) -> Random:
    """Converts torch.cat along the channels or along one axis of positions to a program step."""
    values, dimension = list(call.args[0]), call.get(1, "dim", 0)
    first = next(v for v in values if isinstance(v, Random))
    dimension %= len(first.layout)
    roles = tuple(a.role for a in first.layout[dimension])
    flushed: list[Random] = []
    for value in values:
        if isinstance(value, Parameter):
            size = lay.channels(first.layout)
            value = position_table(b, call, value, value.tensor.numel() // size, size)
        if not isinstance(value, Random):
            raise b.unread(call, "concatenates data or parameters with the output of a layer")
        flushed.append(b.flush(value, call))
    if roles == (Role.CHANNEL,):
        sizes = [lay.channels(v.layout) for v in flushed]
        layout = lay.with_channels(first.layout, sum(sizes))
        moved = tuple(
            _same_layout(b, call, v, lay.with_channels(first.layout, s)).source
            for v, s in zip(flushed, sizes, strict=True)
        )
        return b.emit(Concat(tuple(s / sum(sizes) for s in sizes)), moved, call.where, layout, gaussian=False)
    if set(roles) <= {Role.POSITION}:
        return _stack(b, call, flushed, dimension)
    raise b.unread(call, "concatenates along a dimension that is neither channels nor positions")


def _stack(b: Builder, call: Call, values: list[Random], dimension: int) -> Random:
    aligned = []
    for value in values:
        sizes = lay.shape_of(value.layout)
        layout = list(value.layout)
        layout[dimension] = (LayoutAxis(sizes[dimension], Role.POSITION),)
        aligned.append(b.settle(value, tuple(layout), call.where))
    b.require_uncorrelated(tuple(v.source for v in aligned), call)
    layout = list(aligned[0].layout)
    layout[dimension] = (LayoutAxis(call.shape[dimension], Role.POSITION),)
    axis = lay.position_axes(tuple(layout), dimension)[0]
    gaussian = all(b.steps[v.source].gaussian for v in aligned)
    return b.emit(StackBranches(axis), tuple(v.source for v in aligned), call.where, tuple(layout), gaussian=gaussian)


def _data_branch(b: Builder, call: Call, value: Fixed, like: Random) -> Random:
    channel, shape = lay.channel_dimension(like.layout), lay.shape_of(like.layout)
    if channel is not None and value.shape == shape:
        return b.enter(value, channel, call.where)
    if channel is None or varies(value) or value.shape[-1] != shape[-1]:
        raise b.unread(call, "adds data of another shape to the output of a layer")
    function = Repeated(extract(b.root, b.graph, value.node), shape[1:])
    return b.emit(Input(function, channel), (), call.where, lay.standard(shape, channel), gaussian=False)


def _same_layout(b: Builder, call: Call, value: Random, layout: lay.Layout) -> Random:
    """Returns a traced tensor in another layout if both layouts differ only in axes of size one or in merged position
    axes.
    """
    roles: list[Any] = [[a.role for a in d if a.size > 1] for d in value.layout]
    wanted: list[Any] = [[a.role for a in d if a.size > 1] for d in layout]
    if [r[:1] for r in roles] != [w[:1] for w in wanted]:
        raise b.unread(call, "joins branches whose channels are in different dimensions")
    return b.settle(value, layout, call.where)
