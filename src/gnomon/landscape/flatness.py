"""Measures how far the parameters can move before the loss rises by a given amount.

    r(v) = the least r with L(w + r v) - L(w) >= rise,   |v| = 1                                                  (1)
    second order:   typical  sqrt(2 rise p / trace H),    worst  sqrt(2 rise / lambda_1)                           (2)

The typical radius is the median of (1) over random directions; the worst is found along the gradient and the top
eigenvector, in both directions. (2) is what curvature predicts for both if the gradient is small.

Hypotheses: the loss rises along the directions within the reach of the search.
Reference: [hochreiter1997flat]; [huang2020understanding] for radii along random directions.
"""

from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Histogram, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.landscape.hessian import hessian
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import finite_loss, loss_gradient, trainable_parameters

__all__ = ["FlatnessRadius", "flatness_radius"]

MAX_DOUBLINGS = 40
"""Number of doublings of the distance after which a direction counts as flat."""
BISECTION_STEPS = 12
"""Number of bisections of the interval that contains the distance."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatnessRadius(Result):
    """Distances the parameters can move until the loss rises by a given amount: in random and in the worst direction.

    ``norm`` is the norm of the parameters, for comparison with the distances.

    >>> found = FlatnessRadius(torch.tensor([1.0, 2.0, 3.0]), 0.1, 1.9, 0.11, 0.5, 10.0)
    >>> print(found.verdict)
    The loss rises by 0.5 if the weights move by 2 in a typical direction (20% of the weights' norm), or by 0.1 in the
    worst direction.
    """

    radii: Float[Tensor, " d"] = field(metadata=HIDDEN_IN_JSON)
    worst: float
    foretold: float
    foretold_worst: float
    rise: float
    norm: float

    @property
    def typical(self) -> float:
        """The median distance over random directions at which the loss has risen by the given amount."""
        return float(self.radii.quantile(0.5, interpolation="nearest"))

    @property
    def verdict(self) -> str:
        """A sentence with the distance the parameters can move in a typical and in the worst direction."""
        share = f"{self.typical / max(self.norm, 1e-300):.3g}" if self.typical == inf else (
            f"{self.typical / max(self.norm, 1e-300):.0%} of the weights' norm")  # fmt: skip
        return (
            f"The loss rises by {self.rise:.3g} if the weights move by {self.typical:.3g} in a typical direction "
            f"({share}), or by {self.worst:.3g} in the worst direction."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the distances along random directions, next to the distance predicted from curvature."""
        finite = self.radii[self.radii.isfinite()]
        marks = (Histogram.of("directions", finite),) if len(finite) else ()
        line = () if self.foretold == inf else (Reference("second order", self.foretold, vertical=True),)
        return (Plot("Flatness", (*marks, *line), Axis("distance"), Axis("directions"), self.verdict),)


@add_call_to_errors
def flatness_radius(
    module: nn.Module,
    data: Any,
    *,
    rise: float = 0.1,
    draws: int = 20,
    products: int | None = None,
    loss: Loss | None = None,
    seed: int = 0,
) -> FlatnessRadius:
    """Measures how far the parameters can move along random and worst-case directions before the loss rises.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`.
        rise: increase of the loss that ends the search.
        draws: number of random directions.
        products: number of Hessian products, for the trace and for the largest eigenvalue each; by default 30 for the
            trace, and for the eigenvalue until it converges.
        loss: as in `hessian`.
        seed: random seed for the directions.

    The distances are not invariant to rescaling of layers, see `sharpness_forms`.
    Hypotheses: see the module. Reference: [hochreiter1997flat].
    Cost: about 20 passes over the data for each direction, and 60 Hessian-vector products.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> _ = nn.init.zeros_(net.weight)
    >>> found = flatness_radius(net, (torch.diag(torch.tensor([2.0, 2.0])), torch.zeros(2)), rise=0.5)     # L = |w|^2
    >>> round(found.typical, 3), round(found.worst, 3), round(found.foretold, 3)
    (0.707, 0.707, 0.707)
    """
    check_module_is_callable(module)
    level, count = check_number("rise", rise, above=0), check_integer("draws", draws)
    generator = torch.Generator().manual_seed(check_seed(seed))
    most = None if products is None else check_integer("products", products, least=6)
    operator = hessian(module, data, loss=loss)
    top, trace = operator.top(1, iterations=most, seed=seed), operator.trace(products=most or 30, seed=seed).value
    moved = copy_module(module)
    leaves = trainable_parameters(moved)
    w = parameters_to_vector(leaves).detach()
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        start, g = loss_gradient(moved, objective)
        finite_loss(start)

        def exceeds_rise(v: Tensor, r: float) -> bool:
            vector_to_parameters(w + r * v, leaves)
            # Written with "not", so that a NaN loss counts as too large a rise.
            return not objective.measure(moved, EXAMPLES_PER_PASS)[0] - start < level

        first = sqrt(2 * level / max(float(top.values[0]), 1e-12))
        drawn = [torch.randn(w.shape, generator=generator).to(w) for _ in range(count)]
        steep = [s * v for v in (top.vectors[:, 0].to(w), g.to(w)) for s in (1, -1) if float(v.norm()) > 0]
        radii = [
            _distance(exceeds_rise, v / v.norm(), first) for v in with_progress_bar((*drawn, *steep), "draws")
        ]  # (1)
    p, curvature = len(w), float(top.values[0])
    typical = sqrt(2 * level * p / trace) if trace > 0 else inf  # (2)
    steepest = sqrt(2 * level / curvature) if curvature > 0 else inf  # (2)
    found = torch.tensor(radii[:count], dtype=torch.float64)
    return FlatnessRadius(found, min(radii), typical, steepest, level, float(w.norm()))


EXAMPLES_PER_PASS = 512
"""Number of examples in one forward pass."""


def _distance(exceeds_rise: Any, v: Tensor, first: float) -> float:
    """Finds how far the parameters must move along a direction until the loss rises by the given amount; may be
    infinite.

    See equation (1) of the module docstring.
    """
    high = first
    for _ in range(MAX_DOUBLINGS):
        if exceeds_rise(v, high):
            break
        high *= 2
    else:
        return inf
    low = 0.0 if high == first else high / 2
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if exceeds_rise(v, middle) else (middle, high)
    return (low + high) / 2
