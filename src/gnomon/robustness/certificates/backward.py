"""Computes linear bounds (CROWN) by passing them backwards through a piecewise linear network, layer by layer.

    <a, A z + b> = <A^T a, z> + <a, b>                                      an affine step                          (1)
    a relu(z) >= a s(a) z + min(a, 0) (1 - k) u                             s(a) = the lower slope, k for a < 0     (2)

with the lines of `gnomon.robustness.certificates.bounds`. The transposed map of a dense layer, a convolution and a
batch norm is known; autograd gives the map of other affine steps.
Reference: [zhang2018efficient].
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.modules.layer_classes import CONVOLUTIONS
from gnomon.program.piecewise_linear import PiecewiseLinearGraph, PiecewiseLinearStep
from gnomon.robustness.certificates.region import PerturbationRegion

__all__ = ["Box", "lower_bounds"]

Box = tuple[Tensor, Tensor]
"""The least and the largest value of each number."""


@torch.no_grad()
def lower_bounds(
    graph: PiecewiseLinearGraph, region: PerturbationRegion, boxes: list[Box], number: int, rows: Tensor
) -> Tensor:
    """Returns lower bounds over a region of inputs for linear functions of a layer's output, with coefficients
    ``rows``.

    Cost: a backward pass for each row of each example.

    >>> from gnomon.program.piecewise_linear import read_piecewise_linear
    >>> graph = read_piecewise_linear(nn.ReLU(), torch.zeros(1, 1))
    >>> region = PerturbationRegion.of(torch.ones(1, 1), torch.full((1,), 0.5), "inf", (-9.0, 9.0))
    >>> boxes = [(region.low, region.high), (region.low, region.high)]
    >>> float(lower_bounds(graph, region, boxes, 1, torch.ones(1, 1, 1)))  # relu is the identity here
    0.5
    """
    coefficients: dict[int, Tensor] = {number: rows}
    total = torch.zeros(rows.shape[:2]).to(rows)
    for i in range(number, 0, -1):
        if i not in coefficients:
            continue
        a, step = coefficients.pop(i), graph.steps[i]
        if step.kind == "affine":
            pulled, shift = _pull_back(step, a, [boxes[j][0] for j in step.inputs])
        elif step.kind == "relu":
            pulled, shift = _relu(step.slope, a, boxes[step.inputs[0]])
        else:
            pulled, shift = _max(step, a, boxes[step.inputs[0]], boxes[i])
        total = total + shift
        for j, part in zip(step.inputs, pulled, strict=True):
            coefficients[j] = coefficients[j] + part if j in coefficients else part
    return total + region.least(coefficients[0]) if 0 in coefficients else total


def _pull_back(step: PiecewiseLinearStep, a: Tensor, like: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    """Passes linear coefficients a back through an affine layer A z + b: returns a A and the inner product of a and b.

    See equation (1) of the module docstring.
    """
    layer = step.layer
    if isinstance(layer, nn.Linear):
        return [a @ layer.weight], _constant(a, layer.bias, -1)
    if isinstance(layer, CONVOLUTIONS) and isinstance(layer.padding, tuple) and layer.padding_mode == "zeros":
        return [_transpose(layer, a, like[0])], _constant(a, layer.bias, 2)
    if isinstance(layer, nn.modules.batchnorm._BatchNorm):
        zero = torch.zeros_like(like[0][:1])
        offset = layer(zero)
        return [a * (layer(zero + 1) - offset)], (a * offset).flatten(2).sum(2)
    n, s = a.shape[:2]
    with torch.enable_grad():
        zeros = [torch.zeros(n * s, *v.shape[1:]).to(v).requires_grad_() for v in like]
        output = step.function(*zeros)
        pulled = torch.autograd.grad(output, zeros, a.reshape(n * s, *a.shape[2:]))
    shift = (output.detach().reshape(a.shape) * a).flatten(2).sum(2)
    return [p.reshape(n, s, *p.shape[1:]) for p in pulled], shift


def _constant(a: Tensor, bias: Tensor | None, axis: int) -> Tensor:
    """Returns the inner products of linear coefficients a with a layer's bias b; axis 2 of a holds the channels."""
    if bias is None:
        return a.new_zeros(a.shape[:2])
    return (a.movedim(axis, 2).flatten(3).sum(3) if a.dim() > 3 else a) @ bias


def _transpose(layer: Any, a: Tensor, like: Tensor) -> Tensor:
    """Returns A^T a for a convolution with matrix A and coefficients a, in the shape of the convolution's input."""
    n, s = a.shape[:2]
    shape = (n * s, *like.shape[1:])
    known = (layer.weight, None, layer.stride, layer.padding, layer.dilation, False, [0] * len(layer.stride))
    found = torch.ops.aten.convolution_backward(
        a.reshape(n * s, *a.shape[2:]), a.new_empty(1).expand(shape), *known, layer.groups, (True, False, False)
    )
    return found[0].reshape(n, s, *like.shape[1:])


def _relu(slope: float, a: Tensor, box: Box) -> tuple[list[Tensor], Tensor]:
    low, high = box[0][:, None], box[1][:, None]
    crossing = (low < 0) & (high > 0)
    k = torch.where(crossing, (high - slope * low) / (high - low).clamp_min(1e-30), torch.where(low >= 0, 1.0, slope))
    below = torch.where(crossing, torch.where(high > -low, 1.0, slope), k)
    constant = torch.where(crossing, (1 - k) * high, 0.0).flatten(2)[:, 0]
    shift = torch.einsum("nsd,nd->ns", a.clamp_max(0).flatten(2), constant)
    return [a * torch.where(a > 0, below, k)], shift  # (2)


def _max(step: PiecewiseLinearStep, a: Tensor, box: Box, outer: Box) -> tuple[list[Tensor], Tensor]:
    """Returns linear bounds of a max-pool: below by one of its inputs, above by the largest upper bound."""
    layer = step.layer
    assert isinstance(layer, nn.MaxPool1d | nn.MaxPool2d)
    pool = nn.functional.max_pool1d if isinstance(layer, nn.MaxPool1d) else nn.functional.max_pool2d
    options = (layer.kernel_size, layer.stride, layer.padding, layer.dilation, layer.ceil_mode)
    best, index = pool(box[0], *options, return_indices=True)
    flat = box[1].flatten(2).clone()
    winner = flat.gather(2, index.flatten(2)).reshape(index.shape)
    others = _largest_other(box[1], index, pool, options)
    certain = (best >= others)[:, None]
    to_best = torch.where(certain, a, a.clamp_min(0))
    shift = (torch.where(certain, 0.0, a.clamp_max(0)) * torch.maximum(winner, others)[:, None]).flatten(2).sum(2)
    pulled = torch.zeros(*a.shape[:3], flat.shape[2]).to(a)
    spread = index.flatten(2)[:, None].expand(*a.shape[:3], -1)
    pulled.scatter_add_(3, spread, to_best.flatten(3))
    return [pulled.reshape(*a.shape[:2], *box[0].shape[1:])], shift


def _largest_other(high: Tensor, index: Tensor, pool: Any, options: tuple[Any, ...]) -> Tensor:
    """Returns the largest upper bound in each pooling window, not counting the input that has the largest lower
    bound.
    """
    top, where = pool(high, *options, return_indices=True)
    masked = high.flatten(2).clone()
    masked.scatter_(2, index.flatten(2), float("-inf"))
    second = pool(masked.reshape(high.shape), *options)
    overlap = options[0] != options[1]
    return torch.where(where == index, top if overlap else second, top)
