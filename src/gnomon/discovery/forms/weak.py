"""The weak form: the equation is tested with smooth bumps, and derivatives go from the noisy data to the bumps.

    psi_c(x, t) = phi((x - x_c) / a) phi((t - t_c) / b),    phi(z) = (1 - z^2)^p on [-1, 1]                     (1)
    target  (-1)^m <d_t^m psi, u>,    columns  (-1)^|k| <D^k psi, f(u)>  for the terms D^k f(u)                 (2)

u^q u_x is D(u^(q+1)) / (q + 1) and has no derivative of the data left. In other products the derivatives are those of
local polynomials, whose window cross-validation chooses. The half widths a and b are those that let most of the
signal through for each unit of noise:

    a = argmax_a  rms_c |<phi_a'', u>| / |phi_a''|_2,    b likewise with phi_b'                                  (3)

With several fields, the smallest of their half widths is taken.

Hypotheses: data on a uniform grid, noise without correlation; no boundary condition, as bumps vanish at the edges.
Reference: [messenger2021weak], (1) and (2); (3) is the matched filter.
Cost: for each term one product of the data with a short matrix along each axis.

>>> WeakForm(degree=6).degree
6
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from gnomon.core.checks import integer
from gnomon.discovery.derivatives import AbstractDerivative, Polynomial, smoothing_window
from gnomon.discovery.derivatives.base import check_points
from gnomon.discovery.forms.base import AbstractForm, System, block_numbers
from gnomon.discovery.grid import Data
from gnomon.discovery.term import Term

__all__ = ["WeakForm"]

SHARES = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1)
"""Half widths that are tried, as shares of an axis."""
LEAST = 6
"""Points on each side of a bump at least: fewer do not resolve its derivatives."""
ROWS = 2400
"""Bumps at most, about."""
OVERLAP = 4
"""Bumps that cover a point along an axis, at most."""


@dataclass(frozen=True, slots=True)
class WeakForm(AbstractForm):
    """Bumps of degree p = ``degree``; ``half_widths`` in points along each axis, time last, else those of (3).

    ``derivative`` is the rule for products that cannot be integrated by parts.

    >>> WeakForm(half_widths=(20, 10)).half_widths
    (20, 10)
    """

    degree: int = 8
    half_widths: tuple[int, ...] | None = None
    derivative: AbstractDerivative = Polynomial()

    def systems(self, data: Data, terms: Sequence[Term], time: int, *, call: str) -> dict[str, System]:  # noqa: D102
        axes = data.letters
        for n, letter in zip(data.shape, axes, strict=True):
            highest = max(
                [time] if letter == "t" else [f.derivative.count(letter) for t in terms for f in t.derived] + [1]
            )
            check_points(n, 2 * LEAST + 2 * highest + 1, highest, call)
        halves = self._half_widths(data, call)
        counts = _centers(data.shape, halves)
        bumps = {
            letter: _Bumps(n, half, h, integer("degree", self.degree, call=call, least=4), q)
            for letter, n, half, h, q in zip(axes, data.shape, halves, data.steps.values(), counts, strict=True)
        }
        cache: dict[tuple[str, str], np.ndarray] = {}
        columns = np.stack([self._column(data, term, bumps, cache, call) for term in terms], 1)
        lengths = [len(bumps[letter].centers) for letter in axes]
        free = [max(1.0, n / (2 * half)) for n, half in zip(data.shape, halves, strict=True)]
        blocks = block_numbers(
            lengths, [min(length, max(2, round(f))) for length, f in zip(lengths, free, strict=True)]
        )
        independent = prod(free) * (2 if data.is_complex else 1)
        return {
            name: System(columns, _tested(values, bumps, "t" * time), blocks, independent)
            for name, values in data.fields.items()
        }

    def _half_widths(self, data: Data, call: str) -> tuple[int, ...]:
        if self.half_widths is not None:
            found = tuple(integer("half_widths", half, call=call, least=LEAST) for half in self.half_widths)
            if len(found) == len(data.shape):
                return found
        orders = [2] * (len(data.shape) - 1) + [1]
        fields = list(data.fields.values())
        return tuple(
            min(_matched(values, axis, self.degree, order) for values in fields) for axis, order in enumerate(orders)
        )

    def _column(
        self, data: Data, term: Term, bumps: dict[str, "_Bumps"], cache: dict[tuple[str, str], np.ndarray], call: str
    ) -> np.ndarray:
        derived, rest = term.derived, [f for f in term.factors if not f.derivative]
        if len(derived) == 1 and derived[0].power == 1:
            one = derived[0]
            if not rest:
                return _tested(data.value(one.symbol, call=call), bumps, one.derivative)
            if len(rest) == 1 and rest[0].symbol == one.symbol and len(one.derivative) == 1:
                power = rest[0].power + 1
                return _tested(data.value(one.symbol, call=call) ** power, bumps, one.derivative) / power
        values = np.ones(data.shape)
        for factor in rest:
            values = values * data.value(factor.symbol, call=call) ** factor.power
        for factor in derived:
            values = (
                values
                * _derivative(data, factor.symbol, factor.derivative, self.derivative, cache, call) ** factor.power
            )
        return _tested(values, bumps, "")


class _Bumps:
    """The bumps (1) along one axis, as matrices (centers, points), one for each derivative; made when asked for."""

    def __init__(self, n: int, half: int, h: float, degree: int, count: int) -> None:
        self.n, self.half, self.h, self.degree = n, half, h, degree
        self.centers = np.unique(np.linspace(half, n - 1 - half, count).round().astype(int))
        self._made: dict[int, np.ndarray] = {}

    def matrix(self, order: int) -> np.ndarray:
        if order not in self._made:
            window = (-1) ** order * bump(self.half, self.degree, order) / (self.half * self.h) ** order
            matrix = np.zeros((len(self.centers), self.n))
            for row, center in zip(matrix, self.centers, strict=True):
                row[center - self.half : center + self.half + 1] = window
            self._made[order] = matrix
        return self._made[order]


def bump(half: int, degree: int, order: int) -> np.ndarray:
    """A derivative of phi(z) of equation (1) over z, at the points of a window, for a phi whose values sum to one."""
    z = np.arange(-half, half + 1) / half
    phi = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** degree
    return (phi.deriv(order) if order else phi)(z) / phi(z).sum()  # (1)


def _tested(values: np.ndarray, bumps: dict[str, _Bumps], by: str) -> np.ndarray:
    """(-1)^|k| <D^k psi, values> for all bumps, axis by axis; the axis that shrinks most comes first."""  # (2)
    order = sorted(enumerate(bumps.items()), key=lambda pair: len(pair[1][1].centers) / pair[1][1].n)
    for axis, (letter, row) in order:
        values = np.moveaxis(np.tensordot(row.matrix(by.count(letter)), values, (1, axis)), 0, axis)
    return values.ravel()


def _matched(values: np.ndarray, axis: int, degree: int, order: int) -> int:
    """The half width of equation (3), from at most 200 lines of a field."""
    n = values.shape[axis]
    lines = np.moveaxis(values, axis, 0).reshape(n, -1)
    lines = lines[:, :: max(1, lines.shape[1] // 200)]
    through = {}
    for half in sorted({max(LEAST, round(share * n)) for share in SHARES}):
        matrix = _Bumps(n, half, 1.0, degree, 60).matrix(order)
        through[half] = float(np.linalg.norm(matrix @ lines) / len(matrix) ** 0.5 / np.linalg.norm(matrix[0]))  # (3)
    return max(through, key=lambda half: through[half])


def _centers(shape: Sequence[int], halves: Sequence[int]) -> list[int]:
    """Bumps along each axis: enough to overlap `OVERLAP` times, and about `ROWS` in all."""
    wanted = [max(2.0, min(n - 2 * half, OVERLAP * n / (2 * half))) for n, half in zip(shape, halves, strict=True)]
    wanted = [min(n - 2.0 * half, w) for n, half, w in zip(shape, halves, wanted, strict=True)]
    scale = max(1.0, prod(wanted) / ROWS) ** (1 / len(shape))
    return [max(2, int(w / scale)) for w in wanted]


def _derivative(
    data: Data, symbol: str, by: str, rule: AbstractDerivative, cache: dict[tuple[str, str], np.ndarray], call: str
) -> np.ndarray:
    """A derivative of a symbol at all points, one direction after the other, each computed once."""
    key = (symbol, by)
    if key not in cache:
        values = data.value(symbol, call=call)
        for letter in dict.fromkeys(by):
            axis = data.letters.index(letter)
            if isinstance(rule, Polynomial) and rule.half_width is None:  # one window for all orders
                if (symbol, "window " + letter) not in cache:
                    cache[symbol, "window " + letter] = np.asarray(
                        smoothing_window(data.value(symbol, call=call), axis)
                    )
                half, degree = cache[symbol, "window " + letter].tolist()
                values = Polynomial(half, degree)(values, data.steps[letter], by.count(letter), axis)
            else:
                values = rule(values, data.steps[letter], by.count(letter), axis)
        cache[key] = values
    return cache[key]
