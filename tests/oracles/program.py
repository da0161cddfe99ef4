"""Runs a program step by step with the weights that the module has now: the module itself, if it was read correctly.

Values are (batch, channels, *positions). Each step is written out from its own definition in `gnomon.program.steps`.
"""

from math import prod

import torch
from torch import Tensor, nn

from gnomon.program.expression import evaluate
from gnomon.program.steps import (
    Activation,
    Concat,
    Conv,
    ConvolutionWindow,
    DataPositionMap,
    Dense,
    FixedPositionMap,
    Input,
    MultiheadAttention,
    Normalize,
    Recurrence,
    Reorder,
    SharedWeightMap,
    StackBranches,
    Sum,
    Weights,
)

__all__ = ["run"]


def run(program, module: nn.Module, x: Tensor) -> Tensor:
    """The output of the last step as (batch, channels, *positions); every step must have the shape that it states."""
    values: list[Tensor] = []
    for step in program.steps:
        made = _step(step, module, x, [values[i] for i in step.inputs])
        assert made.shape == (len(x), step.channels, *step.grid), (step.where, made.shape, step)
        values.append(made)
    return values[-1]


def _step(step, module: nn.Module, x: Tensor, inputs: list[Tensor]) -> Tensor:
    match step.op:
        case Input(function=function, channel=channel, window=window):
            data = function(x).double().movedim(channel, 1)
            data = data if window is None else _patches(data, window)
            assert data.shape[:2] == (len(x), step.channels), (step.where, data.shape)
            return data.reshape(len(x), step.channels, *step.grid)
        case Dense(weights=weights, contracted=contracted):
            return _dense(inputs[0], *_parameters(module, weights, step.channels), contracted)
        case Conv(weights=weights, window=window):
            return _convolution(inputs[0], *_parameters(module, weights, step.channels), window)
        case SharedWeightMap(weights=weights, index=index):
            return _taps(inputs[0], *_parameters(module, weights, step.channels), index).reshape(
                len(x), step.channels, *step.grid
            )
        case Activation(expression=expression):
            return evaluate(expression, inputs[0])
        case FixedPositionMap(matrices=matrices):
            return _mix(inputs[0], matrices)
        case Reorder(index=index, shape=shape):
            return inputs[0].reshape(*inputs[0].shape[:2], -1)[:, :, index].reshape(*inputs[0].shape[:2], *shape)
        case Sum(coefficients=coefficients):
            return torch.stack([c * v for c, v in zip(coefficients, inputs, strict=True)]).sum(0)
        case Concat(shares=shares):
            assert shares == tuple(v.shape[1] / step.channels for v in inputs)
            return torch.cat(inputs, 1)
        case StackBranches(axis=axis):
            return torch.cat(inputs, 2 + axis)
        case Normalize(pooled=pooled, eps=eps):
            return _normalize(inputs[0], pooled, eps, module.get_submodule(step.where))
        case MultiheadAttention(mask=mask):
            return _attend(inputs, mask, module.get_submodule(step.where).num_heads)
        case DataPositionMap():
            matrix = inputs[1][:, 0]
            return torch.einsum("nos,ncs->nco", matrix, inputs[0])
        case Recurrence(weights=weights, expression=expression):
            return _recur(inputs[0], *_parameters(module, weights, step.channels), expression)
    raise NotImplementedError(type(step.op).__name__)


def _parameters(module: nn.Module, weights: Weights, channels: int) -> tuple[Tensor, Tensor]:
    """Weight (out, in, ...) and bias of a layer; a bias of zeros if there is none."""
    state = dict(module.named_parameters())
    weight = state[weights.weight].detach().double()
    bias = torch.zeros(channels, dtype=torch.float64)
    if weights.bias is not None:
        bias = state[weights.bias].detach().double()
    part = weights.path.rpartition(".")[2]
    if part in ("query", "key", "value"):  # rows of the packed projections of attention
        place = ("query", "key", "value").index(part)
        weight, bias = weight.chunk(3)[place], bias.chunk(3)[place]
    elif part in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
        bias = bias.chunk(3)["qkv".index(part[0])]
    if weights.kind.startswith("ConvTranspose"):
        weight = weight.transpose(0, 1).flip(tuple(range(2, weight.dim())))
    if weights.kind == "Embedding" or weight.shape[0] != channels:
        weight = weight.reshape(-1, weight.shape[-1]).T
    assert prod(weight.shape[1:]) == weights.fan_in, weights
    return weight, bias


