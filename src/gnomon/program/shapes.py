"""Computes the output shapes of the most frequent layers by formula, which avoids slow imports.

Running a layer on the meta device gives its shape as well, but torch then imports its compiler (`torch._dynamo`,
`sympy`), which takes longer than the whole limit of a small network.
"""

from typing import Any

from torch import Tensor, nn

__all__ = ["output_like"]

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
POOLINGS = {nn.AdaptiveAvgPool1d: 1, nn.AdaptiveAvgPool2d: 2, nn.AdaptiveAvgPool3d: 3}
SHAPE_KEEPING_MODULES = ("torch.nn.modules.activation", "torch.nn.modules.dropout")
"""Files of torch.nn whose layers return the shape of their input, with two exceptions."""
OTHER_SHAPES = (nn.MultiheadAttention, nn.GLU)
"""Layers in these files whose output has another shape than their input."""


def output_like(layer: nn.Module, x: Tensor) -> Tensor | None:
    """Returns an empty tensor like the output of a layer of torch.nn on x; None for layers without a formula here.

    A convolution with kernel k, stride s, padding p and dilation d turns n positions into
    (n + 2 p - d (k - 1) - 1) // s + 1 positions.
    Returns None for layers without a formula here, and if the layer does not take x: running it then explains why.

    >>> import torch
    >>> output_like(nn.Conv2d(1, 8, 3, stride=2), torch.empty(5, 1, 28, 28)).shape
    torch.Size([5, 8, 13, 13])
    """
    if not x.is_floating_point() or any(p.dtype != x.dtype for p in layer.parameters(recurse=False)):
        return None
    shape = _shape(layer, tuple(x.shape))
    return None if shape is None else x.new_empty(shape)


def _shape(layer: nn.Module, x: tuple[int, ...]) -> tuple[int, ...] | None:
    kind = type(layer)
    if isinstance(layer, nn.Linear) and kind is nn.Linear:
        return (*x[:-1], layer.out_features) if x and x[-1] == layer.in_features else None
    if isinstance(layer, CONVOLUTIONS) and kind in CONVOLUTIONS:
        return _convolved_size(layer, x)
    if kind in POOLINGS and len(x) == 2 + POOLINGS[kind]:
        size: Any = layer.output_size
        return _pooled_size(size, x)
    keeps = kind.__module__ in SHAPE_KEEPING_MODULES and not isinstance(layer, OTHER_SHAPES)
    return x if keeps else None


def _convolved_size(layer: nn.Conv1d | nn.Conv2d | nn.Conv3d, x: tuple[int, ...]) -> tuple[int, ...] | None:
    if len(x) != len(layer.kernel_size) + 2 or x[1] != layer.in_channels:
        return None
    if layer.padding == "same":
        sizes = list(x[2:])
    else:
        padding = (0,) * len(layer.kernel_size) if isinstance(layer.padding, str) else layer.padding
        sizes = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(x[2:], padding, layer.dilation, layer.kernel_size, layer.stride, strict=True)
        ]
    return (x[0], layer.out_channels, *sizes) if min(sizes) > 0 else None


def _pooled_size(size: int | None | tuple[int | None, ...], x: tuple[int, ...]) -> tuple[int, ...]:
    wanted = size if isinstance(size, tuple) else (size,) * (len(x) - 2)
    return (*x[:2], *(n if w is None else w for n, w in zip(x[2:], wanted, strict=True)))
