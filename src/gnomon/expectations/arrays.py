"""Computes Gaussian expectations in numpy and torch by Hermite series, which for few pairs is faster than compiling
loops.

The compiled versions are in loops.py. They are faster, but importing numba and loading them takes a second, and
compiling them five.
"""

import sys
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from gnomon.core.machine.kept_loops import is_compiled_code_cached

__all__ = ["COMPILED_LOOPS_MODULE", "SeriesArrays", "hermite_sums", "is_numpy_faster", "series_sums"]

COMPILED_LOOPS_MODULE = "gnomon.expectations.loops"
"""Name of the module with compiled loops; it is in sys.modules once they are loaded."""
LOAD_SECONDS = 1.0
"""Approximate seconds to import numba and load compiled loops from the cache on disk."""
COMPILE_SECONDS = 5.0
"""Approximate seconds to compile them, with the import of numba."""
SECONDS_PER_TERM = 1e-9
"""Approximate seconds of one term of one pair in torch."""
SECONDS_PER_PAIR = 1e-7
"""Approximate seconds of the series of one pair in torch, for most correlations."""
TERMS_PER_BLOCK = 16
"""Number of terms in a block of a series."""
ENTRIES_AT_ONCE = 2**20
"""Number of terms of all pairs that are held in memory at once."""
COMMON_SHARE = 0.98
"""Share of the pairs of a block whose series have the same length; the others are summed one by one."""
SAMPLED_CORRELATIONS = 1024
"""Number of correlations of a block from which this length is chosen."""


def is_numpy_faster(seconds: float) -> bool:
    """Returns whether numpy is the better choice: compiled loops would take longer to load or compile, or numba is
    missing.

    >>> is_numpy_faster(0.0) or COMPILED_LOOPS_MODULE in sys.modules
    True
    """
    if COMPILED_LOOPS_MODULE in sys.modules:
        return False
    if not _numba_is_installed():
        return True
    return seconds <= LOAD_SECONDS or (
        seconds <= COMPILE_SECONDS and not is_compiled_code_cached(COMPILED_LOOPS_MODULE, "sums")
    )


@cache
def _numba_is_installed() -> bool:
    """Whether numba is installed; looked up once, because each look takes 0.2 ms."""
    return find_spec("numba") is not None


