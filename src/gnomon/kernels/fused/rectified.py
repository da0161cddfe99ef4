"""Updates kernel entries for a ReLU and the affine layer after it in one pass, if covariances are not negative.

With e, h, s, r of formulas.py, the affine layer T' = (ua + ub) - A e + w2 T, e' = w2 e, and

    g = w2 q,   S = sqrt(g) s,   R = r / sqrt(2)                                                          (1)

where q scales the dual of ReLU, the angle t is at most pi / 2, and

    h = (e - (Sa - Sb)^2 / 2 g) Ra Rb                                                                     (2)
    e' = (Sa - Sb)^2 / 4 + Sa Sb (h - (sin t - t cos t) / 2 pi)                                           (3)
    T' = (ua + ub) - (A / w2) e' + g T (1/2 - t / 2 pi)                                                   (4)

In float32, functions of the angle are shorter polynomials if all h are known to be at most 1/4 or 1/8.
Hypotheses: positive variances. Reference: as in formulas.py.
Cost: thirty operations, fewer for small angles.
"""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.extending import overload

from gnomon.core.machine.loops import FAST_MATH_FLAGS, INNER, use_wide_vectors
from gnomon.kernels.fused.angle import angles, eighth_angles, quarter_angles


def _layer(turned: Callable[..., Any]) -> Any:
    """Compiles a loop that updates kernel entries for a ReLU and the affine layer after it, with a given angle
    polynomial.
    """

    @njit(**INNER)
    def layer(e, t, sa, ra, ua, sb, rb, ub, numbers, top, k):
        use_wide_vectors()
        zero, quarter, half = k[0], k[1], k[2]
        narrow, share, g = numbers[0], numbers[1], numbers[2]
        for q in range(len(e)):
            d = sa - sb[q]
            dd = d * d
            h = (e[q] - narrow * dd) * (ra * rb[q])  # (2)
            h = h if h > zero else zero
            m = h if h < top else top
            turn, lag = turned(m)
            after = quarter * dd + (sa * sb[q]) * (m - lag)  # (3)
            t[q] = ((ua + ub[q]) - share * after) + g * (t[q] * (half - turn))  # (4)
            e[q] = after

    return layer


_acute, _quarter, _eighth = _layer(angles), _layer(quarter_angles), _layer(eighth_angles)


def relu_entries(e, t, sa, ra, ua, sb, rb, ub, numbers, k):
    """Applies a ReLU and the next affine layer to the kernels of many pairs: half squared distances e, tangent kernels
    t.
    """
    raise NotImplementedError  # Never runs, because numba compiles the overload below instead.


@overload(relu_entries, jit_options={"fastmath": set(FAST_MATH_FLAGS), "forceinline": True})
def _rectify(e, t, sa, ra, ua, sb, rb, ub, numbers, k):
    if e.dtype != types.float32:
        return lambda e, t, sa, ra, ua, sb, rb, ub, numbers, k: _acute(e, t, sa, ra, ua, sb, rb, ub, numbers, k[2], k)

    def choose_polynomial(e, t, sa, ra, ua, sb, rb, ub, numbers, k):
        if numbers[3] > k[1]:
            _acute(e, t, sa, ra, ua, sb, rb, ub, numbers, k[2], k)
        elif numbers[3] == k[1]:
            _quarter(e, t, sa, ra, ua, sb, rb, ub, numbers, k[1], k)
        else:
            _eighth(e, t, sa, ra, ua, sb, rb, ub, numbers, k[1] * k[2], k)

    return choose_polynomial
