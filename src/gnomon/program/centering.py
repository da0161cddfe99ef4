"""Finds tensors whose channels have mean zero, and subtracts the mean from data that lack this property.

LayerNorm subtracts the mean over channels. The channels of an affine layer have mean zero in the limit; data added to
them (sinusoidal positions) do not, and subtracting the mean of the sum is subtracting the mean of the data.

>>> import torch
>>> Centered(nn.Identity(), 1)(torch.tensor([[1.0, 3.0]]))
tensor([[-1.,  1.]])
"""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor, nn

from gnomon.program.builder import Builder
from gnomon.program.linear import slope_and_intercept
from gnomon.program.steps import (
    Activation,
    DataPositionMap,
    DeterministicAttention,
    Dropout,
    FixedPositionMap,
    Input,
    MultiheadAttention,
    Normalize,
    Reorder,
    Sum,
)
from gnomon.program.values import Random


class Centered(nn.Module):
    """A module that applies a function to the data and subtracts the mean over the channels from the result."""

    def __init__(self, function: Callable[[Tensor], Tensor], channel: int) -> None:
        super().__init__()
        self.function, self.channel = function, channel

    def forward(self, x: Tensor) -> Tensor:
        """Returns the data minus their mean over the channels."""
        data: Tensor = self.function(x)
        return data - data.mean(self.channel, keepdim=True)


def zero_mean(b: Builder, source: int) -> bool:
    """Whether the channels of a program step's output have mean zero at every position."""
    step = b.steps[source]
    if step.gaussian:
        return True
    match step.op:
        case Input(function=function):
            return isinstance(function, Centered)
        case Sum():
            return all(zero_mean(b, i) for i in step.inputs)
        case Activation(expression=tree):
            straight = slope_and_intercept(tree)
            return straight is not None and straight[1] == 0.0 and zero_mean(b, step.inputs[0])
        case (
            Normalize()
            | Dropout()
            | Reorder()
            | FixedPositionMap()
            | DataPositionMap()
            | DeterministicAttention()
            | MultiheadAttention()
        ):
            return zero_mean(b, step.inputs[0])
    return False


def centered_data(b: Builder, value: Random) -> Random:
    """Returns a traced tensor computed from centered data: the mean over the channels is subtracted from the data."""
    step = b.steps[value.source]
    if isinstance(step.op, Input) and not isinstance(step.op.function, Centered) and step.op.window is None:
        function = Centered(step.op.function, step.op.channel)
        return b.emit(Input(function, step.op.channel), (), step.where, value.layout, gaussian=False)
    if isinstance(step.op, Sum) and not zero_mean(b, value.source):
        parts = tuple(centered_data(b, Random(i, value.layout)).source for i in step.inputs)
        made = b.emit(step.op, parts, step.where, value.layout, gaussian=False)
        return replace(value, source=made.source)
    return value