@dataclass(frozen=True, slots=True)
class SeriesArrays:
    """Mehler's series (a power series in the correlation) for Gaussian expectations of blocks of pairs, in arrays.

    ``sides`` has for each of the two functions: the distinct variables' indices, which broadcast over the matrix,
    inverse standard deviations, coefficients (one row per term), and square roots of relative tails. A term of a block
    is the product of a row and a column with powers, so that torch adds one term of all pairs at a time.
    """

    sides: tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], ...]
    tolerance: float
    aligned: float
    worst: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Computes the largest truncation error of the power series after each block of terms."""
        first, second = (side[3].max(0) for side in self.sides)
        object.__setattr__(self, "worst", first * second)

    def values(self, covariance: np.ndarray, where: tuple[slice, ...]) -> tuple[np.ndarray, int]:
        """Returns the sums of the power series for a block of pairs, NaN for pairs with uncertain error, and the number
        of NaN.

        >>> one, zero, alpha = np.ones(1), np.zeros((1, 1), np.int32), np.eye(16)[:1] + np.eye(16)[1:2]
        >>> side = (zero, one, alpha.T, np.zeros((1, 2)))
        >>> float(SeriesArrays((side, side), 1e-9, 1.0).values(np.full((1, 1), 0.5), (slice(0, 1),))[0][0])  # 1 + rho
        1.5
        """
        (i, a), (j, b) = ((_part(side[0], where), side) for side in self.sides)
        rho = torch.from_numpy(covariance[where]) * torch.from_numpy(a[1][i]) * torch.from_numpy(b[1][j])
        size = rho.abs()
        rho = torch.where(size >= self.aligned, rho.sign(), rho)
        used = self._blocks(size)
        terms, tails = TERMS_PER_BLOCK * used, torch.from_numpy(a[3][:, used][i]) * torch.from_numpy(b[3][:, used][j])
        alpha, beta = (torch.from_numpy(s[2][:terms, k]) for k, s in ((i, a), (j, b)))
        total = (alpha[-1] * beta[-1]).expand(rho.shape).clone()
        for k in range(terms - 2, -1, -1):  # Horner
            total.mul_(rho).addcmul_(alpha[k], beta[k])
        left = (rho.abs() == 1) | (rho.abs() ** terms * tails > self.tolerance)
        found, places = total.flatten().numpy(), np.flatnonzero(left.flatten().numpy())
        if not len(places):
            return found, 0
        rows, columns = (np.broadcast_to(k, rho.shape).ravel()[places] for k in (i, j))
        rest = np.empty(len(places))
        count = series_sums(
            rows, columns, covariance[where].ravel()[places], (a[1], b[1]), (a[2].T, b[2].T), (a[3], b[3]),
            self.tolerance, self.aligned, np.empty(len(places)), rest,
        )  # fmt: skip
        found[places] = rest
        return found, count

    def _blocks(self, size: Tensor) -> int:
        """Returns how many blocks of series terms suffice for nearly all pairs of variables with these correlations."""
        blocks = np.arange(self.worst.shape[0])
        some = size.flatten()[:: max(1, size.numel() // SAMPLED_CORRELATIONS)].numpy()
        some = np.sort(some[some < self.aligned])
        usual = float(some[int(COMMON_SHARE * len(some))]) if len(some) else 0.0
        enough = np.flatnonzero(usual ** (TERMS_PER_BLOCK * blocks) * self.worst <= self.tolerance)
        return max(1, int(enough[0])) if len(enough) else int(blocks[-1])


def _part(index: np.ndarray, where: tuple[slice, ...]) -> np.ndarray:
    """Returns the part of an index array for a block; an axis of length one stays, because it broadcasts."""
    return index[tuple(part if size > 1 else slice(None) for part, size in zip(where, index.shape, strict=False))]


def series_sums(
    i: np.ndarray, j: np.ndarray, covariance: np.ndarray, inverses: tuple[np.ndarray, np.ndarray],
    alpha: tuple[np.ndarray, np.ndarray], tail: tuple[np.ndarray, np.ndarray], tolerance: float, aligned: float,
    rho: np.ndarray, out: np.ndarray,
) -> int:  # fmt: skip
    """Sums the power series in the correlation for many pairs; NaN if the error is not certified; returns the number of
    NaN.

    The arguments are the same as for `loops.sums`: indices of the two functions' rows, covariances, inverse standard
    deviations, Hermite coefficients, square roots of relative tails. Every pair uses all terms.

    >>> one, half = np.ones(1), np.full(1, 0.5)
    >>> coefficients, tails = np.eye(16)[:1] + np.eye(16)[1:2], np.zeros((1, 2))
    >>> rho, out, first = np.empty(1), np.empty(1), np.zeros(1, int)
    >>> series_sums(first, first, half, (one, one), (coefficients,) * 2, (tails,) * 2, 1e-9, 1.0, rho, out)
    0
    >>> float(out[0])  # 1 + rho
    1.5
    """
    correlation = covariance * inverses[0][i] * inverses[1][j]
    rho[:] = np.where(np.abs(correlation) >= aligned, np.where(correlation > 0, 1.0, -1.0), correlation)
    terms = alpha[0].shape[1]
    powers = np.abs(rho) ** terms
    last = terms // TERMS_PER_BLOCK
    certified = (np.abs(rho) < 1) & (powers * tail[0][i, last] * tail[1][j, last] <= tolerance)
    out[:] = np.nan
    places = np.flatnonzero(certified)
    many = max(1, ENTRIES_AT_ONCE // terms)
    for start in range(0, len(places), many):
        some = places[start : start + many]
        product = alpha[0][i[some]] * alpha[1][j[some]]
        r, total = rho[some], product[:, -1].copy()
        for k in range(terms - 2, -1, -1):  # Horner
            total *= r
            total += product[:, k]
        out[some] = total
    return len(out) - len(places)


def hermite_sums(z: np.ndarray, weighted: np.ndarray, alpha: np.ndarray) -> None:
    """Adds the contributions of quadrature nodes z to the Hermite coefficients ``alpha`` of a function.

    >>> alpha = np.zeros((1, 2))
    >>> hermite_sums(np.ones((1, 1)), np.ones((1, 1)), alpha)
    >>> (alpha / (np.exp(-0.25) * (2 * np.pi) ** -0.25)).tolist()  # he_0 = 1, he_1(z) = z
    [[1.0, 1.0]]
    """
    here = weighted * np.exp(-0.25 * z * z) * (2 * np.pi) ** -0.25
    before = np.zeros_like(here)
    for k in range(alpha.shape[1]):
        alpha[:, k] += here.sum(1)
        before, here = here, z * here / np.sqrt(k + 1.0) - before * np.sqrt(k / (k + 1.0))
