"""Finds all linear regions of a piecewise linear network on a line or in a plane of its input space.

If every relu keeps its sign and every max-pool its winner, the network is affine. The inputs with one such activation
pattern form a convex set. Along a line the pattern changes at zeros of relu arguments; in a plane every argument cuts
the polygons on which all earlier layers are affine. Layer by layer this finds all patterns.

    Zaslavsky   m lines or hyperplanes in n dimensions make at most sum over i <= n of C(m, i) regions          (1)
    Montufar    some network of L layers of m >= n units has at least (floor(m / n))^(n (L - 1)) sum_i C(m, i)  (2)

Reference: [zaslavsky1975facing] for (1), [montufar2014number] for (2).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.core.errors import BudgetError, InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_integer, check_module, check_number
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import Progress, with_progress_bar
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Image, Line, Plot, Result, Scatter
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.plot import NEUTRAL_SERIES_INDEX
from gnomon.program.piecewise_linear import PiecewiseLinearGraph, PiecewiseLinearStep, read_piecewise_linear
from gnomon.robustness.regions.cutting import (
    activation_pattern,
    cut_polygon,
    pattern_hashes,
    points_per_pass,
    sign_deciding_values,
)
from gnomon.robustness.regions.kink_positions import kink_positions

__all__ = ["LineRegions", "PlaneRegions", "maximal_regions", "regions_in_plane", "regions_on_line"]

MOST_ON_LINE = 200_000
"""Number of pieces at which the computation stops with an error."""
MAX_CELLS = 200_000
"""Number of cells at which the computation stops with an error."""
MAX_DRAWN_BORDERS = 500
"""Maximum number of regions whose borders are drawn."""
MIN_PLOTTED_AREA = 1e-12
"""Smaller areas are plotted as this number, because the scale is logarithmic."""
DEFAULT_PIXELS = 120
"""Side length of the picture of a plane, in pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class LineRegions(Result):
    """Result: the positions between two inputs at which the activation pattern changes, from 0 (start) to 1 (end).

    >>> found = LineRegions(torch.tensor([0.25, 0.5]), units=3)
    >>> print(found.verdict)
    The network is affine on each of 3 pieces of the segment (3 units with a kink).
    """

    places: Float[Tensor, " m"]
    units: int

    @property
    def count(self) -> int:
        """Returns the number of linear regions of the network on the segment."""
        return len(self.places) + 1

    @property
    def verdict(self) -> str:
        """States in one sentence on how many pieces of the segment the network is affine."""
        return f"The network is affine on each of {self.count} pieces of the segment ({self.units} units with a kink)."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the number of linear regions passed along the segment."""
        ends = [0.0, *self.places.tolist(), 1.0]
        x = [end for pair in zip(ends, ends[1:], strict=False) for end in pair]
        y = [i for i in range(1, self.count + 1) for _ in range(2)]
        axes = Axis("position on the segment (0: start, 1: end)"), Axis("regions passed")
        return (Plot("Linear regions on a line", (Line("regions passed", x, y),), *axes, self.verdict),)


@dataclass(frozen=True, slots=True, eq=False)
class PlaneRegions(Result):
    """Result: the linear regions of a network in a square of inputs: the corners and the area of each polygon.

    ``bound`` is the number of regions that as many lines could make, (1), for a single hidden layer; ``picture`` holds
    the cell index of each pixel.

    >>> halves = tuple(torch.tensor([[x, 0.0], [x + 1, 0.0], [x + 1, 2.0], [x, 2.0]]) for x in (0.0, 1.0))
    >>> picture = (torch.arange(120) >= 60).long().expand(120, 120)
    >>> found = PlaneRegions(halves, torch.tensor([2.0, 2.0]), picture, units=1, bound=2)
    >>> found.count == found.bound                                      # one line makes two regions
    True
    """

    cells: tuple[Tensor, ...] = field(metadata=HIDDEN_IN_JSON)
    areas: Float[Tensor, " c"] = field(metadata=HIDDEN_IN_JSON)
    picture: Int[Tensor, "p p"] = field(metadata=HIDDEN_IN_JSON)
    units: int
    bound: int

    @property
    def count(self) -> int:
        """Returns the number of linear regions of the network in the square."""
        return len(self.cells)

    @property
    def verdict(self) -> str:
        """States in one sentence on how many regions of the square the network is affine."""
        return f"The network is affine on each of {self.count} regions of the square ({self.units} units with a kink)."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the area of the linear region at each point, and the exact borders if there are not too many."""
        known = self.picture.clamp_min(0)
        shades = self.areas.clamp_min(MIN_PLOTTED_AREA).log10()[known].flip(0)
        corners = torch.cat(self.cells)
        (left, low), (right, high) = corners.amin(0).tolist(), corners.amax(0).tolist()
        marks: tuple[Image | Line | Scatter, ...] = (
            Image("log10 of the area of the region", shades, extent=(left, right, low, high)),
        )
        if self.count <= MAX_DRAWN_BORDERS:
            gap = torch.full((1, 2), torch.nan, dtype=corners.dtype)
            around = torch.cat([part for cell in self.cells for part in (cell, cell[:1], gap)])
            marks = (*marks, Line("borders", around[:, 0], around[:, 1], color=NEUTRAL_SERIES_INDEX))
        middle = Scatter("center", ((left + right) / 2,), ((low + high) / 2,), 0)
        axes = Axis("first direction u"), Axis("second direction v")
        return (Plot("Linear regions in a plane", (*marks, middle), *axes, self.verdict),)


