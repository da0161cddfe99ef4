"""Computes one kernel entry after one layer, from half the squared distance e between two points before the layer.

A pair of points with variances a, b and covariance c is carried as

    e = (a + b) / 2 - c                                                                           (1)

which is linear in every affine layer, has no bias in it, and is exactly zero if the two points coincide. With
s = sqrt(a), r = 1 / s (0 for a = 0) and h = (1 - cos t) / 2 = sin^2(t / 2):

    h  = (e - (sa - sb)^2 / 2) ra rb / 2                                                          (2)
    e' = (sa - sb)^2 / 4 + sa sb (h - (sin t - t cos t) / 2 pi)         for ReLU                  (3)
    E[relu'(u) relu'(v)] = 1/2 - t / 2 pi                                                         (4)

    erf:   S = sqrt(1 + 2 a),  h = (1 + 2 e - (Sa - Sb)^2 / 2) / (2 Sa Sb),
           e' = (a' + b') / 2 - 1 + 2 t / pi,  E[phi' phi'] = (4 / pi) / (Sa Sb sin t)            (5)
    sign:  e' = (a' + b') / 2 - 1 + 2 t / pi,  no derivative                                      (6)

Hypotheses and references are in duals/relu.py, duals/erf.py and duals/sign.py.
Cost: about thirty operations.
"""

from math import sqrt

from numba import njit

from gnomon.core.machine.loops import INNER
from gnomon.kernels.fused.angle import angles


@njit(**INNER)
def half_angle(e, dd, rr, k):
    """Returns sin^2(t / 2) for the angle t between two points, from half their squared distance e; clipped to [0, 1].

    See equation (2) of the module docstring.
    """
    zero, quarter, half, one = k
    h = (e - half * dd) * (half * rr)
    h = h if h > zero else zero
    return h if h < one else one


@njit(**INNER)
def kink(e, sa, ra, sb, rb, k):
    """Returns the kernel entry after a piecewise linear activation, and the activation's factor for the tangent kernel.

    See equations (3) and (4) of the module docstring.
    """
    zero, quarter, half, one = k
    dd = (sa - sb) * (sa - sb)
    rr = ra * rb
    h = half_angle(e, dd, rr, k)
    far = h > half
    m = one - h if far else h
    turn, lag = angles(m)
    rise = (half if far else m) - lag
    slope = turn if far else half - turn
    return quarter * dd + sa * sb * rise, slope if rr > zero else zero  # (3), (4)


@njit(**INNER)
def angle_terms(e, dd, rr, k):
    """Returns t / (2 pi) and sin^2(t / 2) for the angle t between two points, from half their squared distance e.

    See equation (2) of the module docstring.
    """
    zero, quarter, half, one = k
    h = half_angle(e, dd, rr, k)
    far = h > half
    turn, lag = angles(one - h if far else h)
    return half - turn if far else turn, h


@njit(**INNER)
def error_function(e, ha, hb, sa, ra, sb, rb, k):
    """Returns the kernel entry after the activation erf, and the factor by which erf multiplies the tangent kernel.

    See equation (5) of the module docstring.
    """
    zero, quarter, half, one = k
    d = sa - sb
    turn, h = angle_terms(e + e + one, d * d, ra * rb, k)
    distance = (ha + hb) - one + (turn + turn + turn + turn)
    sine = sqrt(h * (one - h))  # h is sin^2(t / 2), so this is half of sin t
    return distance if e > zero else zero, ra * rb * half / sine
