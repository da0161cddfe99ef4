"""Converts transposed convolutions: inserts zeros between positions, then convolves with stride one.

    y[o] = sum_k W_k x[i],   o = i stride - padding + k dilation                                          (1)

PyTorch draws their weights with the fan of their outputs: U(-1/sqrt(f), 1/sqrt(f)), f = channels out / groups * taps.
"""

from math import prod, sqrt
from typing import Any

import torch
from torch import Tensor

from gnomon.program import layout as lay
from gnomon.program.affine import as_image, each, join, standard_image
from gnomon.program.builder import Builder
from gnomon.program.steps import Conv, ConvolutionWindow, FixedPositionMap, Weights
from gnomon.program.values import Call, Fixed, Random


def transposed_convolution(b: Builder, call: Call) -> Random:
    """Converts nn.ConvTranspose1d, 2d, 3d to program steps.

    See equation (1) of the module docstring.
    """
    m, value = call.module, call.args[0]
    if isinstance(value, Fixed):
        if m.groups > 1:
            raise b.unread(call, "has groups of channels of the data; one group has a rule")
        value = b.enter(value, 1, call.where)
    value = as_image(b, b.flush(value, call), call)
    rank = len(m.kernel_size)
    axes = [each(v, rank) for v in (m.kernel_size, m.stride, m.padding, m.dilation)]
    sizes = zip(lay.grid(value.layout), call.shape[2:], *axes, strict=True)
    spread = [_spread(size, out, k, s, p, d) for size, out, k, s, p, d in sizes]
    between = standard_image((*lay.shape_of(value.layout)[:2], *(len(s) for s in spread)))
    gaussian = b.steps[value.source].gaussian
    wide = b.emit(FixedPositionMap(tuple(spread)), (value.source,), call.where, between, gaussian=gaussian)
    window = ConvolutionWindow(axes[0], (1,) * rank, axes[3], ((0, 0),) * rank, "zeros")
    many = m.in_channels // m.groups > 1
    layout = standard_image(call.shape)
    return b.emit(Conv(_weights(b, call), window), (wide.source,), call.where, layout, gaussian=many or m.groups == 1)


def _spread(size: int, out: int, kernel: int, stride: int, padding: int, dilation: int) -> Tensor:
    """Returns the matrix that inserts zeros between positions, the first half of a transposed convolution."""
    matrix = torch.zeros(out + dilation * (kernel - 1), size, dtype=torch.float64)
    for i in range(size):
        place = i * stride + dilation * (kernel - 1) - padding
        if 0 <= place < len(matrix):
            matrix[place, i] = 1.0  # (1)
    return matrix


def _weights(b: Builder, call: Call) -> Weights:
    m: Any = call.module
    weight, bias = join(call.where, "weight"), join(call.where, "bias") if m.bias is not None else None
    for path in (weight, bias):
        if path:
            b.account(path, call.where)
    trained = (m.weight.requires_grad, bias is not None and m.bias.requires_grad)
    std = 1 / sqrt(3 * prod(m.weight.shape[1:]))
    fan_in = m.in_channels // m.groups * prod(m.kernel_size)
    return Weights(call.where, type(m).__name__, weight, bias, fan_in, trained, (std, std))
