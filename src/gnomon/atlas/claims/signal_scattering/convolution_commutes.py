"""Convolution does not mind the order of its two functions.

    (f * h)[u] = sum_t f[t] h[u - t] = sum_t h[t] f[u - t] = (h * f)[u]                                       (1)

Reference: [mallat2009wavelet], Section 2.1.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """Two signals of different lengths."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=m)


def predicted(n, m, seed):
    """f * h, by the first sum of (1): copies of h, shifted and weighted by f."""
    f, h = inputs(n, m, seed)
    out = np.zeros(n + m - 1)
    for t in range(n):
        out[t : t + m] += f[t] * h
    return out


def observed(n, m, seed):
    """h * f, by numpy."""
    f, h = inputs(n, m, seed)
    return np.convolve(h, f)


def control(n, m, seed):
    """The correlation of h with f."""
    f, h = inputs(n, m, seed)
    return np.correlate(h, f, "full")


CLAIM = Claim(
    id="convolution-commutes",
    title="Convolution commutes",
    equation=r"f * h = h * f",
    source=Source("theorem", "mallat2009wavelet", "Section 2.1"),
    premises=(Premise("one of the functions is flipped: a convolution, not a correlation"),),
    parameters={"n": 60, "m": 17},
    full={"n": 2000, "m": 300},
    judge=equals(rounding=1000),
)
