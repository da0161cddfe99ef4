"""Methods that prove a robust radius: interval bounds, linear bounds, or a Lipschitz constant.

    proven at eps:   min over j != y of  low(f_y - f_j over the region of eps)  > 0                            (1)

and the largest eps is found by bisection, for all examples at once: bounds over a larger region are never tighter.
Reference: [gowal2019scalable], [zhang2018efficient].
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.metrics import margin_over_others
from gnomon.core.results.record import Record
from gnomon.program.piecewise_linear import PiecewiseLinearGraph, read_piecewise_linear
from gnomon.robustness.certificates.backward import lower_bounds
from gnomon.robustness.certificates.bounds import (
    MAX_LINEARLY_BOUNDED_UNITS,
    examples_at_once,
    interval_bounds,
    linear_bounds,
)
from gnomon.robustness.certificates.region import PerturbationRegion
from gnomon.robustness.lipschitz.network import pair_bounds

__all__ = ["AbstractProof", "CrownProof", "IntervalProof", "LipschitzProof"]

Ends = tuple[float, float]
"""The smallest and the largest value that an input may have."""
BISECTION_STEPS = 16
"""Bisections of the interval that contains the radius if no upper end is known."""
BISECTION_STEPS_AFTER_ATTACK = 10
"""Bisections if an attack gave an upper end: radii are proven to a thousandth of it."""
MAX_SEARCH_FACTOR = 1.25
"""Proofs are tried up to this multiple of the upper end: a proof above it would contradict the attack."""
EXAMPLES_PER_PASS = 64
"""Examples whose bounds are computed at once."""
MIN_PROVEN_MARGIN = 1e-5
"""Proven margin, relative to the scale of the scores, that exceeds accumulated rounding."""


class AbstractProof(ABC):
    """Base class of methods that prove a radius within which the predicted class does not change."""

    name: str
    """The name of the method in tables."""

    @abstractmethod
    def radii(
        self,
        module: nn.Module,
        x: Tensor,
        y: Tensor,
        norm: str,
        bounds: tuple[float, float],
        most: Tensor | None = None,
    ) -> Tensor:
        """Returns a proven radius for each example, or zero; ``most`` has distances at which an attack succeeded."""


class AbstractBounding(AbstractProof):
    """Base class of proofs that find the largest provable radius by bisection over eps, from bounds of the margins."""

    @add_call_to_errors("robust_radius(module, data)")
    def radii(  # noqa: D102
        self,
        module: nn.Module,
        x: Tensor,
        y: Tensor,
        norm: str,
        bounds: tuple[float, float],
        most: Tensor | None = None,
    ) -> Tensor:
        graph = read_piecewise_linear(module, x[:1], decisions=True)
        widest = float(bounds[1] - bounds[0]) * (x[0].numel() ** 0.5 if norm == "2" else 1.0)
        high = torch.full((len(x),), widest).to(x)
        high, steps = (
            (high, BISECTION_STEPS)
            if most is None
            else (torch.minimum(high, MAX_SEARCH_FACTOR * most.to(high)), BISECTION_STEPS_AFTER_ATTACK)
        )
        size = min(EXAMPLES_PER_PASS, examples_at_once(graph, x))
        pieces = zip(x.split(size), y.split(size), high.split(size), strict=True)
        with torch.no_grad():
            return torch.cat([self._bisect(graph, a, b, h, steps, norm, bounds) for a, b, h in pieces])

    def _bisect(
        self,
        graph: PiecewiseLinearGraph,
        x: Tensor,
        y: Tensor,
        high: Tensor,
        steps: int,
        norm: str,
        bounds: tuple[float, float],
    ) -> Tensor:
        scale, low = graph.values(x)[-1].abs().amax(1), torch.zeros_like(high)
        for _ in range(steps):
            middle = (low + high) / 2
            # (1)
            proven = self.margins(graph, PerturbationRegion.of(x, middle, norm, bounds), y) > MIN_PROVEN_MARGIN * scale
            low, high = torch.where(proven, middle, low), torch.where(proven, high, middle)
        return low

    @abstractmethod
    def margins(self, graph: PiecewiseLinearGraph, region: PerturbationRegion, y: Tensor) -> Tensor:
        """Returns a lower bound of each example's margin (score of class y minus best other score) over the region
        around it.
        """


@dataclass(frozen=True, slots=True)
class IntervalProof(Record, AbstractBounding):
    """Proves a radius by intervals passed forward through the network; fast, but often much smaller than the true
    radius.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(2))
    >>> radius = IntervalProof().radii(net, torch.tensor([[0.8, 0.2]]), torch.tensor([0]), "inf", (0.0, 1.0))
    >>> round(float(radius), 3)                                       # margin 0.6 over 2
    0.3
    """

    name = "intervals"

    def margins(self, graph: PiecewiseLinearGraph, region: PerturbationRegion, y: Tensor) -> Tensor:  # noqa: D102
        low, high = interval_bounds(graph, region)[-1]
        return margin_over_others(low, high, y)


@dataclass(frozen=True, slots=True)
class CrownProof(Record, AbstractBounding):
    """Proves a radius by linear bounds passed backwards (CROWN); slower than intervals, and closer to the true radius.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(2))
    >>> radius = CrownProof().radii(net, torch.tensor([[0.8, 0.2]]), torch.tensor([0]), "2", (-9.0, 9.0))
    >>> round(float(radius), 3)                                       # margin 0.6 over sqrt 2
    0.424
    """

    max_linear_units: int = MAX_LINEARLY_BOUNDED_UNITS
    name = "CROWN"

    def margins(self, graph: PiecewiseLinearGraph, region: PerturbationRegion, y: Tensor) -> Tensor:  # noqa: D102
        boxes = linear_bounds(graph, region, self.max_linear_units)
        k = boxes[-1][0].shape[1]
        others = torch.stack([torch.tensor([j for j in range(k) if j != c]) for c in y.tolist()]).to(y.device)
        rows = torch.nn.functional.one_hot(y, k)[:, None] - torch.nn.functional.one_hot(others, k)
        return lower_bounds(graph, region, boxes, len(graph.steps) - 1, rows.to(region.x)).amin(1)


@dataclass(frozen=True, slots=True)
class LipschitzProof(Record, AbstractProof):
    """Proves a radius by a Lipschitz constant: the margin divided by the Lipschitz constant of the score differences.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(2))
    >>> radius = LipschitzProof().radii(net, torch.tensor([[0.8, 0.2]]), torch.tensor([0]), "2", (-9.0, 9.0))
    >>> round(float(radius), 3)                                       # margin 0.6 over sqrt 2
    0.424
    """

    name = "Lipschitz margin"

    @add_call_to_errors("robust_radius(module, data)")
    def radii(  # noqa: D102
        self,
        module: nn.Module,
        x: Tensor,
        y: Tensor,
        norm: str,
        bounds: tuple[float, float],
        most: Tensor | None = None,
    ) -> Tensor:
        pairs = pair_bounds(module, x[:1]).to(x)
        graph = read_piecewise_linear(module, x[:1], decisions=True)
        with torch.no_grad():
            f = torch.cat([graph.values(part)[-1] for part in x.split(EXAMPLES_PER_PASS)])
        gaps = (f.gather(1, y[:, None]) - f) / pairs[y].clamp_min(1e-30)
        radius = gaps.scatter(1, y[:, None], float("inf")).amin(1).clamp_min(0) * (1 - MIN_PROVEN_MARGIN)
        return radius if norm == "2" else radius / x[0].numel() ** 0.5
