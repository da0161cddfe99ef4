"""Generates random numbers that Python and the browser compute identically, bit for bit.

The number with index i of a stream is a function of (seed, stream, i): two rounds of integer mixing give 52 random
bits. Normal numbers are the inverse of the normal distribution function (algorithm AS 241). Only basic arithmetic is
used, which IEEE 754 rounds in the same way everywhere; library functions such as ``log`` differ in the last bit.

Reference: [wichura1988algorithm].

>>> [round(float(u), 6) for u in uniforms(1, 0, 3)]
[0.188788, 0.294627, 0.028421]
"""

import numpy as np
from numpy.typing import NDArray

from gnomon.core.errors import add_call_to_errors

__all__ = ["normals", "permutation", "uniforms"]

Floats = NDArray[np.float64]

CENTER = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
"""Numerator and denominator of the inverse distribution function for probabilities in [0.075, 0.925]."""

TAIL = (
    (7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.4178072517745061177e-1, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.4810397642748007459e-1,
     6.8976733498510000455e-1, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
"""The same in the tails, as functions of sqrt(-log(probability)) - 1.6."""

SMALLEST_TAIL_PROBABILITY = 1.4e-11
"""The tail formula covers probabilities down to this one; a rarer value is moved to it, at 6.6 standard deviations."""

WORD = np.uint64(0xFFFFFFFF)
"""Mask of 32 bits."""


@add_call_to_errors
def uniforms(seed: int, stream: int, count: int) -> Floats:
    """Returns uniform random numbers strictly between 0 and 1; ``seed`` and ``stream`` determine the sequence.

    Cost: four mixing rounds per number.

    >>> bool((uniforms(3, 1, 1000) > 0).all())
    True
    """
    key = _mix(_words(seed * 0x9E3779B1) + _mix(_words(stream + 0x85EBCA6B)))
    second = _mix(key ^ np.uint64(0x27D4EB2F))
    index = np.arange(2 * count, dtype=np.uint64)
    words = _mix(_mix(index ^ key) + second) >> np.uint64(6)
    high, low = words[0::2].astype(np.float64), words[1::2].astype(np.float64)
    return (high * 67108864 + low + 0.5) / 4503599627370496


@add_call_to_errors
def normals(seed: int, stream: int, count: int) -> Floats:
    """Returns standard normal random numbers; ``seed`` and ``stream`` determine the sequence.

    Cost: some 60 operations per number.

    >>> abs(float(normals(0, 0, 10_000).mean())) < 0.03
    True
    """
    p = uniforms(seed, stream, count)
    q = p - 0.5
    r = 0.180625 - q * q
    center = q * _polynomial(CENTER[0], r) / _polynomial(CENTER[1], r)
    tail = np.maximum(np.where(q < 0, p, 1 - p), SMALLEST_TAIL_PROBABILITY)
    r = np.sqrt(-_logarithm(tail)) - 1.6
    size = _polynomial(TAIL[0], r) / _polynomial(TAIL[1], r)
    return np.where(np.abs(q) <= 0.425, center, np.where(q < 0, -size, size))


@add_call_to_errors
def permutation(seed: int, stream: int, n: int) -> list[int]:
    """Returns the numbers 0, ..., n - 1 in a random order; ``seed`` and ``stream`` determine the order.

    Cost: a sort.

    >>> sorted(permutation(0, 0, 4))
    [0, 1, 2, 3]
    """
    return np.argsort(uniforms(seed, stream, n), kind="stable").tolist()


def _words(value: int) -> NDArray[np.uint64]:
    return np.asarray(value & 0xFFFFFFFF, dtype=np.uint64)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scrambles the bits of 32-bit numbers, as the basis of random numbers (hash function "lowbias32" of C.
    Wellons).
    """
    x = words & WORD
    x = x ^ (x >> np.uint64(16))
    x = (x * np.uint64(0x7FEB352D)) & WORD
    x = x ^ (x >> np.uint64(15))
    x = (x * np.uint64(0x846CA68B)) & WORD
    return x ^ (x >> np.uint64(16))


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    total = np.zeros_like(x)
    for c in coefficients:
        total = total * x + c
    return total


def _logarithm(x: Floats) -> Floats:
    """Computes natural logarithms of numbers in (0, 1) by basic arithmetic, so that Python and JavaScript agree
    exactly.
    """
    mantissa, exponent = x.copy(), np.zeros_like(x)
    while (small := mantissa < 0.70710678).any():
        mantissa = np.where(small, mantissa * 2, mantissa)
        exponent = np.where(small, exponent - 1, exponent)
    s = (mantissa - 1) / (mantissa + 1)
    square, total = s * s, np.zeros_like(s)
    for k in range(23, 0, -2):
        total = total * square + 1 / k
    return exponent * 0.6931471805599453 + 2 * s * total
