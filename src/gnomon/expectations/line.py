"""Integrates functions of one Gaussian variable by quadrature, for many variances together.

A rule has one grid of panels in z for all variances, so that what depends on z alone is a table and an integral is a
matrix product. Panels that hold a cut of f are taken out and replaced by panels between the cuts, which move with a:

    E[f(sqrt(a) z) g(z)] = sum over grid and moved nodes of weight * sqrt(N(z)) f(sqrt(a) z) * sqrt(N(z)) g(z)      (1)

Hypotheses: f piecewise analytic (see pieces); f^2 N negligible at the ends of the line, which is tested.
Cost: 20 evaluations per panel and variance.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import pi
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.expectations.functions import Elementwise
from gnomon.expectations.legendre import GAUSS_NODES, panels
from gnomon.expectations.pieces import Pieces, find

RADII = (10, 14, 20, 28, 37)
"""Standard deviations at which the integration may end; beyond 37 the density underflows."""

NEGLIGIBLE_SHARE = 1e-18
"""Density of f^2 at the ends, relative to E[f^2], that counts as negligible."""
RANGE_MARGIN = 16.0
"""Factor by which the range of standard deviations is extended."""
MAX_VALUES_HELD = 2**18
"""Maximum number of function values in memory."""


@dataclass(frozen=True, slots=True)
class QuadratureLine:
    """Quadrature nodes and weights for n Gaussians: a common grid, and extra nodes around each kink or jump of the
    function.
    """

    z: Float[Tensor, " grid"]
    weight: Float[Tensor, "#n grid"]
    moved: Float[Tensor, "n extra"]
    moved_weight: Float[Tensor, "n extra"]


@dataclass(frozen=True, slots=True)
class LineSamples:
    """Values of sqrt(N) f at quadrature nodes for several variances, with the normal density N and a function f; and
    E[f^2].
    """

    rows: Tensor
    line: QuadratureLine
    grid: Float[Tensor, "n grid"]
    moved: Float[Tensor, "n extra"]
    second: Float[Tensor, " n"]
    radius: int


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """Wraps an elementwise function and remembers the points at which the function is not smooth.

    ``fits`` and ``series`` are the memory of mehler.py: coefficients as polynomials in the standard deviation, and the
    last coefficients.
    """

    function: Elementwise
    _pieces: list[Pieces] = field(default_factory=list)
    _radius: dict[float, int] = field(default_factory=dict)
    fits: dict[tuple[int, int], Tensor | None] = field(default_factory=dict, repr=False)
    series: dict[tuple[bytes, int], Any] = field(default_factory=dict, repr=False)

    def __call__(self, u: Tensor) -> Tensor:
        """Returns the value of the function at u."""
        return self.function(u)

    def pieces(self, least: float, reach: float) -> Pieces:
        """Splits the function into smooth pieces on [-reach, reach], fine enough for standard deviations of ``least``
        or more.
        """
        if self._pieces:
            known = self._pieces[0]
            if known.least <= least and reach <= known.reach:
                return known
            least, reach = min(least, known.least), max(reach, known.reach)
        try:  # Searches a wider range than asked, because the next layer may need it.
            found = find(self.function, least / RANGE_MARGIN, reach * RANGE_MARGIN)
        except (InputError, NotFiniteError):
            found = find(self.function, least, reach)
        self._pieces[:] = [found]
        return found

    def corners(self, root: Float[Tensor, " n"]) -> bool:
        """Returns whether the function has a kink or a jump within the range of Gaussians with these standard
        deviations.

        >>> root = torch.ones(1, dtype=torch.float64)
        >>> Sampler(torch.relu).corners(root), Sampler(torch.tanh).corners(root)
        (True, False)
        """
        reach = RADII[0] * float(root.max())
        return bool((self.pieces(float(root.min()), reach).hard.abs() < reach).any())

    def radius(self, top: float) -> int:
        """Returns how many standard deviations to integrate over, so that the rest of the integral is negligible."""
        if top not in self._radius:
            row = torch.zeros(1, dtype=torch.int64)
            self._octave(row, torch.full((1,), 0.99 * top, dtype=torch.float64), top, 1.0)
        return self._radius[top]

    def samples(self, root: Float[Tensor, " n"], panel: float) -> Iterator[LineSamples]:
        """Yields values of the function for standard deviations ``root``, in groups that differ by at most a factor of
        two.

        Cost: see the module.

        >>> root = torch.tensor([1.0, 3.0], dtype=torch.float64)
        >>> [round(float(s.second[0]), 9) for s in Sampler(torch.relu).samples(root, 1.0)]     # a / 2
        [0.5, 4.5]
        """
        octaves = torch.frexp(root).exponent
        known = octaves.unique().tolist()
        if known:
            self.pieces(2.0 ** known[0], RADII[0] * 2.0 ** known[-1])
        for octave in known:
            rows, top = (octaves == octave).nonzero()[:, 0], 2.0**octave
            cuts = self.pieces(top, RADII[0] * top).within(RADII[0] * top, panel * top)
            nodes = int(2 * RADII[0] / panel + 2 * len(cuts)) * GAUSS_NODES
            for part in rows.split(max(1, MAX_VALUES_HELD // nodes)):
                yield self._octave(part, root[part], top, panel)

    def _octave(self, rows: Tensor, root: Tensor, top: float, panel: float) -> LineSamples:
        for radius in [r for r in RADII if r >= self._radius.get(top, 0)]:
            line = _line(root, self.pieces(top, radius * top), top, radius, panel)
            grid = self.function(root[:, None] * line.z) * half_density(line.z)
            moved = self.function(root[:, None] * line.moved) * half_density(line.moved)
            second = (line.weight * grid * grid).sum(1) + (line.moved_weight * moved * moved).sum(1)
            ends = radius * torch.tensor([[-1.0, 1.0]], dtype=torch.float64)
            edge = (self.function(root[:, None] * ends) * half_density(ends)).square().amax(1)
            if bool((edge <= NEGLIGIBLE_SHARE * second).all()):
                self._radius[top] = radius
                return LineSamples(rows, line, grid, moved, second, radius)
        raise NotFiniteError(
            f"E[phi(u)^2] does not converge within {RADII[-1]} deviations at variance {float(root.max()) ** 2:.3g}",
            accepted="a function that grows more slowly than the Gaussian density falls",
            fix="Use a function that grows more slowly, or smaller variances",
        )


def second_moment(sampler: Sampler, root: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Returns E[f(s z)^2] of a function f for standard normal z and each standard deviation s in ``root``.

    See equation (1) of the module docstring.
    Cost: 400 evaluations per variance.

    >>> round(float(second_moment(Sampler(torch.abs), torch.ones(1, dtype=torch.float64))), 12)
    1.0
    """
    result = torch.empty_like(root)
    for part in sampler.samples(root, 1.0):
        result[part.rows] = part.second
    return torch.where(root > 0, result, at_zero(sampler) ** 2)


