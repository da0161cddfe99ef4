"""Bounds the largest difference of two functions over a box, using their Lipschitz constants.

    d(f, g) = sup over the box of |f - g|,    grid max <= d <= grid max + L h,   h = half a diagonal of a cell   (1)

L is a Lipschitz constant of f - g. A class is universal if d(f, G) = 0 for all continuous f and all boxes.
Reference: [cybenko1989approximation].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["SupremumDistance", "supremum_distance"]

POINTS_PER_CHUNK = 1 << 16
"""Points evaluated at once."""


@dataclass(frozen=True, slots=True)
class SupremumDistance(Result):
    """Result: bounds of the largest difference of two functions, and the point ``place`` with the largest difference
    found.

    See equation (1) of the module docstring.

    >>> SupremumDistance(0.5, 0.6, (0.0,), 11).verdict
    'The functions differ by at least 0.5 and at most 0.6 over the box (11 points).'
    """

    low: float
    high: float
    place: tuple[float, ...]
    points: int

    @property
    def verdict(self) -> str:
        """States in one sentence the lower and the upper bound of the largest difference."""
        above = "" if self.high == inf else f" and at most {self.high:.4g}"
        return f"The functions differ by at least {self.low:.4g}{above} over the box ({self.points} points)."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the lower and the upper bound of the largest difference of the two functions."""
        shown = [("at least", self.low)] + ([] if self.high == inf else [("at most", self.high)])
        return (Plot("Distance", (Bars("distance", [n for n, _ in shown], [v for _, v in shown]),), Axis("distance")),)


@add_call_to_errors
def supremum_distance(
    f: Callable[[Tensor], Any],
    g: Callable[[Tensor], Any],
    box: Sequence[tuple[float, float]],
    *,
    points: int = 4096,
    lipschitz: float = inf,
) -> SupremumDistance:
    """Bounds the largest difference of two functions over a box.

    See equation (1) of the module docstring.

    Args:
        f: a module or a function of (n, variables), with outputs of any shape after n.
        g: another module or function.
        box: (low, high) for each variable.
        points: approximate number of grid points; at least two for each variable.
        lipschitz: a constant of f - g in the Euclidean norm; without it the upper bound is infinite.

    Hypotheses: ``lipschitz`` is a Lipschitz constant of f - g. Reference: [cybenko1989approximation].
    Cost: an evaluation of both at every point.

    >>> found = supremum_distance(torch.sin, lambda x: x, [(0.0, 1.0)], lipschitz=1.0)
    >>> found.low <= 1 - torch.sin(torch.tensor(1.0, dtype=torch.float64)) <= found.high
    tensor(True)
    """
    sides = [(check_number("box", a), check_number("box", b)) for a, b in box]
    if not sides or any(a >= b for a, b in sides):
        raise InputError(f"the box is {box}", accepted="low < high for each variable", fix="Pass [(low, high), ...]")
    steepest = check_number("lipschitz", lipschitz, above=0.0) if lipschitz != inf else inf
    each = max(2, round(check_integer("points", points) ** (1 / len(sides))))
    axes = [torch.linspace(a, b, each, dtype=torch.float64) for a, b in sides]
    grid = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(sides))
    best, place = -1.0, grid[0]
    for part in grid.split(POINTS_PER_CHUNK):
        gaps = (_values(f, part) - _values(g, part)).abs().amax(1)
        i = int(gaps.argmax())
        if float(gaps[i]) > best:
            best, place = float(gaps[i]), part[i]
    half = sum(((b - a) / (each - 1) / 2) ** 2 for a, b in sides) ** 0.5
    high = inf if steepest == inf else best + steepest * half  # (1)
    return SupremumDistance(best, high, tuple(place.tolist()), prod([each] * len(sides)))


def _values(f: Callable[[Tensor], Any], x: Tensor) -> Tensor:
    if isinstance(f, nn.Module):
        kind = next((p.dtype for p in f.parameters() if p.is_floating_point()), x.dtype)
        with preserve(f, grad=False):
            out = run_module(f, x.to(kind))
    else:
        out = f(x)
    if not isinstance(out, Tensor) or len(out) != len(x):
        raise InputError(
            "a function does not return one row for each point",
            accepted="outputs (n, ...)",
            fix="Return one row for each of the n points",
        )
    if not bool(out.isfinite().all()):
        found, fix = "a function is NaN or infinite in the box", "Pass a smaller box, or look for NaN in the weights"
        raise NotFiniteError(found, accepted="finite values", fix=fix)
    return out.double().reshape(len(x), -1)
