"""Lists, for each operation of autograd, how the gradient of a parameter follows from activations and gradients.

A rule gives the factors of `gnomon.tangent.factors` for one use of a parameter. The activations are the tensors that
autograd saved, so that nothing is computed twice. Operations without a rule are left to `gnomon.tangent.jacobian`.
"""

from collections.abc import Callable
from math import prod
from typing import Any

from torch import Tensor
from torch.nn.functional import pad

from gnomon.tangent.factors import Factors, Lookup, Matrix, Vector
from gnomon.tangent.layout import ExampleLayout

Recorded = Any
"""A node of the graph with what it saved, as attributes that no type declares."""


def factors_of(node: Recorded, slot: int, parameter: tuple[int, ...]) -> Factors | None:
    """Returns the formula of a parameter's gradient (activations times gradients) in an operation; None if unknown.

    Cost: none; factors are computed from what autograd saved when they are used.

    >>> import torch
    >>> w = torch.ones(2, 3, requires_grad=True)
    >>> y = torch.nn.functional.linear(torch.ones(4, 3), w)
    >>> factors_of(y.grad_fn, 1, (3, 2)).inputs(ExampleLayout(0, 1, 1)).shape
    torch.Size([4, 1, 1, 3])
    """
    make = RULES.get(node.name())
    return None if make is None else make(node, slot, parameter)


