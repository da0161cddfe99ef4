"""Computes the loss along a direction of the parameters, and tests whether the loss is convex.

    L(w + t v) = L + t g.v + (t^2 / 2) v^T H v + O(t^3)                                                          (1)
    a segment a, b breaks convexity if  L((a + b) / 2) > (L(a) + L(b)) / 2                                     (2)

Hypotheses: none for the values; a twice differentiable loss for the parabola.
Reference: [goodfellow2015explaining] does the same over inputs; [boyd2004convex], section 3.1, for (2).

>>> import torch
>>> net, x = nn.Linear(1, 1, bias=False), torch.ones(1, 1)
>>> found = loss_along(net, (x, torch.zeros(1)), direction=torch.ones(1), reach=1.0, points=3)
>>> round(found.curvature, 5)                                                        # L = w^2 / 2
1.0
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.metrics import binomial_interval
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Interval, Line, Plot, Result
from gnomon.landscape.hessian import hessian
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.operator import NegativeOperator
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import trainable_parameters

__all__ = ["Convexity", "LossSlice", "convexity", "loss_along"]


@dataclass(frozen=True, slots=True, eq=False)
class LossSlice(Result):
    """The loss at positions t along a direction of the parameters, with slope and curvature at t = 0."""

    t: Float[Tensor, " m"]
    losses: Float[Tensor, " m"]
    slope: float
    curvature: float

    @property
    def parabola(self) -> Float[Tensor, " m"]:
        """The second-order expansion of the loss, evaluated at the same positions t.

        See equation (1) of the module docstring.
        """
        middle = self.losses[int(self.t.abs().argmin())]
        return middle + self.slope * self.t + self.curvature * self.t**2 / 2

    @property
    def verdict(self) -> str:
        """A sentence with the loss's slope and curvature along the direction, and the position of the smallest loss."""
        best = float(self.t[self.losses.argmin()])
        return (
            f"Along this direction the loss has slope {self.slope:.3g} and curvature {self.curvature:.3g}; its minimum "
            f"is at distance {best:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the loss along the direction, and its second-order expansion."""
        marks = (Line("loss", self.t, self.losses), Line("second order", self.t, self.parabola, "dashed"))
        return (Plot("Loss along a direction", marks, Axis("distance"), Axis("loss"), self.verdict),)


@dataclass(frozen=True, slots=True)
class Convexity(Result):
    """The share of random segments on which the loss is not convex, with interval, and the smallest Hessian
    eigenvalue.
    """

    broken: float
    interval: Interval
    lowest: float
    segments: int

    @property
    def verdict(self) -> str:
        """A sentence that says whether the loss may be convex."""
        if self.broken == 0 and self.lowest >= -1e-6:
            return (
                f"No sign of non-convexity in {self.segments} segments between random points and in the curvature "
                "at these weights."
            )
        return (
            f"The loss is not convex: {self.broken:.0%} of the segments tested violate convexity; the smallest "
            f"curvature is {self.lowest:.2g}."
        )


@add_call_to_errors
def loss_along(
    module: nn.Module,
    data: Any,
    *,
    direction: Tensor | None = None,
    reach: float = 1.0,
    points: int = 41,
    loss: Loss | None = None,
    seed: int = 0,
) -> LossSlice:
    """Computes the loss along a line through the current parameters, with slope and curvature.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`.
        direction: one number for each trainable parameter; by default random. Scaled to norm one.
        reach: distance to both sides.
        points: number of positions, made odd so that the center is one of them.
        loss: as in `hessian`.
        seed: random seed for a random direction.

    Hypotheses: see the module. Reference: [boyd2004convex].
    Cost: ``points`` passes over the data and one Hessian-vector product.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> found = loss_along(net, (torch.eye(2), torch.zeros(2)), reach=0.5, points=5)           # H = identity / 2
    >>> round(found.curvature, 5)
    0.5
    """
    check_module_is_callable(module)
    reach, points = check_number("reach", reach, above=0), check_integer("points", points, least=3) | 1
    leaves = trainable_parameters(module)
    w = parameters_to_vector(leaves).detach()
    v = _direction(direction, w, seed)
    operator = hessian(module, data, loss=loss)
    # An explicit grid that contains zero; torch.linspace would miss zero by rounding.
    t = reach * torch.arange(1 - points, points, 2).double() / (points - 1)
    losses = _losses(module, data, loss, (w + float(s) * v for s in t))
    slope, curvature = float(operator.gradient() @ v), float(operator.matvec(v) @ v)  # (1)
    return LossSlice(t, torch.tensor(losses, dtype=torch.float64), slope, curvature)


@add_call_to_errors
def convexity(
    module: nn.Module,
    data: Any,
    *,
    segments: int = 100,
    radius: float = 1.0,
    products: int | None = None,
    loss: Loss | None = None,
    seed: int = 0,
) -> Convexity:
    """Tests whether the loss is convex around the current parameters: by random segments and the smallest curvature.

    See equation (2) of the module docstring.
    Segments join two Gaussian draws around the parameters, with the standard deviation ``radius`` times the root mean
    square of the parameters. ``products`` is the number of Hessian products for the smallest curvature; by default,
    until it converges.
    Hypotheses: none; a convex loss never breaks (2) beyond rounding. Reference: [boyd2004convex].
    Cost: three passes over the data for each segment, and about 25 Hessian-vector products.

    >>> convexity(nn.Linear(2, 1), (torch.randn(8, 2), torch.randn(8)), segments=10).broken          # least squares
    0.0
    """
    check_module_is_callable(module)
    count, size = check_integer("segments", segments), check_number("radius", radius, above=0)
    generator = torch.Generator().manual_seed(check_seed(seed))
    w = parameters_to_vector(trainable_parameters(module)).detach()
    scale = size * float(w.square().mean().sqrt().clamp_min(1e-3))
    broken = 0
    for _ in with_progress_bar(range(count), "segments"):
        a, b = (w + scale * torch.randn(w.shape, generator=generator).to(w) for _ in range(2))
        low, high, middle = _losses(module, data, loss, [a, b, (a + b) / 2])
        # Counts points at which the loss is not convex; 1e-5 allows for rounding of float32 sums over the examples.
        broken += middle > (low + high) / 2 + 1e-5 * (abs(low) + abs(high))
    most = None if products is None else check_integer("products", products)
    negative = NegativeOperator(hessian(module, data, loss=loss))
    lowest = -float(top_eigenpairs(negative, 1, steps=most, seed=seed).values[0])
    return Convexity(broken / count, binomial_interval(int(broken), count), lowest, count)


def _direction(direction: Any, w: Tensor, seed: int) -> Tensor:
    if direction is None:
        v = torch.randn(w.shape, generator=torch.Generator().manual_seed(check_seed(seed))).to(w)
    else:
        v = as_numbers(direction, "direction").detach().flatten().to(w)
    if v.shape != w.shape or not float(v.norm()) > 0:
        found = f"the direction has {v.numel()} numbers of norm {float(v.norm()):.3g}"
        raise InputError(found, accepted=f"{w.numel()} numbers, not all zero", fix="Pass a vector of that size")
    return v / v.norm()


def _losses(module: nn.Module, data: Any, loss: Loss | None, places: Iterable[Tensor]) -> list[float]:
    """Returns the loss at each of several parameter vectors, on a copy of the module."""
    moved = copy_module(module)
    leaves, found = trainable_parameters(moved), []
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        for w in places:
            vector_to_parameters(w, leaves)
            found.append(objective.measure(moved, None)[0])
    return found
