"""Converts normalization layers and dropout to program steps."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.program import layout as lay
from gnomon.program.builder import Builder
from gnomon.program.centering import centered_data, zero_mean
from gnomon.program.elementwise import gain, prod_positions, uniform
from gnomon.program.expression import Apply
from gnomon.program.layout import Role
from gnomon.program.steps import Dropout, Normalize, TrainableActivationParameter
from gnomon.program.values import Call, Fixed, Random


def layer_norm(b: Builder, call: Call) -> Random | Fixed:
    """Converts nn.LayerNorm and nn.RMSNorm to program steps; the normalized dimensions must hold the channels."""
    module = call.module
    assert isinstance(module, nn.LayerNorm | nn.RMSNorm)
    rank = len(module.normalized_shape)
    value = _enter(b, call)
    if isinstance(value, Fixed):
        return value
    eps = module.eps if module.eps is not None else torch.finfo(torch.get_default_dtype()).eps
    dims = range(len(value.layout) - rank, len(value.layout))
    normal = _normalize(b, call, value, tuple(dims), eps, centered=isinstance(module, nn.LayerNorm))
    return _affine(b, call, normal, module.weight, getattr(module, "bias", None), tuple(module.normalized_shape))


def group_norm(b: Builder, call: Call) -> Random | Fixed:
    """Converts nn.GroupNorm to program steps; large groups have the statistics of all channels."""
    module = call.module
    assert isinstance(module, nn.GroupNorm)
    value = _enter(b, call)
    if isinstance(value, Fixed):
        return value
    if module.num_channels // module.num_groups < 2:
        raise b.refuse(
            call,
            "normalizes each channel alone (as many groups as channels)",
            "statistics are means over many channels",
            "Use fewer groups",
        )
    dims = tuple(range(1, len(value.layout)))
    normal = _normalize(b, call, value, dims, module.eps, centered=True)
    shape = (module.num_channels,) + (1,) * (len(value.layout) - 2)
    return _affine(b, call, normal, module.weight, module.bias, shape)


def batch_norm(b: Builder, call: Call) -> Random:
    """Converts nn.BatchNorm in eval mode with fresh running statistics to a fixed scale and a trainable gain."""
    module = call.module
    assert isinstance(module, nn.modules.batchnorm._BatchNorm)
    if module.training or module.running_mean is None or module.running_var is None:
        raise b.refuse(
            call,
            "is a BatchNorm in training mode",
            "the output for one sample does not depend on the rest of the batch",
            "Call net.eval() first, or use LayerNorm or GroupNorm",
        )
    if bool((module.running_mean != 0).any()) or bool((module.running_var != module.running_var[0]).any()):
        raise b.refuse(
            call,
            "has running statistics that differ between channels",
            "channels are exchangeable at initialization",
            "Read the freshly constructed module (reset_running_stats())",
        )
    value = call.args[0]
    if isinstance(value, Fixed):
        value = b.enter(value, 1, call.where)
    scale = 1.0 / float(module.running_var[0] + module.eps) ** 0.5
    fixed = Apply("mul", torch.mul, (value.expression, scale))
    shape = (module.num_features,) + (1,) * (len(value.layout) - 2)
    return _affine(
        b, call, Random(value.source, value.layout, fixed, value.trainable), module.weight, module.bias, shape
    )


def dropout(b: Builder, call: Call) -> Any:
    """Converts nn.Dropout: the identity in eval mode, an independent mask on every entry in training mode."""
    value, m = call.args[0], call.module
    rate = m.p if isinstance(m, nn.Dropout) else call.get(1, "p", 0.5)
    active = m.training if m is not None else call.get(2, "training", True)
    if not active or rate == 0.0:
        return value
    if isinstance(value, Fixed):
        raise b.refuse(
            call,
            "drops entries of the data before any affine layer",
            "masks act on infinitely many channels",
            "Call net.eval(), or move the dropout after the first layer",
        )
    if rate >= 1.0:
        raise b.refuse(call, "drops everything (p = 1)", "keep probability above zero", "Use p < 1")
    value = b.flush(value, call)
    return b.emit(Dropout(1.0 - rate), (value.source,), call.where, value.layout, gaussian=False)


def _enter(b: Builder, call: Call) -> Random | Fixed:
    """Allows normalization of the data itself if it has no parameters; raises an error otherwise."""
    value, module = call.args[0], call.module
    if not isinstance(value, Fixed):
        return value
    if module is not None and getattr(module, "weight", None) is not None:
        raise b.refuse(
            call,
            "is a normalization with trainable gains applied to the data, before any affine layer",
            "gains act on random channels",
            "Normalize the data beforehand, or use elementwise_affine=False (affine=False) there",
        )
    return Fixed(call.node, call.shape)


def _normalize(b: Builder, call: Call, value: Random, dims: tuple[int, ...], eps: float, *, centered: bool) -> Random:
    roles = {a.role for d in dims for a in value.layout[d]}
    if Role.CHANNEL not in roles or Role.BATCH in roles:
        raise b.refuse(
            call,
            "normalizes over dimensions that do not hold the channels",
            "statistics are means over the channels, the axis that grows",
            "Permute the channels into the normalized dimensions",
        )
    value = b.flush(value, call)
    if centered:
        value = centered_data(b, value)
    source = b.steps[value.source]
    if centered and not zero_mean(b, value.source):
        raise b.refuse(
            call,
            f"centers the output of '{source.where}', whose channels do not have mean zero",
            "normalization receives centered channels: the output of an affine layer",
            "Put it after a Linear or Conv layer, or use RMSNorm",
        )
    pooled = tuple(a for d in dims for a in lay.position_axes(value.layout, d))
    op = Normalize(pooled, float(eps))
    return b.emit(op, (value.source,), call.where, value.layout, gaussian=source.gaussian)


def _affine(
    b: Builder, call: Call, value: Random, weight: Tensor | None, bias: Tensor | None, shape: tuple[int, ...]
) -> Random:
    """Converts the elementwise gain and bias of a normalization layer."""
    if weight is None and bias is None:
        return value
    trainable, factor, shift = [], 1.0, 0.0
    kinds: tuple[tuple[Literal["gain", "bias"], str, Tensor | None], ...] = (
        ("gain", "weight", weight),
        ("bias", "bias", bias),
    )
    for kind, name, tensor in kinds:
        if tensor is None:
            continue
        path = f"{call.where}.{name}"
        b.account(path, call.where)
        first = uniform(b, call, tensor, kind)
        factor, shift = (first, shift) if kind == "gain" else (factor, first)
        if tensor.requires_grad:
            trainable.append(
                TrainableActivationParameter(path, kind, shared=prod_positions(tensor.reshape(shape), value) == 1)
            )
    return gain(b, call, value, factor, shift, tuple(trainable))
