"""Finds the output shapes of the most frequent layers and functions without the meta device, which avoids slow imports.

Running a layer on the meta device gives its shape as well, but torch then imports its compiler (`torch._dynamo`,
`sympy`), which takes longer than the whole limit of a small network. Frequent layers have a formula here, and frequent
functions run on small tensors of zeros.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call

__all__ = ["output_like", "output_of_zeros"]

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
POOLINGS = {nn.AdaptiveAvgPool1d: 1, nn.AdaptiveAvgPool2d: 2, nn.AdaptiveAvgPool3d: 3}
SHAPE_KEEPING_MODULES = ("torch.nn.modules.activation", "torch.nn.modules.dropout")
"""Files of torch.nn whose layers return the shape of their input, with two exceptions."""
OTHER_SHAPES = (nn.MultiheadAttention, nn.GLU)
"""Layers in these files whose output has another shape than their input."""

MAX_ZEROS = 2**20
"""Maximum number of entries of all arguments for which a function runs on zeros: some milliseconds."""
NAMESPACES = (torch, nn.functional, operator)
"""Modules in which the functions below are looked up; a user's function of the same name is another object."""
FUNCTIONS = frozenset(
    """abs acos acosh add amax amin arctan asin asinh atan atanh avg_pool1d avg_pool2d bmm cat celu chunk clamp
    clamp_max clamp_min clip cos cosh div elu erf erfc exp exp2 expm1 gelu hardshrink hardsigmoid hardswish hardtanh
    layer_norm leaky_relu linear log log1p log_softmax logsigmoid matmul max_pool1d max_pool2d maximum mean minimum mish
    mul neg normalize pow reciprocal relu relu6 rsqrt rsub selu sgn sigmoid sign silu sin sinc sinh softmax softplus
    softshrink softsign sqrt square stack sub sum tan tanh tanhshrink threshold truediv var where""".split()
)
"""Functions without randomness and without effects, whose output shape does not depend on the values."""
LAYERS = (
    nn.AvgPool1d, nn.AvgPool2d, nn.BatchNorm1d, nn.BatchNorm2d, nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d,
    nn.LayerNorm, nn.MaxPool1d, nn.MaxPool2d,
)  # fmt: skip
"""Layers for which the same holds, run with parameters and buffers of zeros."""


def output_of_zeros(function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Returns what a function or layer returns for zeros in the shapes of its arguments, without computing on real
    data.

    ``function`` is a function, the name of a method of tensors, or a layer. Returns None if it is not one of the
    frequent ones, if its arguments are large, or if it does not take them: running it on the meta device then explains
    why.

    >>> output_of_zeros(torch.add, (torch.empty(5, 1, device="meta"), torch.empty(3, device="meta")), {}).shape
    torch.Size([5, 3])
    """
    run = _frequent(function)
    tensors: list[Tensor] = []
    fx.node.map_aggregate((args, options), lambda value: tensors.append(value) if isinstance(value, Tensor) else None)
    if run is None or sum(t.numel() for t in tensors) > MAX_ZEROS or any(t.is_complex() for t in tensors):
        return None
    arguments, named = fx.node.map_aggregate((args, options), _zeros)
    try:
        with torch.no_grad():
            return fx.node.map_aggregate(run(*arguments, **named), _without_storage)
    except Exception:  # The module runs on the meta device, whose errors are the ones that users know.
        return None


def _frequent(function: Any) -> Callable[..., Any] | None:
    """Returns a fast way to compute the output shape of a frequent layer or function; None for other functions."""
    if isinstance(function, nn.Module):
        state = (*function.named_parameters(), *function.named_buffers())
        if type(function) not in LAYERS or sum(v.numel() for _, v in state) > MAX_ZEROS:
            return None
        zeros = {name: torch.zeros(value.shape, dtype=value.dtype) for name, value in state}
        return lambda *args, **options: functional_call(function, zeros, args, options)
    if isinstance(function, str):
        return getattr(Tensor, function, None) if function in FUNCTIONS else None
    name = getattr(function, "__name__", "")
    known = name in FUNCTIONS and any(getattr(space, name, None) is function for space in NAMESPACES)
    return function if known else None


def _zeros(value: Any) -> Any:
    return torch.zeros(value.shape, dtype=value.dtype) if isinstance(value, Tensor) else value


def _without_storage(value: Any) -> Any:
    return torch.empty(value.shape, dtype=value.dtype, device="meta") if isinstance(value, Tensor) else value


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