def mean(sampler: Sampler, root: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Returns E[f(s z)] of a function f for standard normal z and each standard deviation s in ``root``.

    See equation (1) of the module docstring.
    Cost: 400 evaluations per variance.

    >>> mean(Sampler(torch.abs), torch.ones(1, dtype=torch.float64))     # sqrt(2 / pi)
    tensor([0.7979], dtype=torch.float64)
    """
    result = torch.empty_like(root)
    for part in sampler.samples(root, 1.0):
        rule = part.line
        fixed = (rule.weight * half_density(rule.z) * part.grid).sum(1)
        result[part.rows] = fixed + (rule.moved_weight * half_density(rule.moved) * part.moved).sum(1)  # (1)
    return torch.where(root > 0, result, at_zero(sampler))


def at_zero(sampler: Sampler) -> Tensor:
    """Returns f(0) for a function f, which is the exact expectation at zero variance.

    >>> at_zero(Sampler(torch.cos))
    tensor(1., dtype=torch.float64)
    """
    return sampler.function(torch.zeros(1, dtype=torch.float64))[0]


def half_density(z: Tensor) -> Tensor:
    """Returns the square root of the standard normal density at z.

    >>> round(float(half_density(torch.zeros(())) ** 4 * 2 * pi), 6)
    1.0
    """
    return torch.exp(z * z * -0.25) * (2 * pi) ** -0.25


def positions(cuts: Float[Tensor, " cuts"], root: Float[Tensor, " n"], radius: float) -> Float[Tensor, "n cuts"]:
    """Returns the positions of a function's kinks and jumps in units of each standard deviation, clipped to a range.

    >>> positions(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 0.5]), 10)
    tensor([[ 0., 10.],
            [ 0.,  2.]])
    """
    return (cuts / root.clamp(min=1e-30)[:, None]).clamp(-radius, radius)


def grid(radius: int, panel: float) -> tuple[Tensor, Tensor, Tensor]:
    """Returns quadrature nodes, weights and edges of equal intervals from -radius to radius.

    >>> round(float(grid(10, 1.0)[1].sum()), 9)
    20.0
    """
    edges = torch.arange(round(2 * radius / panel) + 1, dtype=torch.float64) * panel - radius
    return *panels(edges), edges


def _line(root: Tensor, pieces: Pieces, top: float, radius: int, panel: float) -> QuadratureLine:
    z, weight, edges = grid(radius, panel)
    cuts = pieces.within(radius * top, panel * top)
    cuts = cuts[cuts != 0]  # Zero always is a border between two intervals, so it is not a cut.
    if not len(cuts):
        empty = root.new_zeros(len(root), 0)
        return QuadratureLine(z, weight[None], empty, empty)
    scaled = positions(cuts, root, radius)
    place = ((scaled + radius) / panel).floor().long().clamp(0, len(edges) - 2)
    whole = torch.ones(len(root), len(edges) - 1, dtype=torch.float64).scatter(1, place, 0.0)
    moved, moved_weight = (t.flatten(1) for t in panels(_between(scaled, place, edges)))
    return QuadratureLine(z, weight * whole.repeat_interleave(GAUSS_NODES, 1), moved, moved_weight)


def _between(scaled: Tensor, place: Tensor, edges: Tensor) -> Float[Tensor, "n 2 cuts two"]:
    """Splits each quadrature interval that contains kinks or jumps of the function; returns the new intervals."""
    same = place[:, 1:] == place[:, :-1]
    start, end = edges[place], edges[place + 1]
    start[:, 1:] = torch.where(same, scaled[:, :-1], start[:, 1:])
    end[:, :-1] = torch.where(same, scaled[:, :-1], end[:, :-1])
    return torch.stack([torch.stack([start, scaled], -1), torch.stack([scaled, end], -1)], 1)
