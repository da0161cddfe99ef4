"""Maps which minimum gradient descent reaches from each point of a grid, for a loss of two parameters.

    w' = -grad L(w):  starts with one end form a basin, whose border is the stable set of saddles                 (1)

Hypotheses: steps below 2 / curvature. Reference: [hairer2006geometric].

>>> import torch
>>> BasinMap(torch.tensor([[0, 1]]), torch.zeros(2, 2).double()).shares
(0.5, 0.5)
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Image, Plot, Result, Scatter

__all__ = ["BasinMap", "basin_map"]


@dataclass(frozen=True, slots=True, eq=False)
class BasinMap(Result):
    """Result: the minima that gradient descent reaches from a grid, and which of them is reached from each grid
    point.
    """

    basins: Int[Tensor, "h w"]
    minima: Float[Tensor, "m 2"]
    extent: tuple[float, float, float, float] | None = None

    @property
    def shares(self) -> tuple[float, ...]:
        """The fraction of the grid from which gradient descent reaches each minimum."""
        return tuple(float((self.basins == i).double().mean()) for i in range(len(self.minima)))

    @property
    def verdict(self) -> str:
        """A sentence with the number of minima found and the share of starting points that reach the most frequent
        one.
        """
        return (
            f"{len(self.minima)} minima are reached; the most frequent one is reached from {max(self.shares):.0%} "
            "of the starting points."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots which minimum gradient descent reaches from each grid point, as an image."""
        picture = Image("index of the minimum", self.basins.T.flip(0).double(), extent=self.extent)
        found = Scatter("minima", self.minima[:, 0], self.minima[:, 1], 0)
        marks = (picture,) if self.extent is None or not len(self.minima) else (picture, found)
        return (Plot("Basins of attraction", marks, Axis("first parameter"), Axis("second parameter"), self.verdict),)


@add_call_to_errors
@limit_time
def basin_map(
    loss: Callable[[Float[Tensor, "n 2"]], Float[Tensor, " n"]],
    *,
    low: tuple[float, float] = (-2.0, -2.0),
    high: tuple[float, float] = (2.0, 2.0),
    points: int = 60,
    lr: float = 0.01,
    steps: int = 2000,
    budget: float | None = None,
) -> BasinMap:
    """Runs gradient descent on a loss of two parameters from each point of a grid and groups the end points.

    Args:
        loss: a function of many points at once, (n, 2) to (n,), that torch can differentiate.
        low: the lower left corner of the grid.
        high: the upper right corner.
        points: number of grid points along each axis.
        lr: learning rate of descent from all starts.
        steps: number of steps of descent.
        budget: seconds after which the call ends with an error that says how long it would take.

    End points closer than a hundredth of the grid count as one minimum. Starts that diverge get the index -1.
    Hypotheses: a step below 2 / curvature. Reference: [hairer2006geometric].
    Cost: ``steps`` gradients of points^2 starts at once.

    >>> two = basin_map(lambda w: (w[:, 0] ** 2 - 1) ** 2 + w[:, 1] ** 2, points=10)         # minima at x = -1 and 1
    >>> two.shares
    (0.5, 0.5)
    """
    n, rate = check_integer("points", points, least=2), check_number("lr", lr, above=0)
    xs, ys = (torch.linspace(a, b, n, dtype=torch.float64) for a, b in zip(low, high, strict=True))
    w = torch.cartesian_prod(xs, ys)
    for _ in with_progress_bar(range(check_integer("steps", steps)), "steps of descent"):
        leaf = w.clone().requires_grad_()
        (g,) = torch.autograd.grad(loss(leaf).sum(), leaf)
        w = w - rate * g.nan_to_num(0.0, 0.0, 0.0)
    near = 0.01 * max(b - a for a, b in zip(low, high, strict=True))
    basins = torch.full((len(w),), -1)
    minima: list[Tensor] = []
    inside = w.isfinite().all(1) & (w.abs().amax(1) < 1e6)
    while bool((open_ := inside & (basins < 0)).any()):
        minimum = w[open_][0]
        basins[inside & (basins < 0) & ((w - minimum).norm(dim=1) < near)] = len(minima)
        minima.append(minimum)
    found = torch.stack(minima) if minima else torch.zeros(0, 2, dtype=torch.float64)
    return BasinMap(basins.reshape(n, n), found, (low[0], high[0], low[1], high[1]))
