"""Defines a discovered equation: terms, coefficients with intervals, how reliably terms are chosen, and residuals.

>>> rest = Residuals(0.01, 0.011, "u", 0.001)
>>> heat = Equation("u_t", ("u_xx",), (0.1,), (0.001,), {"u": 0.02, "u_xx": 1.0}, (), rest)
>>> str(heat), heat.latex
('u_t = 0.1*u_xx', 'u_{t} = 0.1\\\\, u_{xx}')
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon.core.results import Interval
from gnomon.core.results.record import Record
from gnomon.discovery.regression import CandidateTerms
from gnomon.discovery.term import parse_term

__all__ = ["Equation", "Residuals"]

NORMAL_95 = 1.959964
"""Number of standard deviations on each side of a normal distribution that contain 95 %."""


@dataclass(frozen=True, slots=True)
class Residuals(Record):
    """How much of the target an equation leaves unexplained, as fractions of the target's norm.

    ``misfit`` on all rows; ``held_out`` on one half of the data with coefficients of the other half; ``omitted`` is the
    left-out term that would lower the misfit most, and ``gain`` the share by which it would.

    >>> Residuals(0.01, 0.012, "u", 0.002).omitted
    'u'
    """

    misfit: float
    held_out: float
    omitted: str
    gain: float


@dataclass(frozen=True, slots=True)
class Equation(Record):
    """A discovered equation: ``target`` = sum of ``coefficients`` times ``terms``, with standard errors and residuals.

    ``errors`` are standard errors by the bootstrap, ``inclusion`` the share of replicates that chose each term of the
    library, ``path`` the best support of each size.
    """

    target: str
    terms: tuple[str, ...]
    coefficients: tuple[float | complex, ...]
    errors: tuple[float, ...]
    inclusion: Mapping[str, float]
    path: tuple[CandidateTerms, ...]
    residuals: Residuals

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Returns the 95 % confidence interval of each coefficient of the equation."""
        middle = [abs(c) if isinstance(c, complex) else float(c) for c in self.coefficients]
        return tuple(
            Interval(m - NORMAL_95 * e, m + NORMAL_95 * e, 0.95) for m, e in zip(middle, self.errors, strict=True)
        )

    def coefficient(self, term: str) -> float | complex:
        """Returns the coefficient of a term, or 0 if the equation does not contain it."""
        return dict(zip(self.terms, self.coefficients, strict=True)).get(parse_term(term).name, 0.0)

    @property
    def latex(self) -> str:
        """Returns the equation as LaTeX code."""
        right = [f"{number(c)}\\, {parse_term(t).latex}" for c, t in zip(self.coefficients, self.terms, strict=True)]
        return f"{parse_term(self.target).latex} = " + _join(right)

    def __str__(self) -> str:
        right = [
            f"{number(c)}*{t}" if t != "1" else number(c) for c, t in zip(self.coefficients, self.terms, strict=True)
        ]
        return f"{self.target} = " + _join(right)


def number(value: float | complex) -> str:
    """Formats a coefficient with four digits; drops real or imaginary parts that are only rounding errors.

    >>> number(-0.99999), number(0.5j), number(1e-9 + 0.5j)
    ('-1', '0.5i', '0.5i')
    """
    if not isinstance(value, complex):
        return f"{value:.4g}"
    if abs(value.real) < 1e-3 * abs(value):
        return f"{value.imag:.4g}i"
    if abs(value.imag) < 1e-3 * abs(value):
        return f"{value.real:.4g}"
    return f"({value.real:.4g}{value.imag:+.4g}i)"


def _join(right: list[str]) -> str:
    return " + ".join(right).replace("+ -", "- ") or "0"