def _dense(value: Tensor, weight: Tensor, bias: Tensor, contracted: tuple[int, ...]) -> Tensor:
    axes = [1, *(2 + a for a in contracted)]
    order = [0, *(i for i in range(2, value.dim()) if i not in axes), *axes]
    rows = value.permute(order).flatten(value.dim() - len(axes))
    return (rows @ weight.flatten(1).T + bias).movedim(-1, 1)


def _padded(value: Tensor, window: ConvolutionWindow) -> Tensor:
    """One axis after the other, by hand."""
    for axis, (before, after) in enumerate(window.padding, start=2):
        size = value.shape[axis]
        places = torch.arange(-before, size + after)
        inside = (places >= 0) & (places < size)
        value = value.index_select(axis, places % size)
        if window.mode == "zeros":
            value = value * inside.double().reshape(-1, *(1,) * (value.dim() - axis - 1))
    return value


def _patches(value: Tensor, window: ConvolutionWindow) -> Tensor:
    """(batch, channels times taps, *outputs): what each output of a convolution sees."""
    value = _padded(value, window)
    rank = len(window.kernel)
    for axis in range(rank):
        kernel, stride, dilation = window.kernel[axis], window.stride[axis], window.dilation[axis]
        count = (value.shape[2 + axis] - dilation * (kernel - 1) - 1) // stride + 1
        taps = [value.narrow(2 + axis, k * dilation, (count - 1) * stride + 1) for k in range(kernel)]
        step = torch.arange(0, (count - 1) * stride + 1, stride)
        value = torch.stack([tap.index_select(2 + axis, step) for tap in taps], -1)
    order = [0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank)]
    return value.permute(order).flatten(1, 1 + rank)


def _convolution(value: Tensor, weight: Tensor, bias: Tensor, window: ConvolutionWindow) -> Tensor:
    groups = value.shape[1] // weight.shape[1]
    parts = []
    for part, rows in zip(value.chunk(groups, 1), weight.chunk(groups, 0), strict=True):
        parts.append(torch.einsum("op,np...->no...", rows.flatten(1), _patches(part, window)))
    return torch.cat(parts, 1) + bias.reshape(-1, *(1,) * len(window.kernel))


def _taps(value: Tensor, weight: Tensor, bias: Tensor, index: Tensor) -> Tensor:
    flat = torch.cat([value.flatten(2), torch.zeros(*value.shape[:2], 1, dtype=value.dtype)], 2)  # -1 is zero
    weight = weight.reshape(weight.shape[0], value.shape[1], len(index))
    return torch.einsum("oct,ncts->nos", weight, flat[:, :, index]) + bias[:, None]


def _mix(value: Tensor, matrices: tuple[Tensor | None, ...]) -> Tensor:
    assert len(matrices) == value.dim() - 2
    for axis, matrix in enumerate(matrices, start=2):
        if matrix is not None:
            value = (value.movedim(axis, -1) @ matrix.T).movedim(-1, axis)
    return value


def _normalize(value: Tensor, pooled: tuple[int, ...], eps: float, layer: nn.Module) -> Tensor:
    axes = [1, *(2 + a for a in pooled)]
    if isinstance(layer, nn.LayerNorm | nn.GroupNorm):
        value = value - value.mean(axes, keepdim=True)
    return value / (value.square().mean(axes, keepdim=True) + eps).sqrt()


def _attend(inputs: list[Tensor], mask: Tensor | None, heads: int) -> Tensor:
    """softmax(q k^T / sqrt(d) + masks) v for each head."""
    v, q, k = (t.unflatten(1, (heads, -1)) for t in inputs[:3])
    logits = torch.einsum("nhcp,nhcs->nhps", q, k) / q.shape[2] ** 0.5
    if mask is not None:
        logits = logits + mask
    if len(inputs) == 4:
        logits = logits + inputs[3][:, 0, None, None]
    return torch.einsum("nhps,nhcs->nhcp", logits.softmax(-1), v).flatten(1, 2)


def _recur(value: Tensor, weight: Tensor, bias: Tensor, expression) -> Tensor:
    """u_t = in_t + W phi(u_{t-1}) + b with phi(u_{-1}) = 0."""
    made, state = [], torch.zeros_like(value[..., 0])
    for t in range(value.shape[2]):
        u = value[..., t] + state @ weight.T + bias
        state = evaluate(expression, u)
        made.append(u)
    return torch.stack(made, 2)
