"""Gaussian integrals of piecewise polynomials in numpy, which for few pairs is faster than compiling loops.

The compiled versions, with the same arguments and the same rule, are in loops.py. For functions f and h, given as edges
and a polynomial between two of them, and numbers s, t, m, both compute

    integral of N(x) f(s x) h(t x + m)                                                                            (1)

interval by interval, by the rule of Gauss. Here all intervals of many pairs are evaluated together.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["expectations_by_conditioning", "smooth_expectations"]

MARKS_AT_ONCE = 2**16
"""Number of interval ends that are held in memory at once."""


class Polynomials(NamedTuple):
    """A piecewise polynomial: its edges, and one row of coefficients on [-1, 1] per piece.

    ``coefficients`` may have a further first axis, with one polynomial for each pair.
    """

    edges: np.ndarray
    coefficients: np.ndarray


class Density(NamedTuple):
    """The normal density as polynomials on intervals of equal width; integrals begin at the interval ``first``."""

    coefficients: np.ndarray
    start: float
    width: float
    first: int

    def ends(self) -> np.ndarray:
        """Returns the ends of the intervals of the normal density, from the first interval on."""
        return self.start + self.width * np.arange(self.first, len(self.coefficients) + 1)


def smooth_expectations(
    place: np.ndarray, deviation: np.ndarray, edges: np.ndarray, coefficients: np.ndarray, one: np.ndarray,
    density: np.ndarray, start: float, width: float, rule: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Computes E[g(m + t z)] over a standard normal z for many positions m and deviations t of a piecewise polynomial
    g.

    The arguments are the same as for `loops.smooth_expectations`.

    >>> rule, out = np.stack(np.polynomial.legendre.leggauss(4)), np.empty(1)
    >>> square, one = np.array([[0.0, 0.0, 4.0]]), np.array([[1.0]])  # x^2 on [-2, 2], with x = 2 at 1
    >>> uniform = np.array([[0.5]]), -1.0, 2.0  # a density on [-1, 1] instead of the normal one
    >>> smooth_expectations(np.zeros(1), np.ones(1), np.array([-2.0, 2.0]), square, one, *uniform, rule, out)
    >>> print(f"{out[0]:.6f}")
    0.333333
    """
    f = Polynomials(np.array([-1e300, 1e300]), one)
    panels = Density(density, start, width, 0)
    _integrals(np.ones(len(place)), f, deviation, place, Polynomials(edges, coefficients), panels, rule, out)