def _addmm(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    if slot == 0:
        return Vector(node._saved_mat1, _along(shape, _result(node))) if node._saved_beta == 1 else None
    return _mm(node, slot - 1, shape) if node._saved_alpha == 1 else None


def _mm(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    if slot != 1:
        return None
    a = node._saved_mat1 if node.name() == "AddmmBackward0" else node._saved_self
    return Matrix(a, lambda layout: _rows(layout, a), _rows, flip=True)


def _rows(layout: ExampleLayout, t: Tensor) -> Tensor:
    if layout.positions == 1:
        return t[:, None, None]
    parts = layout.split(t)
    return parts.reshape(len(parts), 1, layout.positions, t.shape[1])


def _convolution(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    if slot == 2:
        return Vector(node._saved_input, (1,))
    if slot != 1 or node._saved_transposed:
        return None
    x, groups = node._saved_input, node._saved_groups
    padding, stride, dilation = node._saved_padding, node._saved_stride, node._saved_dilation

    def inputs(layout: ExampleLayout) -> Tensor:
        parts = layout.split(patches(x, groups, shape[2:], padding, stride, dilation))
        return parts[:, 0, 0] if layout.positions == 1 else parts.permute(0, 3, 1, 2, 4, 5).flatten(2, 4)

    def grads(layout: ExampleLayout, g: Tensor) -> Tensor:
        # The axes are (examples, before, after, groups, units, sites).
        parts = layout.split(g.flatten(2).unflatten(1, (groups, -1)))
        return parts[:, 0, 0].mT if layout.positions == 1 else parts.permute(0, 3, 1, 2, 5, 4).flatten(2, 4)

    return Matrix(x, inputs, grads, kernel=tuple(shape[2:]))


def patches(x: Tensor, groups: int, kernel: tuple[int, ...], padding: tuple, stride: tuple, dilation: tuple) -> Tensor:
    """Returns the input patches of a convolution, (n, groups, positions, features), features ordered (kernel, channel).

    Channels come last in memory, so that the copy moves runs of channels and products read contiguous rows.

    Cost: one copy of prod(kernel) times the input; none for a 1x1 kernel at stride one on channels-last memory.

    >>> import torch
    >>> patches(torch.arange(4.0).reshape(1, 1, 4), 1, (2,), (0,), (1,), (1,))
    tensor([[[[0., 1.],
              [1., 2.],
              [2., 3.]]]])
    """
    if any(padding):
        x = pad(x, [p for side in reversed(padding) for p in (side, side)])
    x = x.movedim(1, -1).contiguous()
    n, *sizes, channels = x.shape
    per_group = channels // groups
    if prod(kernel) == 1 and prod(stride) == 1:
        return x.reshape(n, prod(sizes), groups, per_group).transpose(1, 2)
    out = [(s - d * (k - 1) - 1) // st + 1 for s, k, st, d in zip(sizes, kernel, stride, dilation, strict=True)]
    steps = x.stride()[1:-1]
    across = [step * st for step, st in zip(steps, stride, strict=True)]
    within = [step * d for step, d in zip(steps, dilation, strict=True)]
    view = x.as_strided((n, groups, *out, *kernel, per_group), (x.stride(0), per_group, *across, *within, 1))
    return view.reshape(n, groups, prod(out), prod(kernel) * per_group)


def _layer_norm(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    x, mean, rstd = node._saved_input, node._saved_result1, node._saved_result2
    axes = tuple(range(x.dim() - len(shape), x.dim()))
    return Vector(x, axes, None if slot == 2 else lambda: (x - mean) * rstd)


def _batch_norm(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    x, mean, var = node._saved_input, node._saved_running_mean, node._saved_running_var
    if node._saved_training or mean is None:
        return None
    broadcast = (1, -1, *[1] * (x.dim() - 2))
    rstd = (var + node._saved_eps).rsqrt()
    return Vector(x, (1,), None if slot == 2 else lambda: (x - mean.reshape(broadcast)) * rstd.reshape(broadcast))


def _group_norm(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    x, mean, rstd = node._saved_input, node._saved_result1, node._saved_result2

    def normalize() -> Tensor:
        grouped = x.reshape(len(x), node._saved_group, -1)
        return ((grouped - mean.unsqueeze(-1)) * rstd.unsqueeze(-1)).reshape(x.shape)

    return Vector(x, (1,), None if slot == 2 else normalize)


def _embedding(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    if node._saved_scale_grad_by_freq:
        return None  # The gradient is scaled by token counts of the whole batch, so examples are not independent.
    padding = node._saved_padding_idx
    padding = padding - 2**64 if padding >= 2**63 else padding  # Autograd stores -1 as an unsigned 64-bit integer.
    return Lookup(node._saved_indices, padding, shape[0])


def _add(node: Recorded, slot: int, shape: tuple[int, ...], sign: float = 1.0) -> Factors | None:
    scale = node._saved_alpha if slot == 1 else 1
    return Vector(None, _along(shape, _result(node)), factor=sign * float(scale))


def _sub(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    return _add(node, slot, shape, -1.0 if slot == 1 else 1.0)


def _mul(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    other = node._saved_other if slot == 0 else node._saved_self
    if not isinstance(other, Tensor):
        return None
    whole = tuple(other.shape) == _result(node)
    return Vector(other if whole else None, _along(shape, _result(node)), lambda: other)


def _expand(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    return Vector(None, _along(shape, _result(node)))


def _prelu(node: Recorded, slot: int, shape: tuple[int, ...]) -> Factors | None:
    x = node._saved_self
    return Vector(x, _along(shape, tuple(x.shape)), lambda: x.clamp(max=0)) if slot == 1 else None


def _result(node: Recorded) -> tuple[int, ...]:
    return tuple(node._input_metadata[0].shape)


def _along(shape: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(result) - len(shape)
    return tuple(lead + i for i, size in enumerate(shape) if size != 1)


RULES: dict[str, Callable[[Recorded, int, tuple[int, ...]], Factors | None]] = {
    "AddmmBackward0": _addmm,
    "MmBackward0": _mm,
    "ConvolutionBackward0": _convolution,
    "NativeLayerNormBackward0": _layer_norm,
    "NativeBatchNormBackward0": _batch_norm,
    "NativeGroupNormBackward0": _group_norm,
    "EmbeddingBackward0": _embedding,
    "AddBackward0": _add,
    "SubBackward0": _sub,
    "MulBackward0": _mul,
    "ExpandBackward0": _expand,
    "PreluKernelBackward0": _prelu,
}
"""How each operation of autograd uses a parameter."""
