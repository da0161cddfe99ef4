"""Barron norm: a norm of a function that bounds how many hidden units a two-layer network needs to approximate it.

    C_f = integral of |w| |f^(w)| dw,     mean (f - f_m)^2 <= (2 r C_f)^2 / m  over a ball of radius r    (1)
    C   = sum over k of |w_k| |c_k|,      c_k the Fourier coefficients of values on a grid                (2)

Reference: [barron1993universal].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, pi, prod
from typing import Any

import torch

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_number
from gnomon.core.results import Axis, Line, Plot, Result

__all__ = ["BarronNorm", "barron_norm"]


@dataclass(frozen=True, slots=True)
class BarronNorm(Result):
    """Result: the Barron norm of a function, the radius of its domain, and the part of the norm below each frequency.

    >>> BarronNorm(2.0, 0.5, ((1.0, 1.0),)).units(0.1)
    400
    """

    norm: float
    radius: float
    spectrum: tuple[tuple[float, float], ...]

    @add_call_to_errors
    def units(self, error: float) -> int:
        """Returns a number of hidden units that suffices to approximate the function within a root mean square error.

        See equation (1) of the module docstring.
        """
        error = check_number("error", error, above=0.0)
        return ceil((2 * self.radius * self.norm / error) ** 2)

    @property
    def verdict(self) -> str:
        """States the Barron norm and how many hidden units suffice for two error levels."""
        return (
            f"The Barron norm is {self.norm:.4g}: {self.units(0.1 * self.norm)} hidden units are enough for an error "
            f"of a tenth of the norm, and {self.units(0.01 * self.norm)} for a hundredth."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of the Barron norm that lies below each frequency."""
        line = Line("norm below", [w for w, _ in self.spectrum], [c for _, c in self.spectrum])
        return (Plot("Barron norm by frequency", (line,), Axis("frequency"), Axis("norm")),)


@add_call_to_errors
def barron_norm(values: Any, lengths: Sequence[float], *, periodic: bool = False) -> BarronNorm:
    """Computes the Barron norm of a function, which bounds the hidden units that it needs, from values on a grid.

    See equation (2) of the module docstring.

    Args:
        values: function values at the cell centers of a grid over a box, one axis for each variable.
        lengths: side lengths of the box.
        periodic: whether the function is periodic; otherwise it is mirrored at every side, which is continuous.

    Hypotheses: the grid is fine enough for the frequencies of the function. A function with a kink or a jump has no
    finite norm: the estimate then grows with the grid.
    Reference: [barron1993universal].
    Cost: a Fourier transform.

    >>> x = (torch.arange(64, dtype=torch.float64) + 0.5) / 64
    >>> round(barron_norm(torch.cos(4 * pi * x), [1.0]).norm / (4 * pi), 9)       # |w| = 4 pi, |c| = 1
    1.0
    """
    grid = as_numbers(values, "values").double()
    sides = [check_number("lengths", side, above=0.0) for side in lengths]
    if grid.dim() != len(sides) or grid.dim() == 0:
        found = f"values have {grid.dim()} axes, and there are {len(sides)} lengths"
        raise InputError(found, accepted="one length for each axis", fix="Pass the side of the box along every axis")
    for axis in range(grid.dim()):
        if not periodic:
            grid = torch.cat([grid, grid.flip(axis)], axis)
    full = [side * (1 if periodic else 2) for side in sides]
    waves = torch.meshgrid(
        *(
            2 * pi * torch.fft.fftfreq(n, side / n, dtype=torch.float64)
            for n, side in zip(grid.shape, full, strict=True)
        ),
        indexing="ij",
    )
    size = torch.stack(waves).square().sum(0).sqrt().flatten()
    terms = size * (torch.fft.fftn(grid).abs() / prod(grid.shape)).flatten()  # (2)
    order = size.argsort()
    total = terms[order].cumsum(0)
    some = torch.linspace(0, len(order) - 1, min(len(order), 100)).long()
    spectrum = tuple(zip(size[order][some].tolist(), total[some].tolist(), strict=True))
    return BarronNorm(float(total[-1]), sum((s / 2) ** 2 for s in sides) ** 0.5, spectrum)