def expectations_by_conditioning(
    root_a: np.ndarray, root_b: np.ndarray, rho: np.ndarray, level: np.ndarray, edges: np.ndarray,
    coefficients: np.ndarray, at: np.ndarray, h_edges: np.ndarray, h: np.ndarray, density: np.ndarray, start: float,
    width: float, panel: int, rule: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Computes E[f(u) g(v)] for many pairs of Gaussian u, v, as the integral over u of f(u) E[g(v) | u].

    The arguments are the same as for `loops.ridges`, without the working memory.

    >>> rule, out = np.stack(np.polynomial.legendre.leggauss(4)), np.empty(1)
    >>> square, one = np.array([[0.0, 0.0, 4.0]]), np.array([[[1.0]]])  # x^2 on [-2, 2], and a constant
    >>> uniform = np.array([[0.5]]), -1.0, 2.0, 0  # a density on [-1, 1] instead of the normal one
    >>> tables = np.array([[0, 0, 1]]), np.array([-2.0, 2.0]), one
    >>> pair = np.ones(1), np.ones(1), np.zeros(1), np.zeros(1, int)
    >>> expectations_by_conditioning(*pair, np.array([-2.0, 2.0]), square, *tables, *uniform, rule, out)
    >>> print(f"{out[0]:.6f}")
    0.333333
    """
    f, panels = Polynomials(edges, coefficients), Density(density, start, width, panel)
    scale = root_b * rho
    for k in np.unique(level):
        rows = np.flatnonzero(level == k)
        first, piece, count = at[k]
        reach = np.abs(scale[rows]).max() * max(abs(start), start + width * len(density))
        inner = h_edges[first + 1 : first + count]
        low, high = np.searchsorted(inner, -reach), np.searchsorted(inner, reach)
        ends, pieces = h_edges[first + low : first + high + 2], h[piece + low : piece + high + 1]
        many = max(1, MARKS_AT_ONCE // max(1, pieces[:, 0].size))
        for begin in range(0, len(rows), many):
            some = rows[begin : begin + many]
            fitted = pieces[:, 0]
            if k < len(at) - 1:
                fitted = np.tensordot(_variance_basis(root_b[some], rho[some], h.shape[1]), pieces, (1, 1))
            found = np.empty(len(some))
            still = np.zeros(len(some))
            _integrals(root_a[some], f, scale[some], still, Polynomials(ends, fitted), panels, rule, found)
            out[some] = found * (2.0 if panel else 1.0)


def _variance_basis(root_b: np.ndarray, rho: np.ndarray, terms: int) -> np.ndarray:
    """Returns Chebyshev polynomials of each pair's variance of v given u, in which smoothed functions are written."""
    variance = root_b * root_b * ((1.0 - rho) * (1.0 + rho))
    return np.polynomial.chebyshev.chebvander(2.0 * (variance / 2.0 ** np.floor(np.log2(variance))) - 3.0, terms - 1)


def _integrals(
    s: np.ndarray, f: Polynomials, t: np.ndarray, m: np.ndarray, h: Polynomials, density: Density, rule: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Integrates products of two piecewise polynomials and the normal density, for many scales and positions."""
    grid = density.ends()
    many = max(1, MARKS_AT_ONCE // (len(grid) + len(f.edges) + len(h.edges)))
    for begin in range(0, len(s), many):
        rows = slice(begin, begin + many)
        own = h if h.coefficients.ndim == 2 else Polynomials(h.edges, h.coefficients[rows])
        out[rows] = _integrals_at_once(s[rows], f, t[rows], m[rows], own, density, grid, rule)


def _integrals_at_once(
    s: np.ndarray, f: Polynomials, t: np.ndarray, m: np.ndarray, h: Polynomials, density: Density, grid: np.ndarray,
    rule: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Integrates products of two piecewise polynomials and the normal density, for scales and positions in
    one batch.
    """
    end, slope = grid[-1], np.where(t == 0.0, 1e-300, t)
    cuts = [_edges_between(f.edges, -end * s.max(), end * s.max()) / s[:, None]]
    reach = end * np.abs(t).max()
    cuts.append((_edges_between(h.edges, m.min() - reach, m.max() + reach) - m[:, None]) / slope[:, None])
    marks = np.concatenate([np.broadcast_to(grid, (len(s), len(grid))), *cuts], 1)
    marks = np.sort(np.clip(marks, grid[0], end), 1)
    q, place = np.nonzero(marks[:, 1:] > marks[:, :-1])
    left, right = marks[q, place], marks[q, place + 1]
    middle, half = (left + right) / 2, (right - left) / 2
    i = np.searchsorted(f.edges[1:-1], s[q] * middle, side="right")
    j = np.searchsorted(h.edges[1:-1], t[q] * middle + m[q], side="right")
    d = np.clip(((middle - density.start) / density.width).astype(np.int64), 0, len(density.coefficients) - 1)
    d_left = density.start + density.width * d
    h_rows = h.coefficients[j] if h.coefficients.ndim == 2 else h.coefficients[q, j]
    value = _values(f.coefficients[i], s[q] * middle, s[q] * half, (f.edges[i], f.edges[i + 1]), rule[0])
    value *= _values(h_rows, t[q] * middle + m[q], t[q] * half, (h.edges[j], h.edges[j + 1]), rule[0])
    value *= _values(density.coefficients[d], middle, half, (d_left, d_left + density.width), rule[0])
    return np.bincount(q, (value @ rule[1]) * half, len(s))  # (1)


def _edges_between(edges: np.ndarray, low: float, high: float) -> np.ndarray:
    """Returns the edges between a function's polynomial pieces that lie between two positions, without the
    outer ends.
    """
    inner = edges[1:-1]
    return inner[(inner > low) & (inner < high)]


def _values(
    coefficients: np.ndarray, middle: np.ndarray, half: np.ndarray, piece: tuple[np.ndarray, np.ndarray],
    nodes: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Returns the values of one polynomial per row at the quadrature nodes of an interval."""
    unit = 2.0 / (piece[1] - piece[0])
    x = ((middle - piece[0]) * unit - 1.0)[:, None] + (half * unit)[:, None] * nodes
    total = np.repeat(coefficients[:, -1:], len(nodes), 1)
    for k in range(coefficients.shape[1] - 2, -1, -1):  # Horner
        total *= x
        total += coefficients[:, k : k + 1]
    return total
