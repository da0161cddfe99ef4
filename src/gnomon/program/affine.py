"""Converts affine layers to program steps: nn.Linear, nn.Conv1d / 2d / 3d, and their functional forms."""

from math import prod
from typing import Any

from torch import nn

from gnomon.program import layout as lay
from gnomon.program.builder import Builder
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import Conv, ConvolutionWindow, Dense, Weights
from gnomon.program.values import Call, Fixed, Parameter, Random


def linear(b: Builder, call: Call) -> Random:
    """Converts nn.Linear, F.linear(x, weight, bias) or x @ weight to a program step that maps the last dimension."""
    value = call.args[0]
    if call.module is not None:
        weights = _of_module(b, call)
        size = int(call.module.out_features)
    else:
        weight, bias = call.get(1, "weight"), call.get(2, "bias")
        size = call.shape[-1]
        weights = _of_parameters(b, call, weight, bias, value_size(value))
    return dense(b, call, value, weights, size)


def dense(b: Builder, call: Call, value: Any, weights: Weights, size: int) -> Random:
    """Adds a program step that maps the last dimension of a tensor to ``size`` channels by an affine map."""
    if isinstance(value, Fixed):
        value = b.enter(value, len(value.shape) - 1, call.where)
    value = b.flush(value, call)
    last = len(value.layout) - 1
    if lay.channel_dimension(value.layout) != last:
        raise b.refuse(
            call,
            "acts on positions or samples, not on channels",
            "each affine layer sums over the channels, the axis that grows",
            "Move the channels to the last dimension first",
        )
    contracted = lay.position_axes(value.layout, last)
    layout = (*value.layout[:-1], (LayoutAxis(size, Role.CHANNEL),))
    return b.emit(Dense(weights, contracted), (value.source,), call.where, layout, gaussian=True)


def convolution(b: Builder, call: Call) -> Random:
    """Converts nn.Conv1d, 2d, 3d or their functional forms to a program step; dimension 1 must hold the channels.

    A group of one channel (depthwise) does not sum over many channels: its output has second moments, but is not
    Gaussian;
    the same holds for groups of channels of the data.
    """
    value, module = call.args[0], call.module
    if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
        weights, form = _of_module(b, call), module
        stride, dilation, groups, padding = form.stride, form.dilation, form.groups, form.padding
        kernel, mode = form.kernel_size, form.padding_mode
    else:
        weight = call.get(1, "weight")
        if not isinstance(weight, Parameter):
            raise b.unread(call, "convolves with something that is not a parameter")
        kernel, mode = tuple(weight.tensor.shape[2:]), "zeros"
        rank = len(kernel)
        stride, padding = each(call.get(3, "stride", 1), rank), call.get(4, "padding", 0)
        dilation, groups = each(call.get(5, "dilation", 1), rank), call.get(6, "groups", 1)
        weights = _of_parameters(b, call, weight, call.get(2, "bias"), prod(weight.tensor.shape[1:]))
    if mode not in ("zeros", "circular"):
        raise b.unread(call, f"pads with mode '{mode}'; 'zeros' and 'circular' have a rule")
    window = ConvolutionWindow(tuple(kernel), tuple(stride), tuple(dilation), _padding(padding, kernel, dilation), mode)
    if isinstance(value, Fixed) and groups == 1:
        patches = lay.with_channels(standard_image(call.shape), weights.fan_in)
        patched = b.enter(value, 1, call.where, window, patches)
        return b.emit(Dense(weights), (patched.source,), call.where, standard_image(call.shape), gaussian=True)
    data = isinstance(value, Fixed)
    if isinstance(value, Fixed):
        value = b.enter(value, 1, call.where)
    value = as_image(b, b.flush(value, call), call)
    gaussian = groups == 1 or (not data and lay.channels(value.layout) // groups > 1)
    layout = standard_image(call.shape)
    return b.emit(Conv(weights, window), (value.source,), call.where, layout, gaussian=gaussian)


def value_size(value: Any) -> int:
    """Returns the size of the last dimension of a traced tensor."""
    shape = value.shape if isinstance(value, Fixed) else lay.shape_of(value.layout)
    return int(shape[-1])


def _of_module(b: Builder, call: Call) -> Weights:
    module = call.module
    assert module is not None  # The table of layers calls this reader only for modules.
    return read_weights(b, module, call.where)


def read_weights(b: Builder, module: Any, path: str) -> Weights:
    """Marks the weight and bias of an affine module at ``path`` as used, and returns their description."""
    weight, bias = join(path, "weight"), join(path, "bias") if module.bias is not None else None
    b.account(weight, path)
    if bias:
        b.account(bias, path)
    fan_in = prod(module.weight.shape[1:])
    trained = (module.weight.requires_grad, bool(bias) and module.bias.requires_grad)
    own = getattr(type(module).reset_parameters, "__module__", "").startswith("torch.nn")
    return Weights(path, type(module).__name__ if own else "Parameter", weight, bias, fan_in, trained)


def _of_parameters(b: Builder, call: Call, weight: Any, bias: Any, fan_in: int) -> Weights:
    if not isinstance(weight, Parameter) or not isinstance(bias, Parameter | None):
        raise b.unread(call, "multiplies by something that is not a parameter of the module")
    b.account(weight.path, call.where)
    if bias is not None:
        b.account(bias.path, call.where)
    trained = (weight.tensor.requires_grad, bias is not None and bias.tensor.requires_grad)
    return Weights(weight.path, "Parameter", weight.path, bias.path if bias else None, fan_in, trained)


def as_image(b: Builder, value: Random, call: Call) -> Random:
    """Returns a traced tensor in image layout (batch, channel, one axis per further dimension), or raises an error."""
    shape = lay.shape_of(value.layout)
    wanted = standard_image(shape)
    plain = [tuple(a.role for a in d) for d in value.layout]
    ok = plain[0] == (Role.BATCH,) and plain[1] == (Role.CHANNEL,) and all(set(d) <= {Role.POSITION} for d in plain[2:])
    if not ok:
        raise b.refuse(
            call,
            "convolves a tensor whose dimension 1 does not hold the channels",
            "each affine layer sums over the channels, the axis that grows",
            "Permute to (batch, channels, positions) first",
        )
    return b.settle(value, wanted, call.where)


def standard_image(shape: tuple[int, ...]) -> lay.Layout:
    """Returns the layout that convolutions need: batch, channels, and one axis of positions per further dimension."""
    positions = tuple((LayoutAxis(s, Role.POSITION),) for s in shape[2:])
    return ((LayoutAxis(shape[0], Role.BATCH),), (LayoutAxis(shape[1], Role.CHANNEL),), *positions)


def _padding(padding: Any, kernel: Any, dilation: Any) -> tuple[tuple[int, int], ...]:
    if padding == "valid":
        return tuple((0, 0) for _ in kernel)
    if padding == "same":
        totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return tuple((t // 2, t - t // 2) for t in totals)
    return tuple((p, p) for p in each(padding, len(kernel)))


def each(value: Any, rank: int) -> tuple[int, ...]:
    """Returns a tuple with one number per position axis, from one number for all axes or from a tuple."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * rank


def join(path: str, name: str) -> str:
    """Returns the full path of a parameter from the path of its module; the path of the root module is empty."""
    return f"{path}.{name}" if path else name
