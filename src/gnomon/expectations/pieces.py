"""Splits an elementwise function into smooth pieces, each of which a polynomial fits to nine digits.

Intervals are halved until 16 Legendre coefficients have decayed, which drives a corner or a jump into an interval of a
few roundings; neighbors that one polynomial still fits are then joined again. What is left are hard cuts, at which phi
is not smooth, and soft ones, needed only by rules coarser than the neighboring pieces.

Decay on [l, r], 0 <= l < r, is measured against the largest |phi| within max(1.4 l, r / 16): any Gaussian has there at
least the square of the weight it has at l, and one that reaches r at all (ten deviations) has its bulk within r / 16.
Nothing is measured against less than |phi| within a quarter of the least deviation in use; so the noise of functions
that cancel near zero, as x - tanh(x), does not count.
Hypotheses: piecewise analytic; features no finer than one percent of their distance from the origin, unless they are
corners or jumps, which are found wherever they are.
Cost: some 10^4 evaluations of the function, twice that for each corner.
"""

from dataclasses import dataclass, field
from math import ceil, floor, log2
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.expectations.functions import Elementwise
from gnomon.expectations.legendre import SAMPLE, misfit, misfit_of_union, powers, samples

ZERO_COEFFICIENT_SHARE = 1e-9
"""Coefficients below this share of the local size count as zero."""
NOISE_SHARE = 1e-8
"""Coefficients below this share that three bisections do not shrink are rounding noise of the function."""
NARROW_INTERVAL_SHARE = 2.0**-12
"""Width relative to the distance from the origin: such intervals arise at corners, and are cut more finely."""
INITIAL_OCTAVES = 8
"""Octaves below the smallest standard deviation that are cut initially."""
MIN_INTERVAL_SHARE = 2.0**-49
"""Width relative to the distance from the origin below which intervals are not cut."""
EQUAL_EDGE_SHARE = 2.0**-44
"""Distance relative to the distance from the origin below which two edges are one."""
MAX_INTERVALS = 4096
"""Maximum number of intervals."""
LINE_TOLERANCE = 2.0**-47
"""Deviation from a line, relative to the largest value, that counts as rounding."""
MAX_END_RATIO = 16.0
"""Maximum ratio of the right end of an interval to its left end."""


