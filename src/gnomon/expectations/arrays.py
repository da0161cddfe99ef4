"""Hermite coefficients and Mehler's series in numpy, which for few pairs is faster than loading compiled loops.

The compiled versions are in loops.py. They are ten times faster, but importing numba and loading them takes longer than
the sums of some ten thousand pairs.
"""

import sys
from importlib.util import find_spec

import numpy as np

__all__ = ["LOOPS", "MAX_PAIRS", "hermite_sums", "prefers_arrays", "series_sums"]

LOOPS = "gnomon.expectations.loops"
"""Name of the module with compiled loops; it is in sys.modules once they are loaded."""
MAX_PAIRS = 50_000
"""Number of pairs up to which numpy takes less time than importing numba and loading compiled loops."""
TERMS_PER_BLOCK = 16
"""Number of terms in a block of a series."""
ENTRIES_AT_ONCE = 2**20
"""Number of terms of all pairs that are held in memory at once."""


def prefers_arrays(pairs: int) -> bool:
    """Returns whether to use numpy for this number of pairs: compiled loops are not loaded yet and there are few pairs,
    or numba is missing.

    >>> prefers_arrays(10) or LOOPS in sys.modules
    True
    """
    if LOOPS in sys.modules:
        return False
    return pairs <= MAX_PAIRS or find_spec("numba") is None


def series_sums(
    i: np.ndarray, j: np.ndarray, covariance: np.ndarray, inverses: tuple[np.ndarray, np.ndarray],
    alpha: tuple[np.ndarray, np.ndarray], tail: tuple[np.ndarray, np.ndarray], tolerance: float, aligned: float,
    rho: np.ndarray, out: np.ndarray,
) -> int:  # fmt: skip
    """Sums the series alpha_k beta_k rho^k for many pairs; NaN for pairs whose error is not certified; returns the
    number of NaN.

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
    """Adds sum_q weighted[n, q] he_k(z[n, q]) to alpha[n, k], for normalized Hermite polynomials he_k.

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
