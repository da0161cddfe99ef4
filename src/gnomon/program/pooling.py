"""Converts linear maps of positions (pixels, tokens), such as average pooling and means, to one matrix per axis.

The matrix is found by running torch's own one-dimensional call on the identity, so torch's conventions (padding,
ceil_mode, count_include_pad, uneven adaptive windows) hold by construction.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnomon.program import layout as lay
from gnomon.program.builder import Builder
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import FixedPositionMap
from gnomon.program.values import Call, Random


def average_pool(b: Builder, call: Call) -> Random:
    """Converts nn.AvgPool1d / 2d and their functional forms to a program step."""
    value = _image(b, call)
    rank, m = len(value.layout) - 2, call.module
    if m is not None:
        kernel, stride, padding = m.kernel_size, m.stride, m.padding
        ceil, count, divisor = m.ceil_mode, m.count_include_pad, getattr(m, "divisor_override", None)
    else:
        kernel = call.get(1, "kernel_size")
        stride, padding = call.get(2, "stride") or kernel, call.get(3, "padding", 0)
        ceil, count = call.get(4, "ceil_mode", False), call.get(5, "count_include_pad", True)
        divisor = call.get(6, "divisor_override")
    matrices = []
    for axis, size in enumerate(lay.shape_of(value.layout)[2:]):
        k, s, p = (_at(v, axis) for v in (kernel, stride, padding))
        eye = torch.eye(size, dtype=torch.float64)[:, None]
        matrices.append(functional.avg_pool1d(eye, k, s, p, ceil, count)[:, 0].T)
    if divisor:
        matrices[0] = matrices[0] * (torch.Size(_at(kernel, i) for i in range(rank)).numel() / divisor)
    return mix(b, call, value, matrices, call.shape)


def adaptive_average_pool(b: Builder, call: Call) -> Random:
    """Converts nn.AdaptiveAvgPool1d / 2d and their functional forms to a program step."""
    value = _image(b, call)
    matrices = []
    for size, out in zip(lay.shape_of(value.layout)[2:], call.shape[2:], strict=True):
        eye = torch.eye(size, dtype=torch.float64)[:, None]
        matrices.append(functional.adaptive_avg_pool1d(eye, out)[:, 0].T)
    return mix(b, call, value, matrices, call.shape)


def upsample(b: Builder, call: Call) -> Random:
    """Converts nn.Upsample / F.interpolate in modes 'nearest', 'linear', 'bilinear' to a program step."""
    value = _image(b, call)
    m = call.module
    mode = m.mode if isinstance(m, nn.Upsample) else call.get(3, "mode", "nearest")
    corners = m.align_corners if isinstance(m, nn.Upsample) else call.get(4, "align_corners")
    if mode not in ("nearest", "linear", "bilinear"):
        raise b.unread(call, f"interpolates with mode '{mode}'; 'nearest', 'linear' and 'bilinear' have a rule")
    matrices = []
    for size, out in zip(lay.shape_of(value.layout)[2:], call.shape[2:], strict=True):
        eye = torch.eye(size, dtype=torch.float64)[:, None]
        flat = "nearest" if mode == "nearest" else "linear"
        matrices.append(functional.interpolate(eye, out, mode=flat, align_corners=corners)[:, 0].T)
    return mix(b, call, value, matrices, call.shape)


def pad(b: Builder, call: Call) -> Random:
    """Converts F.pad and padding layers of torch.nn over positions: zero, circular, reflected or replicated padding."""
    value = b.flush(call.args[0], call)
    m = call.module
    widths = list(m.padding if m is not None else call.get(1, "pad"))
    mode = _PADDING.get(call.name, "constant") if m is not None else call.get(2, "mode", "constant")
    number = float(getattr(m, "value", 0.0) or 0.0) if m is not None else float(call.get(3, "value") or 0.0)
    rank = len(value.layout)
    touched = [rank - 1 - i for i in range(len(widths) // 2)]
    roles = {a.role for d in touched for a in value.layout[d]}
    if number != 0.0 or roles - {Role.POSITION}:
        raise b.unread(call, "pads with a constant other than zero, or pads channels")
    layout, matrices = list(value.layout), {}
    for i, d in enumerate(touched):
        size = lay.shape_of(value.layout)[d]
        layout[d] = (LayoutAxis(size, Role.POSITION),)
        eye = torch.eye(size, dtype=torch.float64)[:, None]
        matrices[d] = functional.pad(eye, widths[2 * i : 2 * i + 2], mode=mode)[:, 0].T
    value = b.settle(value, tuple(layout), call.where)
    after = tuple(
        (LayoutAxis(call.shape[d], Role.POSITION),) if d in matrices else axes for d, axes in enumerate(layout)
    )
    by_axis: list[Tensor | None] = [None] * len(lay.grid(value.layout))
    for d, matrix in matrices.items():
        by_axis[lay.position_axes(value.layout, d)[0]] = matrix
    gaussian = b.steps[value.source].gaussian  # Zeros from padding count as Gaussian numbers of variance zero.
    return b.emit(FixedPositionMap(tuple(by_axis)), (value.source,), call.where, after, gaussian=gaussian)


_PADDING = {
    "ZeroPad1d": "constant", "ZeroPad2d": "constant", "ConstantPad1d": "constant", "ConstantPad2d": "constant",
    "CircularPad1d": "circular", "CircularPad2d": "circular", "ReflectionPad1d": "reflect",
    "ReflectionPad2d": "reflect", "ReplicationPad1d": "replicate", "ReplicationPad2d": "replicate",
    "ZeroPad3d": "constant", "ConstantPad3d": "constant", "CircularPad3d": "circular", "ReflectionPad3d": "reflect",
    "ReplicationPad3d": "replicate",
}  # fmt: skip


def mean(b: Builder, call: Call) -> Random:
    """Converts x.mean(dim) and x.sum(dim) over dimensions that hold positions to a program step."""
    value = b.flush(call.args[0], call)
    rank = len(value.layout)
    dims = call.get(1, "dim")
    if dims is None:
        raise b.unread(call, "averages over the whole batch")
    chosen = {d % rank for d in ((dims,) if isinstance(dims, int) else tuple(dims))}
    roles = {a.role for d in chosen for a in value.layout[d]}
    if Role.BATCH in roles:
        raise b.unread(call, "averages over the batch: outputs would depend on the other samples")
    if Role.CHANNEL in roles:
        raise b.refuse(
            call,
            "averages over the channels",
            "the channel axis grows, so that its mean is a constant in the limit",
            "Average over positions and let a Linear layer read the channels",
        )
    axes = {a for d in chosen for a in lay.position_axes(value.layout, d)}
    factor = {"mean": lambda s: 1.0 / s, "sum": lambda s: 1.0}[call.name]
    grid = lay.grid(value.layout)
    matrices = [torch.full((1, s), factor(s), dtype=torch.float64) if i in axes else None for i, s in enumerate(grid)]
    pooled = tuple(
        tuple(LayoutAxis(1, a.role) if d in chosen else a for a in axes_) for d, axes_ in enumerate(value.layout)
    )
    result = b.emit(
        FixedPositionMap(tuple(matrices)), (value.source,), call.where, pooled, gaussian=b.steps[value.source].gaussian
    )
    kept = tuple(() if d in chosen else axes_ for d, axes_ in enumerate(pooled))
    if not call.get(2, "keepdim", False):
        kept = tuple(d for i, d in enumerate(kept) if i not in chosen)
    return b.settle(result, kept, call.where)


def mix(b: Builder, call: Call, value: Random, matrices: list[Tensor], shape: tuple[int, ...]) -> Random:
    """Adds a program step with a linear map of positions (pixels, tokens), given by one matrix per axis."""
    elements: list[Tensor | None] = [None] * len(lay.position_axes(value.layout, 1))
    layout = (*value.layout[:2], *(((LayoutAxis(s, Role.POSITION),)) for s in shape[2:]))
    gaussian = b.steps[value.source].gaussian
    return b.emit(FixedPositionMap((*elements, *matrices)), (value.source,), call.where, layout, gaussian=gaussian)


def _image(b: Builder, call: Call) -> Random:
    value = b.flush(call.args[0], call)
    shape = lay.shape_of(value.layout)
    roles = [{a.role for a in d} for d in value.layout]
    channels = value.layout[1][:1] and value.layout[1][0].role is Role.CHANNEL and Role.BATCH not in roles[1]
    if roles[0] != {Role.BATCH} or not channels or any(r - {Role.POSITION} for r in roles[2:]):
        raise b.unread(call, "pools a tensor that is not (batch, channels, positions)")
    return b.settle(value, (*value.layout[:2], *((LayoutAxis(s, Role.POSITION),) for s in shape[2:])), call.where)


def _at(value: Any, axis: int) -> int:
    if isinstance(value, tuple | list):
        return int(value[axis] if len(value) > 1 else value[0])
    return int(value)
