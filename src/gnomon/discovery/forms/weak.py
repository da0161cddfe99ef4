"""Integrates an equation against smooth test functions (weak form), so that noisy data need not be differentiated.

    psi_c(x, t) = phi((x - x_c) / a) phi((t - t_c) / b),    phi(z) = (1 - z^2)^p on [-1, 1]                     (1)
    target  (-1)^m <d_t^m psi, u>,    columns  (-1)^|k| <D^k psi, f(u)>  for the terms D^k f(u)                 (2)

u^q u_x is D(u^(q+1)) / (q + 1) and has no derivative of the data left. What noise adds to such products on average is
taken off (`forms.unbiased`). In other products the derivatives are those of local polynomials or, of periodic data, of
waves, as cross-validation chooses. The half widths a and b are those that let most of the signal through for each unit
of noise:

    a = argmax_a  rms_c |<phi_a'', u>| / |phi_a''|_2,    b likewise with phi_b'                                  (3)

With several fields, the smallest of their half widths is taken. Sums over the grid are integrals up to the frequencies
that the grid cannot distinguish from its own; to remove these, phi is replaced by its mean with a hat of the grid's
step h,

    (phi * hat)^(k)(x) = (F(x + h) - 2 F(x) + F(x - h)) / h^2,    d^2 F / dx^2 = phi^(k),                        (4)

whose transform has double zeros there.

Hypotheses: data on a uniform grid, noise without correlation; no boundary condition, as bumps vanish at the edges.
Reference: [messenger2021weak], (1) and (2); (3) is the matched filter.
Cost: for each term one product of the data with a short matrix along each axis.

>>> WeakForm(degree=6).degree
6
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import prod

import numpy as np

from gnomon.core.inputs.checks import check_integer
from gnomon.discovery.derivatives import AbstractDerivative, LocalPolynomialDerivative, best_derivative_rule
from gnomon.discovery.derivatives.base import check_enough_points
from gnomon.discovery.forms.base import AbstractRegressionForm, RegressionSystem, block_numbers
from gnomon.discovery.forms.unbiased import noise_variance, unbiased_modulus_power
from gnomon.discovery.forms.unbiased import unbiased_power as unbiased_power
from gnomon.discovery.grid import GridData
from gnomon.discovery.term import Term

__all__ = ["WeakForm"]


SHARES = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1)
"""Half widths to try, as shares of an axis."""
MIN_HALF_WIDTH = 6
"""Minimum number of points on each side of a bump: fewer do not resolve its derivatives."""
USUAL_MIN_HALF_WIDTH = 9
"""Smallest half width that is tried if the axis has at least five times as many points."""
MAX_BUMPS = 2400
"""Approximate maximum number of bumps."""
MAX_COMPARED_LINES = 60
"""Number of lines of the data used to compare half widths."""
BUMPS_PER_LINE = 60
"""Number of bumps along each of these lines."""
MAX_WIDTH_DIVISOR = 4
"""The half width is at most the length of the axis divided by this, so that a bump covers half of the axis."""
MAX_BUMPS_PER_POINT = 4
"""Maximum number of bumps that cover a point along an axis."""


@dataclass(frozen=True, slots=True)
class WeakForm(AbstractRegressionForm):
    """Turns an equation into a regression by integrals against test functions (weak form), whose widths may be given.

    See equation (3) of the module docstring.
    ``derivative`` is the rule for products that cannot be integrated by parts.

    >>> WeakForm(half_widths=(20, 10)).half_widths
    (20, 10)
    """

    degree: int = 8
    half_widths: tuple[int, ...] | None = None
    derivative: AbstractDerivative = LocalPolynomialDerivative()

    def systems(self, data: GridData, terms: Sequence[Term], time: int) -> dict[str, RegressionSystem]:  # noqa: D102
        axes = data.letters
        for n, letter in zip(data.shape, axes, strict=True):
            highest = max(
                [time] if letter == "t" else [f.derivative.count(letter) for t in terms for f in t.derived] + [1]
            )
            check_enough_points(n, 2 * MIN_HALF_WIDTH + 2 * highest + 1, highest)
        halves = self._half_widths(data)
        counts = _centers(data.shape, halves)
        bumps = {
            letter: _Bumps(n, half, h, check_integer("degree", self.degree, least=4), q)
            for letter, n, half, h, q in zip(axes, data.shape, halves, data.steps.values(), counts, strict=True)
        }
        values = _Values(data, self.derivative)
        columns = np.stack([_column(values, term, bumps) for term in terms], 1)
        lengths = [len(bumps[letter].centers) for letter in axes]
        free = [max(1.0, n / (2 * half)) for n, half in zip(data.shape, halves, strict=True)]
        blocks = block_numbers(
            lengths, [min(length, max(2, round(f))) for length, f in zip(lengths, free, strict=True)]
        )
        independent = prod(free) * (2 if data.is_complex else 1)
        return {
            name: RegressionSystem(columns, _test(field, bumps, "t" * time), blocks, independent)
            for name, field in data.fields.items()
        }

    def wider(self, data: GridData) -> list[AbstractRegressionForm]:  # noqa: D102
        found: list[AbstractRegressionForm] = []
        halves = () if self.half_widths is not None else self._half_widths(data)
        most = [max(half, (n - 1) // MAX_WIDTH_DIVISOR) for half, n in zip(halves, data.shape, strict=False)]
        while halves != tuple(most):
            halves = tuple(min(2 * half, top) for half, top in zip(halves, most, strict=True))
            found.append(replace(self, half_widths=halves))
        return found

    def _half_widths(self, data: GridData) -> tuple[int, ...]:
        if self.half_widths is not None:
            found = tuple(check_integer("half_widths", half, least=MIN_HALF_WIDTH) for half in self.half_widths)
            if len(found) == len(data.shape):
                return found
        orders = [2] * (len(data.shape) - 1) + [1]
        fields = list(data.fields.values())
        return tuple(
            min(_match(values, axis, self.degree, order) for values in fields) for axis, order in enumerate(orders)
        )


def _column(values: "_Values", term: Term, bumps: dict[str, "_Bumps"]) -> np.ndarray:
    derived, rest = term.derived, [f for f in term.factors if not f.derivative]
    if len(derived) == 1 and derived[0].power == 1:
        one = derived[0]
        if not rest:
            return _test(values.of(one.symbol), bumps, one.derivative)
        if len(rest) == 1 and rest[0].symbol == one.symbol and len(one.derivative) == 1:
            power = rest[0].power + 1
            return _test(values.product({one.symbol: power}), bumps, one.derivative) / power
    if rest and not derived:
        return _test(values.product({f.symbol: f.power for f in rest}), bumps, "")
    parts = [values.of(f.symbol, f.derivative, f.power) for f in (*rest, *derived)]
    return _test(reduce(np.multiply, parts) if parts else np.ones(values.data.shape), bumps, "")


class _Bumps:
    """The bump-shaped test functions along one axis of the data, and their derivatives, as matrices (centers,
    points).
    """

    def __init__(self, n: int, half: int, h: float, degree: int, count: int) -> None:
        self.n, self.half, self.h, self.degree = n, half, h, degree
        self.centers = np.unique(np.linspace(half, n - 1 - half, count).round().astype(int))
        self._made: dict[int, list[tuple[slice, np.ndarray]]] = {}

    def window(self, order: int) -> np.ndarray:
        return (-1) ** order * bump(self.half, self.degree, order) / (self.half * self.h) ** order

    def pieces(self, order: int) -> list[tuple[slice, np.ndarray]]:
        """Returns the matrix of test functions in blocks of neighboring centers, each without columns that are zero."""
        if order not in self._made:
            window, found = self.window(order), []
            # Splits the window centers into blocks that span about two windows each.
            count = max(1, round(len(self.centers) * self.half / self.n))
            for centers in np.array_split(self.centers, count):
                first, last = int(centers[0]) - self.half, int(centers[-1]) + self.half + 1
                matrix = np.zeros((len(centers), last - first))
                for row, center in zip(matrix, centers, strict=True):
                    row[center - self.half - first : center + self.half + 1 - first] = window
                found.append((slice(first, last), matrix))
            self._made[order] = found
        return self._made[order]

    def products(self, values: np.ndarray, order: int) -> np.ndarray:
        """Integrates values along one axis of the grid against all test functions."""
        parts = self.pieces(order)
        if values.shape[2] == 1:
            flat = values[:, :, 0]
            return np.concatenate([flat[:, reach] @ matrix.T for reach, matrix in parts], 1)[:, :, None]
        return np.concatenate([matrix @ values[:, reach] for reach, matrix in parts], 1)


def bump(half: int, degree: int, order: int) -> np.ndarray:
    """Returns a derivative of a smooth test function at the points of its window; order 0 sums to one.

    See equation (4) of the module docstring.
    """
    return _mean(half, degree, order) / _mean(half, degree, 0).sum()


def _mean(half: int, degree: int, order: int) -> np.ndarray:
    step = 1 / half
    twice, slope = _twice(degree, order)
    z = np.arange(-half - 1, half + 2) * step
    inside = np.clip(z, -1, 1)
    values = np.where(z < -1, 0.0, np.polynomial.polynomial.polyval(inside, twice) + slope * (z - inside))
    return np.diff(values, 2)  # (4), without 1 / h^2, which cancels in `bump`


@lru_cache(maxsize=64)
def _twice(degree: int, order: int) -> tuple[np.ndarray, float]:
    """Returns the second antiderivative of a test function's derivative as a polynomial, and its slope outside the
    window.
    """
    phi = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** degree
    twice = phi.deriv(order).integ(2, lbnd=-1) if order < 2 else phi.deriv(order - 2) if order > 2 else phi
    return twice.coef, float(twice.deriv()(1.0))


def _test(values: np.ndarray, bumps: dict[str, _Bumps], by: str) -> np.ndarray:
    """Returns the integrals of values against a derivative of all test functions, by repeated integration by parts."""
    if np.iscomplexobj(values):  # Test functions are real, and two real products cost half of one complex product.
        both = np.stack([values.real, values.imag])
        return _contract(both, bumps, by) @ np.array([1.0, 1j])
    return _contract(values[None], bumps, by)[:, 0]


def _contract(values: np.ndarray, bumps: dict[str, _Bumps], by: str) -> np.ndarray:
    """Integrates values on a grid against all test functions, one axis after the other."""
    order = sorted(enumerate(bumps.items(), 1), key=lambda pair: len(pair[1][1].centers) / pair[1][1].n)
    for axis, (letter, row) in order:
        shape = values.shape
        flat = values.reshape(-1, shape[axis], int(np.prod(shape[axis + 1 :])))
        values = row.products(flat, by.count(letter)).reshape(*shape[:axis], -1, *shape[axis + 1 :])
    return values.reshape(len(values), -1).T


def _match(values: np.ndarray, axis: int, degree: int, order: int) -> int:
    """Returns the width of test functions along an axis that suits a field, from a sample of the field's lines."""
    n = values.shape[axis]
    lines = np.moveaxis(values, axis, 0).reshape(n, -1)
    lines = lines[:, :: max(1, lines.shape[1] // MAX_COMPARED_LINES)]
    lines = np.concatenate([lines.real, lines.imag], 1) if np.iscomplexobj(lines) else lines
    through = {}
    least = USUAL_MIN_HALF_WIDTH if n >= 5 * USUAL_MIN_HALF_WIDTH else MIN_HALF_WIDTH
    for half in sorted({max(least, round(share * n)) for share in SHARES}):
        tested = _Bumps(n, half, 1.0, degree, BUMPS_PER_LINE)
        made = tested.products(lines[None], order)
        noise = float(np.linalg.norm(tested.window(order)))
        through[half] = float(np.linalg.norm(made) / len(tested.centers) ** 0.5 / noise)  # (3)
    return max(through, key=lambda half: through[half])


def _centers(shape: Sequence[int], halves: Sequence[int]) -> list[int]:
    """Returns the number of test functions along each axis, limited by their overlap and by a maximum total."""
    wanted = [
        max(2.0, min(n - 2 * half, MAX_BUMPS_PER_POINT * n / (2 * half))) for n, half in zip(shape, halves, strict=True)
    ]
    wanted = [min(n - 2.0 * half, w) for n, half, w in zip(shape, halves, wanted, strict=True)]
    scale = max(1.0, prod(wanted) / MAX_BUMPS) ** (1 / len(shape))
    return [max(2, int(w / scale)) for w in wanted]


class _Values:
    """Powers of fields and of their derivatives at all grid points; each is computed once and stored."""

    def __init__(self, data: GridData, rule: AbstractDerivative) -> None:
        self.data, self.rule = data, rule
        self._made: dict[tuple[str, str, int], np.ndarray] = {}
        self._rules: dict[tuple[str, int], AbstractDerivative] = {}
        self._noises: dict[str, float] = {}

    def of(self, symbol: str, by: str = "", power: int = 1) -> np.ndarray:
        key = (symbol, by, power)
        if key not in self._made:
            if power > 1:
                self._made[key] = self.of(symbol, by, power - 1) * self.of(symbol, by)
            else:
                values = self.data.value(symbol)
                for letter in dict.fromkeys(by):
                    axis = self.data.letters.index(letter)
                    rule = self._rule(symbol, axis)
                    values = rule(values, self.data.steps[letter], by.count(letter), axis)
                self._made[key] = values
        return self._made[key]

    def product(self, powers: dict[str, int]) -> np.ndarray:
        """Returns a product of powers of fields, corrected for the bias that measurement noise causes."""
        parts, left = [], dict(powers)
        for name, field in self.data.fields.items():
            a, b = left.get(name, 0), left.get(f"|{name}|", 0)
            if a + b < 2 or b % 2 or not (noise := self._noise(name)):
                continue
            left = {symbol: p for symbol, p in left.items() if symbol not in (name, f"|{name}|")}
            complex_ = np.iscomplexobj(field)
            parts.append(
                unbiased_modulus_power(field, a, b // 2, noise) if complex_ else unbiased_power(field, a, noise)
            )
        return reduce(np.multiply, [*parts, *(self.of(symbol, "", p) for symbol, p in left.items())])

    def _noise(self, name: str) -> float:
        if name not in self._noises:
            self._noises[name] = noise_variance(self.data.fields[name])
        return self._noises[name]

    def _rule(self, symbol: str, axis: int) -> AbstractDerivative:
        """Returns the differentiation method for a field along an axis, the same for all orders of derivatives."""
        if not isinstance(self.rule, LocalPolynomialDerivative) or self.rule.half_width is not None:
            return self.rule
        if (symbol, axis) not in self._rules:
            self._rules[symbol, axis] = best_derivative_rule(self.of(symbol), axis)
        return self._rules[symbol, axis]
