"""Cuts segments and polygons at the zeros of affine functions, to find the linear regions of a network.

>>> import torch
>>> square = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
>>> [len(part) for part in cut_polygon(square, square[:, :1] - 0.5)]                # x - 1/2 at the corners
[4, 4]
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.program.piecewise_linear import PiecewiseLinearGraph, PiecewiseLinearStep

__all__ = [
    "zero_crossings",
    "cut_polygon",
    "pattern_hashes",
    "activation_pattern",
    "points_per_pass",
    "sign_deciding_values",
]

MAX_NUMBERS_HELD = 2**26
"""Maximum number of values of all layers that are held at once."""

ROUNDING_SHARE = 1e-10
"""Share of the largest value below which a sign counts as rounding."""


def sign_deciding_values(step: PiecewiseLinearStep, values: Tensor) -> Tensor:
    """Returns the values whose signs decide the linear region at one layer: ReLU inputs, or differences in max-pools.

    Cost: one pass; for a max-pool as many as there are pairs in a window.

    >>> sign_deciding_values(PiecewiseLinearStep("relu", (0,), torch.relu, None, 0.0, "relu"), torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if step.kind == "relu":
        return values.flatten(1)
    windows = _windows(step.layer, values)
    i, j = torch.triu_indices(windows.shape[-1], windows.shape[-1], 1)
    difference = windows[..., i] - windows[..., j]
    return torch.where(difference.isfinite(), difference, torch.ones_like(difference)).flatten(1)


def points_per_pass(graph: PiecewiseLinearGraph, x: Tensor) -> int:
    """Returns how many points fit into one forward pass, given the memory for the outputs of all layers; at least two.

    Cost: a forward pass of one point.

    >>> from gnomon.program.piecewise_linear import read_piecewise_linear
    >>> points_per_pass(read_piecewise_linear(nn.ReLU(), torch.zeros(1, 2)), torch.zeros(1, 2))
    16777216
    """
    return max(2, MAX_NUMBERS_HELD // sum(value[0].numel() for value in graph.values(x[:1])))


def activation_pattern(graph: PiecewiseLinearGraph, x: Tensor) -> Tensor:
    """Returns for each point which ReLU units are active and which input wins each max-pool.

    Cost: a forward pass.

    >>> from gnomon.program.piecewise_linear import read_piecewise_linear
    >>> activation_pattern(read_piecewise_linear(nn.ReLU(), torch.zeros(1, 2)), torch.tensor([[-1.0, 2.0]])).tolist()
    [[0, 1]]
    """
    values = graph.values(x)
    rows = [torch.zeros(len(x), 0, dtype=torch.long)]
    for step in graph.steps:
        if step.kind == "relu":
            rows.append((values[step.inputs[0]].flatten(1) > 0).long())
        elif step.kind == "max":
            rows.append(_windows(step.layer, values[step.inputs[0]]).argmax(-1).flatten(1))
    return torch.cat(rows, 1)


def pattern_hashes(graph: PiecewiseLinearGraph, points: Iterable[Tensor]) -> Tensor:
    """Returns a hash of the activation pattern of each point, so that equal patterns are found without storing them.

    The hash is a sum of random 64-bit numbers, one for each unit. Among 200,000 patterns a collision has probability
    1e-9.

    Cost: a forward pass.

    >>> from gnomon.program.piecewise_linear import read_piecewise_linear
    >>> graph = read_piecewise_linear(nn.ReLU(), torch.zeros(1, 1))
    >>> a, b, c = pattern_hashes(graph, [torch.tensor([[-1.0], [2.0]]), torch.tensor([[3.0]])])
    >>> bool(a != b), bool(b == c)
    (True, True)
    """
    generator, found, factors = torch.Generator().manual_seed(0), [], None
    for part in points:
        rows = activation_pattern(graph, part)
        if factors is None:
            factors = torch.randint(-(2**62), 2**62, (rows.shape[1],), generator=generator) * 2 + 1
        found.append((rows * factors).sum(1))  # modulo 2^64
    return torch.cat(found)


def _windows(layer: nn.Module | None, values: Tensor) -> Tensor:
    """Returns the inputs of every pooling window, (points, channels, places, window); padding is minus infinity."""
    assert isinstance(layer, nn.MaxPool1d | nn.MaxPool2d)
    images = values[:, :, None] if isinstance(layer, nn.MaxPool1d) else values
    kernel, stride, padding, dilation = layer.kernel_size, layer.stride, layer.padding, layer.dilation
    if isinstance(layer, nn.MaxPool1d):
        kernel, stride, padding, dilation = (
            (k, _one(v)) for k, v in zip((1, 1, 0, 1), (kernel, stride, padding, dilation), strict=True)
        )
    low = images.min() - 1
    shifted = images - low  # All values are raised above zero, because unfold pads images with zeros.
    patches = nn.functional.unfold(shifted.flatten(0, 1)[:, None], kernel, dilation, padding, stride)
    patches = torch.where(patches > 0, patches + low, -torch.inf)
    return patches.transpose(1, 2).reshape(len(values), images.shape[1], patches.shape[2], -1)


def _one(value: Any) -> int:
    return int(value[0]) if isinstance(value, tuple) else int(value)


def zero_crossings(values: Tensor) -> tuple[Tensor, Tensor]:
    """Returns between which neighboring rows the functions (columns) cross zero, and the relative position of each
    zero.

    Cost: one pass over the values.

    >>> [found.tolist() for found in zero_crossings(torch.tensor([[-1.0], [3.0]]))]
    [[0], [0.25]]
    """
    left, right = values[:-1], values[1:]
    tiny = ROUNDING_SHARE * values.abs().amax()
    changed = ((left < -tiny) & (right > tiny)) | ((left > tiny) & (right < -tiny))
    return changed.nonzero()[:, 0], (left / (left - right))[changed]


def cut_polygon(cell: Tensor, values: Tensor) -> list[Tensor]:
    """Cuts a convex polygon into pieces on which no function changes sign, given the functions' values at the corners.

    Cost: a pass over the corners for every function that changes sign.

    >>> triangle = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> len(cut_polygon(triangle, triangle - 0.25))                                     # two lines that cross inside
    4
    """
    tiny = ROUNDING_SHARE * values.abs().amax()
    done, waiting = [], [(cell, values, 0)]
    while waiting:
        corners, z, first = waiting.pop()
        crossed = (z[:, first:].amin(0) < -tiny) & (z[:, first:].amax(0) > tiny)
        if not bool(crossed.any()):
            done.append(corners)
            continue
        unit = first + int(crossed.nonzero()[0, 0])
        for sign in (1.0, -1.0):
            waiting.append((*_half(corners, z, sign * z[:, unit], float(tiny)), unit + 1))
    return done


def _half(corners: Tensor, z: Tensor, side: Tensor, tiny: float) -> tuple[Tensor, Tensor]:
    """Returns the part of a polygon on which the function ``side`` is positive, with function values at its corners."""
    points, rows = [], []
    for i in range(len(corners)):
        j = (i + 1) % len(corners)
        a, b = float(side[i]), float(side[j])
        if a >= -tiny:
            points.append(corners[i])
            rows.append(z[i])
        if (a < -tiny and b > tiny) or (a > tiny and b < -tiny):
            share = a / (a - b)
            points.append(corners[i] + share * (corners[j] - corners[i]))
            rows.append(z[i] + share * (z[j] - z[i]))
    return torch.stack(points), torch.stack(rows)
