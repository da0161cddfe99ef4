"""Finds all positions on a segment at which a piecewise linear network changes slope, in one forward pass.

Between two neighboring places every step so far is affine, so that at a new place between them, at which a unit crosses
zero, every value that a later step needs is a mean of those at its neighbors,

    h(s) = (1 - r) h(t_i) + r h(t_(i+1)),     s = (1 - r) t_i + r t_(i+1)                                        (1)

and nothing is computed twice. Places that do not fit in memory go on in pieces of the segment, one after the other.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.program.piecewise_linear import PiecewiseLinearGraph
from gnomon.robustness.regions.cutting import sign_deciding_values, zero_crossings

__all__ = ["kink_positions"]

Live = dict[int, Tensor]
"""The values at all places of the steps that a later step reads."""


def kink_positions(graph: PiecewiseLinearGraph, values: Tensor, t: Tensor, size: int) -> Iterator[Tensor]:
    """Yields, part by part, the sorted positions on a segment at which the network's slope changes.

    ``values`` are the inputs at the places t to begin with, and at most ``size`` places are held at once.

    Cost: a forward pass of every place, from the step on at which it was found.

    >>> from torch import nn
    >>> from gnomon.program.piecewise_linear import read_piecewise_linear
    >>> graph, ends = read_piecewise_linear(nn.ReLU(), torch.zeros(1, 1)), torch.tensor([[-1.0], [3.0]])
    >>> [part.tolist() for part in kink_positions(graph, ends, torch.tensor([0.0, 1.0]), 100)]
    [[0.0, 0.25, 1.0]]
    """
    readers = {
        i: max((j for j, s in enumerate(graph.steps) if i in s.inputs), default=0) for i in range(len(graph.steps))
    }
    yield from _kinks_from_step(graph, readers, {0: values}, t, 1, size)


def _kinks_from_step(
    graph: PiecewiseLinearGraph, readers: dict[int, int], live: Live, t: Tensor, start: int, size: int
) -> Iterator[Tensor]:
    """Yields the positions on a segment at which one of the layers from number ``start`` on changes its slope."""
    for number in range(start, len(graph.steps)):
        step = graph.steps[number]
        if step.kind in ("relu", "max"):
            t, piece, share = _merge_positions(t, *zero_crossings(sign_deciding_values(step, live[step.inputs[0]])))
            if len(t) > size:
                for first in range(0, len(t) - 1, size - 1):
                    part = slice(first, first + size)
                    here = {i: _between(v, piece[part], share[part]) for i, v in live.items()}
                    here = _run_step(graph, readers, here, number)
                    yield from _kinks_from_step(graph, readers, here, t[part], number + 1, size)
                return
            live = {i: _between(v, piece, share) for i, v in live.items()}
        live = _run_step(graph, readers, live, number)
    yield t


def _merge_positions(t: Tensor, piece: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Merges old and new positions on the segment in increasing order, with weights to interpolate values at them.

    See equation (1) of the module docstring.
    """
    last = len(t) - 2
    piece = torch.cat([torch.arange(len(t)).clamp_max(last), piece])
    share = torch.cat([torch.zeros(last + 1).to(t), torch.ones(1).to(t), share])
    places = torch.cat([t, t[piece[len(t) :]] * (1 - share[len(t) :]) + t[piece[len(t) :] + 1] * share[len(t) :]])
    order = places.argsort(stable=True)
    places = places[order]
    kept = order[torch.cat([torch.ones(1, dtype=torch.bool), places[1:] > places[:-1]])]
    return places.unique(), piece[kept], share[kept]


def _between(values: Tensor, piece: Tensor, share: Tensor) -> Tensor:
    far = share.reshape(-1, *[1] * (values.dim() - 1))
    return torch.lerp(values[piece], values[piece + 1], far)  # (1)


def _run_step(graph: PiecewiseLinearGraph, readers: dict[int, int], live: Live, number: int) -> Live:
    """Runs one layer and returns only the values that later layers need."""
    step = graph.steps[number]
    live = {**live, number: step.function(*(live[i] for i in step.inputs))}
    return {i: v for i, v in live.items() if readers[i] > number}
