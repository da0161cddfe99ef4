"""The two loops of scattering that are not Fourier transforms, compiled: multiply and fold, and the modulus.

A product with a filter that is then subsampled by k is, in frequency, a sum over the k^2 places that fall on one:

    y[l, r, c] = sum_a x[r + a_1 m_1, c + a_2 m_2] f[a, l, r, c]                                              (1)

Only the places a where some filter is not negligible are summed. Complex numbers are pairs of neighbors in x and y, and
f holds each value twice, so that one multiplication serves both.
"""

import math
from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy"}


def _compiled(function: Any) -> Any:
    """Compile on first use; kept on disk where that is possible."""
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba found no folder that it may write
        return njit(**OPTIONS)(function)


@_compiled
def fold(x: Any, f: Any, offsets: Any, y: Any) -> None:
    """Equation (1): x (count, n_1, 2 n_2), f (places, filters, m_1, 2 m_2), y (count, filters, m_1, 2 m_2)."""
    count, filters, rows, width = y.shape
    for i in range(count):
        for j in range(filters):
            for r in range(rows):
                out = y[i, j, r]
                start = offsets[0, 1]
                first, weight = x[i, offsets[0, 0] + r, start : start + width], f[0, j, r]
                for c in range(width):
                    out[c] = first[c] * weight[c]
                for a in range(1, len(offsets)):
                    start = offsets[a, 1]
                    part, factor = x[i, offsets[a, 0] + r, start : start + width], f[a, j, r]
                    for c in range(width):
                        out[c] += part[c] * factor[c]  # (1)


@_compiled
def modulus(z: Any, u: Any) -> None:
    """u = |z| with the real and imaginary parts of z as neighbors."""
    for i in range(len(u)):
        u[i] = math.sqrt(z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1])
