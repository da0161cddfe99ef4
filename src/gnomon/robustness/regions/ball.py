"""Counts activation patterns of a network within a ball of inputs, and units that are always on or always off there.

    seen      patterns of m points drawn from the ball                                                             (1)
    unseen    points of the ball whose pattern was not seen: about (patterns seen once) / m of its volume          (2)
    stable    units whose sign is proven constant in the whole ball: they have no kink there              (3)

A network is affine on each pattern, so (1) counts linear regions that are met, from below; at most 2^(units that are
not stable) are possible.
Hypotheses: affine layers, relu, leaky relu and max-pool; eval mode; (2) for independent draws.
Reference: [good1953population] for (2), [zhang2018efficient] for the bounds of (3), [hanin2019deep] on how few are met.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import (
    as_numbers,
    check_finite_inputs,
    check_integer,
    check_module,
    check_number,
    check_seed,
)
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.program.piecewise_linear import PiecewiseLinearGraph, read_piecewise_linear
from gnomon.robustness.certificates.bounds import interval_bounds, linear_bounds
from gnomon.robustness.certificates.region import PerturbationRegion
from gnomon.robustness.regions.cutting import activation_pattern, points_per_pass

__all__ = ["BallPatterns", "patterns_in_ball"]

MAX_SIGNS = 2**28
"""Maximum of units times points; larger networks get fewer points."""
MAX_LINEARLY_BOUNDED_UNITS = 2000
"""Units up to which signs are bounded by linear bounds; with more, by intervals, which are looser and cheaper."""


@dataclass(frozen=True, slots=True)
class BallPatterns(Result):
    """Result: the number of activation patterns found in a ball of inputs, the fraction missed, and the stable units.

    >>> found = BallPatterns(seen=12, unseen=0.01, units=10, stable=6, flipped=3, points=1000)
    >>> print(found.verdict)
    1000 random points of the ball have 12 activation patterns (1.0% of the ball has other patterns): 6 of 10 units are
    always on or always off there.
    """

    seen: int
    unseen: float
    units: int
    stable: int
    flipped: int
    points: int

    @property
    def verdict(self) -> str:
        """States in one sentence how many activation patterns the ball has, and how many units cannot change in it."""
        head = f"{self.points} random points of the ball have {self.seen} activation patterns"
        return (
            f"{head} ({self.unseen:.1%} of the ball has other patterns): {self.stable} of {self.units} units are "
            "always on or always off there."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how many units are proven constant in the ball, were seen to change, or are undecided."""
        names = ("proven stable", "seen to change", "unknown")
        bars = Bars("units", names, (self.stable, self.flipped, self.units - self.stable - self.flipped))
        return (Plot("Units within the ball", (bars,), Axis("units"), caption=self.verdict),)


@add_call_to_errors
def patterns_in_ball(
    module: nn.Module, center: Any, radius: float, *, norm: str = "2", draws: int = 2000, seed: int = 0
) -> BallPatterns:
    """Counts activation patterns of a network within ``radius`` of an input, and units that cannot change there.

    Args:
        module: a network of affine layers, relu, leaky relu and max-pool, read in eval mode and left as it was.
        center: one input, without a batch axis.
        radius: radius of the ball.
        norm: "2", a ball, or "inf", a cube; points are drawn uniformly.
        draws: number of draws, fewer if points times units exceed 2.7e8.
        seed: random seed for the draws.

    Hypotheses: see the module. Reference: [good1953population], [hanin2019deep].
    Cost: a forward pass of the points, and for up to 2,000 units a backward pass for each whose sign is undecided.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = net[0].weight.copy_(torch.eye(2)), net[0].bias.copy_(torch.tensor([0.0, 5.0]))
    >>> found = patterns_in_ball(net, torch.zeros(2), 1.0)                       # the first unit changes sign
    >>> found.seen, found.stable, found.flipped
    (2, 1, 1)
    """
    check_module(module)
    r, m = check_number("radius", radius, above=0), check_integer("draws", draws, least=2)
    if norm not in ("inf", "2"):
        raise out_of_range_error("norm", '"inf" or "2"', norm)
    generator = torch.Generator().manual_seed(check_seed(seed))
    x = as_numbers(center, "center").detach().double().cpu()[None]
    check_finite_inputs(x)
    copy = copy_module(module).double().cpu().eval().requires_grad_(requires_grad=False)
    with preserve(copy, grad=False):
        graph = read_piecewise_linear(copy, x)
        units = activation_pattern(graph, x).shape[1]
        if not units:
            raise InputError(
                "the module has no relu or max-pool",
                accepted="a network with relu or max-pool",
                fix="Without them the network is affine: one region",
            )
        m = min(m, max(2, MAX_SIGNS // units))
        move = _draw(m, x, norm, generator)
        rows = torch.cat(
            [activation_pattern(graph, x + r * part).to(torch.int16) for part in move.split(points_per_pass(graph, x))]
        )
        stable = _stable(
            graph, PerturbationRegion.of(x, torch.tensor([r], dtype=x.dtype), norm, (-torch.inf, torch.inf))
        )
    _, counts = rows.unique(dim=0, return_counts=True)
    changes = (rows != rows[:1]).any(0)
    unseen = float((counts == 1).sum()) / m  # (2)
    return BallPatterns(len(counts), unseen, rows.shape[1], stable, int(changes.sum()), m)


def _draw(m: int, x: Tensor, norm: str, generator: torch.Generator) -> Tensor:
    """Draws random points uniformly from the unit ball or, for the norm "inf", from the cube."""
    if norm == "inf":
        return torch.rand((m, *x.shape[1:]), generator=generator, dtype=x.dtype) * 2 - 1
    move = torch.randn((m, x[0].numel()), generator=generator, dtype=x.dtype)
    far = torch.rand(m, 1, generator=generator, dtype=x.dtype) ** (1 / x[0].numel())
    return (move / move.norm(dim=1, keepdim=True) * far).reshape(m, *x.shape[1:])


def _stable(graph: PiecewiseLinearGraph, region: PerturbationRegion) -> int:
    """Counts ReLU units that are proven to keep their sign in the region, and max-pool windows with a constant
    winner.
    """
    boxes = interval_bounds(graph, region)
    kinks = [step for step in graph.steps if step.kind in ("relu", "max")]
    if sum(int(boxes[step.inputs[0]][0].numel()) for step in kinks) <= MAX_LINEARLY_BOUNDED_UNITS:
        boxes = linear_bounds(graph, region)
    total = 0
    for step in kinks:
        if step.kind == "relu":
            low, high = boxes[step.inputs[0]]
            total += int(((low > 0) | (high < 0)).sum())  # (3)
    return total
