"""The exponential function and the normal tail probability, in arithmetic that compilers can vectorize.

For x <= 0, with n the integer next to x / log 2,

    exp(x) = 2^n sum over k <= 12 of (x - n log 2)^k / k!                                                   (1)

and for x >= 0, with Q(x) the probability that a standard normal variable exceeds x,

    Q(x) = exp(-x^2 / 2) P((x - 4) / (x + 4)) / (x + 4),    P of degree 22                                  (2)

Accuracy: relative error 3e-16 of (1) for its argument, 1e-15 (1 + x^2 / 2) of (2). Both are cut off at exp(-700).
Cost: some 20 and 60 operations.
"""

from functools import cache
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from gnomon.core.machine.loops import INNER, use_wide_vectors

POLYNOMIAL_DEGREE = 22
"""Degree of the Chebyshev polynomial."""
MAP_CENTER = 4.0
"""The value that the change of variable maps to zero."""
MIN_EXPONENT = -700.0
"""Smallest exponent; the exponential is zero below."""
PER_LOG2 = 1.4426950408889634
"""1 / log 2."""
LOG2_HIGH = 0.6931471803691238
"""Leading digits of log 2, exact in a product with an integer."""
LOG2_LOW = 1.9082149292705877e-10
"""Remaining digits of log 2."""
ROUND_TO_INTEGER = 1.5 * 2.0**52
"""Adding it to a number puts the nearest integer into the last bits."""
_intrinsic: Any = intrinsic  # typed Any, because numba passes the first argument itself, which mypy cannot see


@_intrinsic
def _times_power_of_two(typing_context, p, rounded):
    """Returns p * 2^n by adding n to the exponent bits of the float p; ``rounded`` holds n in its last bits."""

    def generate(context, builder, signature, arguments):
        whole = ir.IntType(64)
        bits, power = (builder.bitcast(value, whole) for value in arguments)
        moved = builder.add(bits, builder.shl(power, ir.Constant(whole, 52)))
        return builder.bitcast(moved, ir.DoubleType())

    return types.float64(types.float64, types.float64), generate


@njit(**INNER)
def exponential(x):
    """Returns exp(x) for x <= 0.

    See equation (1) of the module docstring.
    """
    x = x if x > MIN_EXPONENT else MIN_EXPONENT
    rounded = x * PER_LOG2 + ROUND_TO_INTEGER
    n = rounded - ROUND_TO_INTEGER
    r = (x - n * LOG2_HIGH) - n * LOG2_LOW
    p = 1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))
    p = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * p))
    p = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * p))
    return _times_power_of_two(1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * p))), rounded)


@njit(**INNER)
def tails(x, polynomial, place, out):
    """Computes the tail probability P(z > |x|) of a standard normal z for all x; ``place`` is working memory."""
    use_wide_vectors()
    for q in range(len(x)):
        size = abs(x[q])
        place[q] = (size - MAP_CENTER) / (size + MAP_CENTER)
        out[q] = 0.0
    for k in range(len(polynomial)):
        c = polynomial[k]
        for q in range(len(x)):
            out[q] = out[q] * place[q] + c
    for q in range(len(x)):
        out[q] *= exponential(-0.5 * x[q] * x[q]) / (abs(x[q]) + MAP_CENTER)  # (2)


@cache
def tail_polynomial() -> np.ndarray:
    """Returns the coefficients of a polynomial for the normal tail probability, highest power first.

    >>> abs(float(np.polyval(tail_polynomial(), -1.0)) / 4 - 0.5) < 1e-15       # Q(0)
    True
    """
    count, odd = POLYNOMIAL_DEGREE + 1, 2 * np.arange(POLYNOMIAL_DEGREE + 1) + 1
    y = torch.from_numpy(np.cos(odd * (np.pi / (2 * count))))
    x = MAP_CENTER * (1 + y) / (1 - y)
    values = ((x + MAP_CENTER) * torch.special.erfcx(x * 0.5**0.5)).numpy() / 2
    turns = np.arange(count)[:, None] * odd % (4 * count)  # Reduced as integers, which makes the angles exact.
    series = np.cos(turns * (np.pi / (2 * count))) @ values * (2 / count)
    series[0] /= 2
    return np.ascontiguousarray(np.polynomial.chebyshev.cheb2poly(series)[::-1])
