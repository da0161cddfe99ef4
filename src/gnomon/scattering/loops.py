"""Compiled loops of the scattering transform: filters, subsampling, moduli and averages.

A product with a filter that is then subsampled by k is, in frequency, a sum over the k^2 places that fall on one:

    y[l, r, c] = sum_a x[r + a_1 m_1, c + a_2 m_2] f[a, l, r, c]                                              (1)

Only the places a, and of each row only the columns, where a filter is not negligible are summed. Complex numbers are
pairs of neighbors in x and y, and f holds each value twice, so that one multiplication serves both.
"""

import math
from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy"}


def _compile_on_first_use(function: Any) -> Any:
    """Compiles a function with numba when it is first called, and caches the result on disk if possible."""
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba found no writable cache folder, so each process compiles again.
        return njit(**OPTIONS)(function)


@_compile_on_first_use
def fold(x: Any, f: Any, offsets: Any, extents: Any, y: Any) -> None:
    """Multiplies spectra by wavelet filters and folds them to a smaller grid, which subsamples the outputs.

    See equation (1) of the module docstring.
    ``extents`` (places, filters, m_1, 2) are the first column of each row that counts and the one after the last.
    """
    count, filters, rows, width = y.shape
    for r in range(rows):  # Rows are the outermost loop, so that one row of x and f stays in the first-level cache.
        for i in range(count):
            for j in range(filters):
                y[i, j, r, :] = 0
        for a in range(len(offsets)):
            row, start = offsets[a, 0] + r, offsets[a, 1]
            for j in range(filters):
                first, last = extents[a, j, r, 0], extents[a, j, r, 1]
                if first == last:
                    continue
                factor = f[a, j, r, first:last]
                for i in range(count):
                    part, some = x[i, row, start + first : start + last], y[i, j, r, first:last]
                    for c in range(last - first):
                        some[c] += part[c] * factor[c]  # (1)


@_compile_on_first_use
def mirror(half: Any, whole: Any) -> None:
    """Fills in the full spectrum of real images from its first half of columns, by symmetry."""
    count, rows, width = whole.shape
    kept = half.shape[2]
    for i in range(count):
        for r in range(rows):
            line, other = whole[i, r], half[i, (rows - r) % rows]
            line[:kept] = half[i, r]
            for c in range(kept, width, 2):
                line[c] = other[width - c]
                line[c + 1] = -other[width - c + 1]


@_compile_on_first_use
def modulus(z: Any, u: Any) -> None:
    """Computes u = |z|, with real and imaginary parts of z stored next to each other."""
    for i in range(len(u)):
        u[i] = math.sqrt(z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1])


@_compile_on_first_use
def average_moduli(z: Any, weights: Any, keep: bool, u: Any, sums: Any) -> None:
    """Computes weighted sums over rows of the moduli |z| of wavelet outputs z, which averages them locally.

    The moduli stay in u (count, m_1, m_2) if they are kept; otherwise u has one row, for all in turn.
    """
    count, rows, _ = z.shape
    for i in range(count):
        sums[i] = 0
        for r in range(rows):
            wave, line = z[i, r], u[i * keep, r * keep]
            for c in range(len(line)):
                line[c] = math.sqrt(wave[2 * c] * wave[2 * c] + wave[2 * c + 1] * wave[2 * c + 1])
            for o in range(len(weights)):
                weight = weights[o, r]
                if weight != 0:  # Most weights are zero, because windows are short, so zeros are skipped.
                    total = sums[i, o]
                    for c in range(len(line)):
                        total[c] += weight * line[c]
