"""Stores pairs of Gaussian variables compactly: distinct standard deviations, indices and covariances, in blocks.

A block of a matrix has few columns, so that what belongs to them stays in a cache; of the pairs of points among
themselves, blocks hold one half, and the other is its mirror image, exactly.

>>> out = np.zeros((2, 2))
>>> PairBlock((slice(0, 2), slice(0, 2)), True).write(np.array([1.0, 9.0, 2.0, 3.0]), out)  # above the diagonal: unused
>>> out.tolist()
[[1.0, 2.0], [2.0, 3.0]]
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.machine.threads import run_in_threads
from gnomon.expectations.polar import ALIGNED_TOLERANCE_IN_EPS

__all__ = ["ALIGNED_FROM", "PairBlock", "CovariancePairs", "inverse_or_zero"]

ALIGNED_FROM = 1 - ALIGNED_TOLERANCE_IN_EPS * float(np.finfo(np.float64).eps)
"""Correlations of this size or more count as one."""
PAIRS_PER_BLOCK = 2**15  # pairs per block
COLUMNS_PER_BLOCK = 64
"""Number of columns in a block of a matrix."""


@dataclass(frozen=True, slots=True)
class PairBlock:
    """A block of a matrix of pairs of Gaussian variables; ``mirror`` means that the transposed block has the same
    values.
    """

    where: tuple[slice, ...]
    mirror: bool

    def write(self, values: np.ndarray, out: np.ndarray) -> None:
        """Writes the values of this block of pairs into the matrix, and also into the transposed block if it is
        symmetric.
        """
        found = values.reshape(out[self.where].shape)
        if self.mirror:
            # A block on the diagonal is valid only in its lower triangle, which is copied to the upper one.
            if self.where[0].start == self.where[1].start:
                square = found[: len(found.T)]
                square[:] = np.tril(square) + np.tril(square, -1).T
            out.T[self.where] = found
        out[self.where] = found

    def missing(self, out: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns the positions in this block of pairs whose value is NaN; of a symmetric pair, the one below the
        diagonal.
        """
        found = np.nonzero(np.isnan(out[self.where]))
        offsets = [s.start for s in self.where] + [0] * (out.ndim - len(self.where))
        places = tuple(f + o for f, o in zip(found, offsets, strict=True))
        if self.mirror:
            below = places[0] >= places[1]
            places = tuple(p[below] for p in places)
        return places


@dataclass(frozen=True, slots=True)
class CovariancePairs:
    """Pairs of Gaussian variables, stored as distinct standard deviations, an index for each variable, and all
    covariances.
    """

    root_a: Float[Tensor, " n"]
    index_a: np.ndarray
    root_b: Float[Tensor, " m"]
    index_b: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(cls, a: Tensor, b: Tensor, c: Tensor) -> "CovariancePairs":
        """Creates a record of pairs of Gaussian variables from their variances and covariances, which may broadcast.

        >>> one = torch.ones(2, dtype=torch.float64)
        >>> CovariancePairs.of(one[:, None], one, one / 2).root_a
        tensor([1.], dtype=torch.float64)
        """
        shape = np.broadcast_shapes(a.shape, b.shape, c.shape, (1,))
        return cls(*_distinct(a, len(shape)), *_distinct(b, len(shape)), c.expand(shape).numpy())

    def at(self, where: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the standard deviations' indices and the covariances of the pairs at some positions."""
        i, j = (np.broadcast_to(t, self.covariance.shape)[where] for t in (self.index_a, self.index_b))
        return i.flatten(), j.flatten(), self.covariance[where].flatten()

    def some(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the indices and absolute correlations of at most ``most`` evenly spaced pairs, as a sample."""
        count = self.covariance.size
        place = np.linspace(0, count - 1, min(most, count)).astype(np.int64)
        i, j, c = self.at(np.unravel_index(place, self.covariance.shape))
        return i, j, np.minimum(np.abs(c * inverse_or_zero(self.root_a)[i] * inverse_or_zero(self.root_b)[j]), 1.0)

    def missing(self, places: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the standard deviations' indices and the correlations of the pairs at some positions."""
        i, j, c = self.at(places)
        rho = c * inverse_or_zero(self.root_a)[i] * inverse_or_zero(self.root_b)[j]
        return i, j, np.where(np.abs(rho) >= ALIGNED_FROM, np.sign(rho), rho)

    def blocks(self, *, symmetric: bool) -> list[PairBlock]:
        """Returns blocks that cover all pairs of Gaussian variables; only one triangle if the matrix is symmetric."""
        shape = self.covariance.shape
        if len(shape) != 2:
            many = max(1, PAIRS_PER_BLOCK * shape[0] // self.covariance.size)
            return [PairBlock((slice(start, start + many),), False) for start in range(0, shape[0], many)]
        half, rows = symmetric and self._is_mirrored(), PAIRS_PER_BLOCK // COLUMNS_PER_BLOCK
        return [
            PairBlock((slice(top, top + rows), slice(left, left + COLUMNS_PER_BLOCK)), half)
            for left in range(0, shape[1], COLUMNS_PER_BLOCK)
            for top in range(left if half else 0, shape[0], rows)
        ]

    def _is_mirrored(self) -> bool:
        """Returns whether the pairs are all pairs of one set of points with itself, a symmetric matrix."""
        n = len(self.covariance)
        if self.index_a.shape != (n, 1) or self.index_b.shape != (1, n):
            return False
        if not np.array_equal(self.index_a, self.index_b.T) or not torch.equal(self.root_a, self.root_b):
            return False

        def equal(left: int, room: None) -> bool:
            rows = slice(left, left + COLUMNS_PER_BLOCK)
            return np.array_equal(self.covariance[rows, : rows.stop], self.covariance[: rows.stop, rows].T)

        return all(run_in_threads(equal, range(0, n, COLUMNS_PER_BLOCK), lambda: None, None))


def inverse_or_zero(root: Tensor) -> np.ndarray:
    """Returns 1 / root for each entry, and 0 for entries that are 0.

    >>> inverse_or_zero(torch.tensor([0.0, 2.0])).tolist()
    [0.0, 0.5]
    """
    return torch.where(root > 0, 1 / root, 0).numpy()


def _distinct(variance: Tensor, dimensions: int) -> tuple[Tensor, np.ndarray]:
    """Returns the distinct standard deviations, and for each variance its index among them."""
    values, index = variance.clamp(min=0).unique(return_inverse=True)
    shape = (1,) * (dimensions - variance.dim()) + tuple(variance.shape)
    return values.sqrt(), index.view(shape).to(torch.int32).numpy()