@dataclass(frozen=True, slots=True)
class Size:
    """The largest |f| of a function f up to each distance from the origin, relative to which errors are measured."""

    distance: Tensor
    largest: Tensor
    least: float

    @staticmethod
    @add_call_to_errors("Quadrature(function)")
    def of(function: Elementwise, edges: Tensor, least: float) -> "Size":
        """Computes the largest |f| of a function from values at Gauss points; raises an error if f is not finite."""
        points = samples(edges[:-1], edges[1:]).flatten()
        values = function(points).abs()
        if not bool(torch.isfinite(values).all()):
            worst = points[~torch.isfinite(values)].abs().min()
            raise NotFiniteError(
                f"the function or a derivative of it is not finite at |x| = {float(worst):.3g}",
                accepted="a function with finite E[phi(u)^2]",
                fix="Use a function that grows more slowly, or smaller variances",
            )
        distance, order = points.abs().sort()
        return Size(distance, values[order].cummax(0).values, least)

    def at(self, left: Tensor, right: Tensor, least: float = 0.0) -> Tensor:
        """Returns the largest |f| of a function near [left, right], or within ``least`` of the origin, as a scale for
        errors.
        """
        inner = torch.where(left * right > 0, torch.minimum(left.abs(), right.abs()), 0)
        outer = torch.maximum(left.abs(), right.abs())
        place = torch.searchsorted(
            self.distance, torch.maximum(1.4 * inner, outer / 16).clamp(min=max(least, self.least))
        )
        return self.largest[place.clamp(max=len(self.distance) - 1)]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The smooth pieces of an elementwise function on [-reach, reach], and the points between the pieces.

    The fields hold the places of these points in ascending order, the width of the narrower piece next to each (0 at a
    kink or jump, infinite if the function was cut only for its length), the jump at each, how large the function is,
    and the memory of smoothing.py.
    """

    least: float
    reach: float
    cuts: Tensor
    width: Tensor
    jump: Tensor
    size: Size
    memory: dict[tuple[int, int], Any] = field(default_factory=dict, repr=False, compare=False)

    def within(self, radius: float, panel: float) -> Tensor:
        """Returns the points in [-radius, radius] at which quadrature intervals of this width must be split.

        >>> pieces = find(torch.abs, 1.0, 8.0)
        >>> pieces.within(1.0, 0.1)
        tensor([0.], dtype=torch.float64)
        """
        return self.cuts[(self.width <= panel) & (self.cuts.abs() < radius)]

    @property
    def hard(self) -> Tensor:
        """Returns the corners of the function: its kinks and jumps, at which it is not smooth."""
        return self.cuts[self.width == 0]

    def polynomials(self, function: Elementwise) -> tuple[Tensor, Tensor]:
        """Returns the edges of all pieces of the function, and the coefficients of the polynomial that fits each piece.

        >>> find(torch.abs, 4.0, 8.0).polynomials(torch.abs)[1][:, :2].round().tolist()
        [[4.0, -4.0], [4.0, 4.0]]
        """
        end = self.cuts.new_full((1,), self.reach)
        edges = torch.cat([-end, self.cuts, end])
        values = function(samples(edges[:-1], edges[1:]))
        found, straight = powers(values), _straight(values)
        # On straight pieces, coefficients above degree one are zero up to rounding. Exact zeros make evaluation faster.
        found[straight] = powers(values[straight], degree=1)
        return edges, found


def find(function: Elementwise, least: float, reach: float) -> Pieces:
    """Splits a function into smooth pieces on [-reach, reach], fine enough for standard deviations of ``least`` or
    more.

    Hypotheses and cost: see the module.

    >>> find(lambda x: torch.relu(x - 0.3), 1.0, 8.0).hard
    tensor([0.3000], dtype=torch.float64)
    """
    top, bottom = ceil(log2(max(reach, 1e-100))), floor(log2(max(least, 1e-100))) - INITIAL_OCTAVES
    octaves = 2.0 ** torch.arange(min(bottom, top - 1), top, dtype=torch.float64)
    eighths = torch.arange(8, 16, dtype=torch.float64) / 8
    ladder = torch.cat([(octaves[:, None] * eighths).flatten(), octaves[-1:] * 2])
    ladder = ladder[: int(torch.searchsorted(ladder, reach)) + 1]
    edges = torch.cat([-ladder.flip(0), ladder.new_zeros(1), ladder])
    size = Size.of(function, edges, least / 4)
    edges, corner = _mark_corners(function, _halve(function, edges, size), size)
    edges, corner = _without_duplicate_edges(*_merge_pieces(function, edges, corner, size, 2 * least))
    cuts, width, jump = _classify(function, edges, corner, size)
    values = function(samples(edges[:-1], edges[1:]))
    level = torch.where((values == values[:, :1]).all(1), values[:, 0], torch.nan)
    # Removes an edge if the function has the same constant value on both of its sides.
    keep = ~(torch.isinf(width) & (level[:-1] == level[1:]))
    cuts, width, jump = cuts[keep], width[keep], jump[keep]
    return Pieces(least, float(edges[-1]), cuts, width, jump, size)


def _halve(function: Elementwise, edges: Tensor, size: Size) -> Tensor:
    """Halves intervals until a polynomial fits the function on each; returns the edges, which become dense
    near kinks.
    """
    left, right = edges[:-1], edges[1:]
    history = left.new_full((len(left), 3), torch.inf)
    kept = [edges]
    while len(left):
        coefficient, scale = misfit(function, left, right), size.at(left, right)
        outer = torch.maximum(left.abs(), right.abs())
        width = (right - left) / outer
        fine = ZERO_COEFFICIENT_SHARE * torch.where(width < NARROW_INTERVAL_SHARE, 1e-3, 1.0) * scale
        noise = (coefficient <= NOISE_SHARE * scale) & (coefficient > history[:, 0] / 2)
        split = (
            (coefficient > fine)
            & ~noise
            & (width > MIN_INTERVAL_SHARE)
            & (outer > MIN_INTERVAL_SHARE * size.distance[0])
        )
        if int(split.sum()) > MAX_INTERVALS:
            raise _unresolved_error(left[split], right[split])
        left, right = left[split], right[split]
        history = torch.cat([history[split, 1:], coefficient[split, None]], 1).repeat(2, 1)
        middle = (left + right) / 2
        kept.append(middle)
        left, right = torch.cat([left, middle]), torch.cat([middle, right])
    return torch.cat(kept).unique()


def _mark_corners(function: Elementwise, edges: Tensor, size: Size) -> tuple[Tensor, Tensor]:
    """Replaces each tiny interval on which no polynomial fits the function by its midpoint, marked as a kink
    or jump.
    """
    left, right = edges[:-1], edges[1:]
    worst = misfit(function, left, right)
    wall = worst.new_zeros(1)
    peak = (worst >= torch.cat([wall, worst[:-1]])) & (worst > torch.cat([worst[1:], wall]))
    narrow = right - left < NARROW_INTERVAL_SHARE * torch.maximum(left.abs(), right.abs())
    peak &= narrow & (worst > 1e-5 * ZERO_COEFFICIENT_SHARE * size.at(left, right))
    stay = torch.ones(len(edges), dtype=torch.bool, device=edges.device)
    stay[:-1] &= ~peak
    stay[1:] &= ~peak
    edges, order = torch.cat([edges[stay], (left + right)[peak] / 2]).sort()
    return edges, order >= int(stay.sum())


def _merge_pieces(
    function: Elementwise, edges: Tensor, corner: Tensor, size: Size, center: float
) -> tuple[Tensor, Tensor]:
    """Removes edges between pieces (except kinks and jumps) if one polynomial fits the function on both sides.

    But for those within ``center``, no interval spans more than a factor LONG: so it is measured by its own size.
    """
    idle, parity = 0, 0
    while idle < 2 and len(edges) > 2:
        inner = torch.arange(1 + parity, len(edges) - 1, 2, device=edges.device)
        inner = inner[~corner[inner]]
        left, right = edges[inner - 1], edges[inner + 1]
        short = (left * right > 0) & (torch.maximum(left / right, right / left) <= MAX_END_RATIO)
        short |= torch.maximum(left.abs(), right.abs()) <= center
        inner, left, right = inner[short], left[short], right[short]
        drop = inner[_fits(function, left, edges[inner], right, size)]
        keep = torch.ones(len(edges), dtype=torch.bool, device=edges.device)
        keep[drop] = False
        edges, corner = edges[keep], corner[keep]
        idle, parity = (idle + 1 if len(drop) == 0 else 0), 1 - parity
    return edges, corner


def _without_duplicate_edges(edges: Tensor, corner: Tensor) -> tuple[Tensor, Tensor]:
    """Removes edges between pieces that lie so close to a kink or jump that only rounding separates them."""
    close = edges.diff() <= EQUAL_EDGE_SHARE * torch.maximum(edges[1:].abs(), edges[:-1].abs())
    first = close & corner[1:] & ~corner[:-1]
    keep = torch.ones(len(edges), dtype=torch.bool, device=edges.device)
    keep[:-1] &= ~first
    keep[1:] &= ~(close & ~first)
    return edges[keep], corner[keep]


def _fits(function: Elementwise, left: Tensor, cut: Tensor, right: Tensor, size: Size) -> Tensor:
    return misfit_of_union(function, left, cut, right) <= ZERO_COEFFICIENT_SHARE * size.at(left, right)


def _classify(function: Elementwise, edges: Tensor, corner: Tensor, size: Size) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the edges between a function's pieces, the width of each edge's narrower neighbor, and the jumps."""
    cuts = edges[1:-1]
    width = torch.minimum(cuts - edges[:-2], edges[2:] - cuts)
    left, right = cuts - width / 2, cuts + width / 2
    scale = size.at(left, right)
    hard = corner[1:-1] | (misfit(function, left, right) > 10 * ZERO_COEFFICIENT_SHARE * scale)
    step = 8 * MIN_INTERVAL_SHARE * torch.maximum(cuts.abs(), size.distance[0])
    jump = function(cuts + step) - function(cuts - step)
    jump = torch.where(hard & (jump.abs() > 1e-8 * scale), jump, 0)
    # `idle` marks edges that exist only because an interval was too long, not because the function changes there.
    idle = ~hard & _fits(function, edges[:-2], cuts, edges[2:], size)
    return cuts, torch.where(hard, 0, torch.where(idle, torch.inf, width)), jump


def _straight(values: Tensor) -> Tensor:
    """Returns whether a function's values at Gauss points lie on a straight line."""
    line = powers(values, degree=1)
    bend = (values - line[:, :1] - line[:, 1:2] * SAMPLE[0].to(values)).abs().amax(1)
    return bend <= LINE_TOLERANCE * values.abs().amax(1)


def _unresolved_error(left: Tensor, right: Tensor) -> InputError:
    return InputError(
        f"no polynomials fit the function between {float(left.min()):.3g} and {float(right.max()):.3g}, "
        f"even on {MAX_INTERVALS} intervals",
        accepted="a piecewise analytic function, evaluated to nearly full precision",
        fix="Rewrite it to avoid cancellation and oscillation there",
    )
