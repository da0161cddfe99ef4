"""Turns an equation into a regression at grid points, with numerical derivatives of the data.

    u_t(x_i, t_i) = sum_j c_j theta_j(u, u_x, ...)(x_i, t_i)                                                   (1)

Hypotheses: noise small against the highest derivative times the step to its order; else take `WeakForm`.
Reference: [rudy2017data], (1).
Cost: one derivative of the data for each order, and ``rows`` rows.

>>> PointwiseForm().rows
10000
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.discovery.derivatives import AbstractDerivative, FiniteDifferenceDerivative
from gnomon.discovery.forms.base import AbstractRegressionForm, RegressionSystem, block_numbers
from gnomon.discovery.grid import GridData
from gnomon.discovery.term import Term

__all__ = ["PointwiseForm", "term_values"]

BLOCKS_PER_AXIS = 8
"""Number of blocks along each axis, for the bootstrap."""
SKIPPED_EDGE_SHARE = 0.05
"""Share of each end of an axis that is skipped: derivatives are least accurate there."""


@dataclass(frozen=True, slots=True)
class PointwiseForm(AbstractRegressionForm):
    """Turns an equation into a regression at ``rows`` random grid points, with derivatives by the given methods.

    See equation (1) of the module docstring.

    >>> from gnomon.discovery.derivatives import SpectralDerivative
    >>> PointwiseForm(space=SpectralDerivative()).space
    SpectralDerivative(keep=1.0)
    """

    space: AbstractDerivative = FiniteDifferenceDerivative()
    time: AbstractDerivative = FiniteDifferenceDerivative()
    rows: int = 10_000
    seed: int = 0

    def systems(self, data: GridData, terms: Sequence[Term], time: int) -> dict[str, RegressionSystem]:  # noqa: D102
        chosen = self._points(data.shape)
        cache: dict[tuple[str, str], np.ndarray] = {}
        columns = np.stack([self.column(data, term, cache).ravel()[chosen] for term in terms], 1)
        pieces = [min(BLOCKS_PER_AXIS, n) for n in data.shape]
        blocks = block_numbers(data.shape, pieces)[chosen]
        _, blocks = np.unique(blocks, return_inverse=True)
        h, axis = data.steps["t"], len(data.shape) - 1
        return {
            name: RegressionSystem(
                columns, self.time(values, h, time, axis).ravel()[chosen], blocks, float(prod(pieces))
            )
            for name, values in data.fields.items()
        }

    def column(self, data: GridData, term: Term, cache: dict[tuple[str, str], np.ndarray]) -> np.ndarray:
        """Returns the values of a candidate term at all points of the grid."""
        return term_values(data, term, self.space, self.time, cache)

    def _points(self, shape: Sequence[int]) -> np.ndarray:
        inner = np.zeros(tuple(shape), dtype=bool)
        inner[tuple(slice(int(SKIPPED_EDGE_SHARE * n), n - int(SKIPPED_EDGE_SHARE * n)) for n in shape)] = True
        kept = np.flatnonzero(inner)
        rows = check_integer("rows", self.rows)
        if rows >= len(kept):
            return kept
        draw = np.random.default_rng(abs(check_seed(self.seed)))
        return np.sort(draw.choice(kept, rows, replace=False))


def term_values(
    data: GridData, term: Term, space: AbstractDerivative, time: AbstractDerivative,
    cache: dict[tuple[str, str], np.ndarray]
) -> np.ndarray:  # fmt: skip
    """Returns the values of a candidate term at all grid points; reuses derivatives that are stored in ``cache``.

    Cost: the derivatives that the cache does not hold.

    >>> from gnomon.discovery.term import parse_term
    >>> data = GridData({"u": np.outer(np.arange(9.0) ** 2, np.ones(9))}, {"x": 1.0, "t": 1.0})
    >>> rule = FiniteDifferenceDerivative()
    >>> float(term_values(data, parse_term("u*u_xx"), rule, rule, {})[3, 0].round(9))
    18.0
    """
    values = np.ones(data.shape)
    for factor in term.factors:
        key = (factor.symbol, factor.derivative)
        if key not in cache:
            found = data.value(factor.symbol)
            for letter in dict.fromkeys(factor.derivative):
                rule = time if letter == "t" else space
                found = rule(found, data.steps[letter], factor.derivative.count(letter), data.letters.index(letter))
            cache[key] = found
        values = values * cache[key] ** factor.power
    return values