@add_call_to_errors
def maximal_regions(inputs: int, width: int, layers: int = 1) -> int:
    """Returns the largest number of linear regions of a ReLU network: exact for one layer, else a lower bound.

    Hypotheses: hidden layers of one width, at least the number of inputs for several layers.
    Reference: [zaslavsky1975facing], [montufar2014number].

    >>> maximal_regions(2, 3), maximal_regions(2, 6), maximal_regions(3, 5), maximal_regions(1, 2, 3)
    (7, 22, 26, 12)
    """
    n, m, depth = (
        check_integer("inputs", inputs),
        check_integer("width", width),
        check_integer("layers", layers),
    )
    if depth > 1 and m < n:
        raise InputError(f"width must be at least inputs for several layers, but it is {m} below {n}")
    last = sum(comb(m, i) for i in range(min(n, m) + 1))  # (1)
    return last * (m // n) ** (n * (depth - 1))  # (2)


@add_call_to_errors
@limit_time
def regions_on_line(module: nn.Module, start: Any, end: Any, *, budget: float | None = None) -> LineRegions:
    """Finds all linear regions of a network on the segment between two inputs, exact up to float64 rounding.

    Args:
        module: a network of affine layers, relu, leaky relu and max-pool, read in eval mode.
        start: one input, without a batch axis.
        end: another input.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for the module; patterns are counted, even if two neighbors have the same affine map.
    Reference: [montufar2014number].
    Cost: two forward passes of all pieces, in batches that hold 0.5 GB.

    >>> net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = net[0].weight.fill_(1.0), net[0].bias.copy_(torch.tensor([-0.25, -0.5]))
    >>> regions_on_line(net, torch.zeros(1), torch.ones(1)).places.tolist()
    [0.25, 0.5]
    """
    a, b = (_point(v, name) for v, name in ((start, "start"), (end, "end")))
    copy, graph = _read(module, a)
    with preserve(copy, grad=False):
        size, found, count = points_per_pass(graph, a[None]), [], 0
        with Progress(1000, "thousandths of the segment") as progress:
            for part in kink_positions(graph, torch.stack([a, b]), torch.tensor([0.0, 1.0]).double(), size):
                found.append(part)
                count += len(part)
                if count > MOST_ON_LINE:
                    problem = f"there are over {MOST_ON_LINE} pieces"
                    raise BudgetError(problem, accepted="few enough regions for memory", fix="Pass a shorter segment")
                progress.advance(int(1000 * part[-1]) - progress.done)
                progress.show()
        t = torch.cat(found).unique()
        changed, units = _changes(graph, a, b, (t[1:] + t[:-1]) / 2, size)
    return LineRegions(t[1:-1][changed], units)


def _changes(graph: PiecewiseLinearGraph, a: Tensor, b: Tensor, t: Tensor, size: int) -> tuple[Tensor, int]:
    """Returns whether the activation pattern changes between neighboring positions on a segment, and the number of
    units.
    """
    found, before = [], None
    for part in t.split(size):
        rows = activation_pattern(graph, _along(a, b, part))
        joined = rows if before is None else torch.cat([before, rows])
        found.append((joined[1:] != joined[:-1]).any(1))
        before = rows[-1:]
    return torch.cat(found), rows.shape[1]


@add_call_to_errors
@limit_time
def regions_in_plane(
    module: nn.Module,
    center: Any,
    directions: Any,
    *,
    radius: float = 1.0,
    pixels: int = DEFAULT_PIXELS,
    budget: float | None = None,
) -> PlaneRegions:
    """Finds all linear regions of a network in a square of a plane of inputs, exact up to float64 rounding.

    Args:
        module: a network of affine layers, relu, leaky relu and max-pool, read in eval mode.
        center: one input, without a batch axis.
        directions: the two inputs u and v that span the plane.
        radius: half of the side of the square, in their units.
        pixels: side length of the picture in pixels, each a forward pass.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for the module.
    Reference: [zaslavsky1975facing] for the bound.
    Cost: a forward pass of all corners for each layer, up to it, a cut for each unit that changes sign in a cell, and a
    forward pass of the points of the picture; in batches that hold 0.5 GB.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = net[0].weight.copy_(torch.eye(2)), net[0].bias.zero_()
    >>> regions_in_plane(net, torch.zeros(2), torch.eye(2)).areas.tolist()              # the four quadrants
    [1.0, 1.0, 1.0, 1.0]
    """
    radius, side = check_number("radius", radius, above=0), check_integer("pixels", pixels, least=2)
    c = _point(center, "center")
    u, v = (_point(d, "directions") for d in directions)
    copy, graph = _read(module, c)

    def embed(points: Tensor) -> Tensor:
        s, t = (points[:, i].reshape(-1, *[1] * c.dim()) for i in (0, 1))
        return c + s * u + t * v

    square = radius * torch.tensor([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=torch.float64)
    cells, size = [square], points_per_pass(graph, c[None])
    with preserve(copy, grad=False):
        for step in graph.steps:
            if step.kind in ("relu", "max"):
                cells = _all_cut(graph, step, cells, embed, size)
        middles = torch.stack([cell.mean(0) for cell in cells])
        # Merges cells with equal activation patterns, because some cuts by max-pooling inputs do not separate linear
        # regions.
        known, which = pattern_hashes(graph, (embed(part) for part in middles.split(size))).unique(return_inverse=True)
        grid = torch.linspace(-radius, radius, side, dtype=torch.float64)
        points = torch.cartesian_prod(grid, grid).flip(1)
        seen = pattern_hashes(
            graph, (embed(part) for part in with_progress_bar(points.split(size), "parts of the picture"))
        )
        units = activation_pattern(graph, c[None]).shape[1]
    kinks = [step.kind for step in graph.steps].count("relu") == 1 and not any(s.kind == "max" for s in graph.steps)
    bound = maximal_regions(2, units) if kinks else 0
    merged, areas = _merge(cells, which, len(known))
    return PlaneRegions(merged, areas, _number(known, seen).reshape(side, side), units, bound)


def _all_cut(
    graph: PiecewiseLinearGraph,
    step: PiecewiseLinearStep,
    cells: list[Tensor],
    embed: Callable[[Tensor], Tensor],
    size: int,
) -> list[Tensor]:
    """Cuts every polygon at the zeros of the functions that decide the linear region at one layer."""
    found: list[Tensor] = []
    for group in with_progress_bar(_group(cells, size), f"groups of cells at {step.where}"):
        values = sign_deciding_values(step, graph.values(embed(torch.cat(group)), step.inputs[0])[step.inputs[0]])
        sizes = [len(cell) for cell in group]
        found += [part for cell, z in zip(group, values.split(sizes), strict=True) for part in cut_polygon(cell, z)]
        if len(found) > MAX_CELLS:
            problem, fix = f"there are over {MAX_CELLS} cells", "Pass a smaller radius"
            raise BudgetError(problem, accepted="few enough regions for memory", fix=fix)
    return found


def _group(cells: list[Tensor], size: int) -> list[list[Tensor]]:
    """Groups neighboring polygons up to a number of corners, so that each group fits in memory."""
    groups: list[list[Tensor]] = [[]]
    corners = 0
    for cell in cells:
        if groups[-1] and corners + len(cell) > size:
            groups.append([])
            corners = 0
        groups[-1].append(cell)
        corners += len(cell)
    return groups


def _merge(cells: list[Tensor], which: Tensor, count: int) -> tuple[tuple[Tensor, ...], Tensor]:
    """Returns one polygon for each activation pattern: its largest cell, and the total area of its cells."""
    areas = torch.stack([_area(cell) for cell in cells])
    total = torch.zeros(count, dtype=torch.float64).index_add_(0, which, areas)
    chosen = []
    for i in range(count):
        mine = (which == i).nonzero()[:, 0]
        chosen.append(cells[int(mine[areas[mine].argmax()])])
    return tuple(chosen), total


def _area(cell: Tensor) -> Tensor:
    after = cell.roll(-1, 0)
    return (cell[:, 0] * after[:, 1] - after[:, 0] * cell[:, 1]).sum().abs() / 2


def _number(known: Tensor, seen: Tensor) -> Tensor:
    """Returns the number of the linear region of each point, by its pattern hash; -1 for points on a border."""
    place = torch.searchsorted(known, seen).clamp_max(len(known) - 1)
    return torch.where(known[place] == seen, place, -1)


def _read(module: nn.Module, example: Tensor) -> tuple[nn.Module, PiecewiseLinearGraph]:
    check_module(module)
    copy = copy_module(module).double().cpu().eval().requires_grad_(requires_grad=False)
    graph = read_piecewise_linear(copy, example[None])
    if not any(step.kind in ("relu", "max") for step in graph.steps):
        raise InputError(
            "the module has no relu or max-pool",
            accepted="a network with relu or max-pool",
            fix="Without them the network is affine: one region",
        )
    return copy, graph


def _point(value: Any, name: str) -> Tensor:
    point = as_numbers(value, name).detach().double().cpu()
    check_finite_inputs(point[None])
    return point


def _along(a: Tensor, b: Tensor, t: Tensor) -> Tensor:
    return a + t.reshape(-1, *[1] * a.dim()) * (b - a)
