"""Compiled loops for the closed form of E[f(u) g(v)] with piecewise linear f and g.

For X, Y standard normal of correlation r, corners h, k >= 0, s = sqrt(1 - r^2), N the normal density, Q its tail:

    a = (k - r h) / s,    b = (h - r k) / s                                                              (1)
    M00 = P(X > h, Y > k)                     = W(h, a) + W(k, b)                                        (2)
    M10 = E[(X - h) 1(X > h, Y > k)]          = N(h) Q(a) + r N(k) Q(b) - h M00                          (3)
    M11 = E[(X - h) (Y - k) 1(X > h, Y > k)]  = (r + h k) M00 + s N(h) N(a) - h N(k) Q(b) - k N(h) Q(a)  (4)
    W(h, x) = N(h) integral from x on of N(y) h / (h^2 + y^2) dy,    W(h, -x) = Q(h) - W(h, x)           (5)

(2) cuts the wedge along the ray from the origin to its corner. For 0 <= x <= 2.5, (5) is the function of Owen

    W(h, x) = Q(h) / 2 - T(h, x / h)   or, for x > h,   T(x, h / x) - Q(x) (1/2 - Q(h))                   (6)
    T(g, t) = exp(-g^2 / 2) t / 2 pi times the integral from 0 to 1 of exp(-(g t y)^2 / 2) / (1 + (t y)^2)

by ten points of Gauss, and beyond it is, by twenty points of Gauss and Laguerre,

    W(h, x) = exp(-(h^2 + x^2) / 2) h / 2 pi integral of exp(-v) / ((h^2 + x^2 + 2 v) sqrt(x^2 + 2 v))    (7)

All terms of (2) are positive, so that small probabilities have small errors.
Accuracy: W to 4e-16 Q(h), and to 5e-14 of itself for x > 0; see tests/expectations/test_linear.py.
Reference: [owen1956tables]; [rosenbaum1961moments], for the moments.
Cost: some 150 nanoseconds for each pair of corners and each sign of r.
"""

from functools import cache
from math import pi, sqrt

import numpy as np
from numba import njit

from gnomon.core.machine.loops import INNER, array_without_reference_counting, compile_on_first_use, use_wide_vectors
from gnomon.expectations.normal import exponential, tail_polynomial, tails

GAUSS_NODES = 20
"""Number of nodes of the Gauss-Legendre rule."""
LAGUERRE_NODES = 20
"""Number of nodes of the Gauss-Laguerre rule."""
PAIRS_PER_RUN = 128
"""Number of pairs per run, chosen so that their numbers stay in the first-level cache."""
MIN_DISTANCE_OF_TAIL_FORM = 2.5
"""Distance at and above which (7) is more accurate than (6)."""
MIN_WEDGE = 1e-150
"""Value of s for equal variables."""
MAX_DISTANCE = 1e4
"""Largest values of |a| and |b|."""
PER_TURN = 0.5 / pi
"""The constant 1 / (2 pi)."""
PER_ROOT = (2 * pi) ** -0.5
"""The constant 1 / sqrt(2 pi)."""


@compile_on_first_use
def wedges(i, j, covariance, left, right, weights, rules, aligned, one, rho, out):
    """Computes E[f(u) g(v)] for many pairs and piecewise linear f, g; NaN if not certified; returns the number of NaN.

    ``left`` and ``right`` are (numbers, corners) of single points, see linear.py; ``weights[e, f, sign]`` the factors
    of M00, M10, M01 and M11 for two corners; ``rules`` Gauss, Laguerre and the polynomial of the tail; ``one`` whether
    f is g.
    """
    (x, x_corners), (y, y_corners), (gauss, laguerre, polynomial) = left, right, rules
    room, places, wedge, left_over = (
        np.empty((13, 2 * PAIRS_PER_RUN)),
        np.empty(2 * PAIRS_PER_RUN, np.int64),
        np.empty((9, PAIRS_PER_RUN)),
        0,
    )
    x, y, room, wedge = (
        array_without_reference_counting(x),
        array_without_reference_counting(y),
        array_without_reference_counting(room),
        array_without_reference_counting(wedge),
    )
    for start in range(0, len(i), PAIRS_PER_RUN):
        n = min(PAIRS_PER_RUN, len(i) - start)
        p, m = i[start : start + n], j[start : start + n]
        r, value = rho[start : start + n], out[start : start + n]
        _begin(p, m, covariance[start : start + n], x, y, aligned, r, wedge, value)
        for e in range(weights.shape[0]):
            for f in range(weights.shape[1]):
                if _gather(p, m, x_corners[e], y_corners[f], wedge, n) == 0:
                    continue
                for sign in range(2):
                    w = weights[e, f, sign]
                    if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0 and w[3] == 0.0:
                        continue
                    _add(r, 1.0 - 2.0 * sign, w, wedge, gauss, laguerre, polynomial, room, places, value)
        for q in range(n):
            a, b = x[:, p[q]], y[:, m[q]]
            same = one and r[q] == 1.0 and a[0] == b[0]
            if same or not (a[5] * b[5] <= 1.0 or a[6] * b[6] <= 1.0):
                value[q] = np.nan
                left_over += 1
    return left_over


@njit(**INNER)
def _begin(p, m, covariance, x, y, aligned, rho, wedge, value):
    """Computes correlations, and the terms of E[f(u) g(v)] that involve at most one corner (kink or jump) of f or g."""
    for q in range(len(p)):
        a, b = p[q], m[q]
        wedge[0, q], wedge[1, q] = x[0, a], y[0, b]
        scale = x[0, a] * y[0, b]
        r = covariance[q] / scale if scale > 0.0 else 0.0
        if abs(r) >= aligned:
            r = 1.0 if r > 0.0 else -1.0
        rho[q] = r
        level = x[1, a] * (y[1, b] + y[3, b]) + x[3, a] * y[1, b]
        value[q] = level + r * (x[2, a] * (y[2, b] + y[4, b]) + x[4, a] * y[2, b])


@njit(**INNER)
def _gather(p, m, first, second, wedge, n):
    """Copies distances and probabilities of two corners (kinks) for n pairs to arrays; returns how many pairs need
    them.
    """
    some = 0
    for q in range(n):
        a, b = p[q], m[q]
        for row in range(3):
            wedge[2 + 2 * row, q], wedge[3 + 2 * row, q] = first[row, a], second[row, b]
        wedge[8, q] = first[3, a] * second[3, b]
        some += 1 if wedge[8, q] > 0.0 else 0
    return some


@njit(**INNER)
def _add(rho, sign, w, wedge, gauss, laguerre, polynomial, room, places, value):
    """Adds the contribution of one pair of corners (kinks or jumps) of f and g to E[f(u) g(v)] of many pairs."""
    n = len(rho)
    x, tail, whole, slices = room[0, : 2 * n], room[1, : 2 * n], room[2, : 2 * n], room[3, : 2 * n]
    corner = room[4, : 2 * n]
    _corners(rho, sign, wedge[2, :n], wedge[3, :n], wedge[4, :n], wedge[5, :n], corner, x, whole)
    tails(x, polynomial, room[5, : 2 * n], tail)
    _slices(corner, x, whole, tail, gauss, laguerre, room[5:], places, slices)
    if w[1] == 0.0 and w[2] == 0.0 and w[3] == 0.0:
        _probability(slices, w[0], wedge[8, :n], value)
    else:
        _moments(rho, sign, wedge, x, tail, slices, w, value)


@njit(**INNER)
def _corners(rho, sign, h, k, tail_h, tail_k, corner, x, whole):
    """Computes two corner positions (places of kinks) from one shared difference, so that rounding affects both
    equally.
    """
    use_wide_vectors()
    n = len(rho)
    for q in range(n):
        r = sign * rho[q]
        thin = sqrt((1.0 - r) * (1.0 + r))
        per = 1.0 / (thin if thin > MIN_WEDGE else MIN_WEDGE)
        d = k[q] - h[q]
        corner[q] = h[q]
        corner[n + q] = k[q]
        whole[q] = tail_h[q]
        whole[n + q] = tail_k[q]
        a = (d + (1.0 - r) * h[q]) * per
        b = ((1.0 - r) * k[q] - d) * per
        x[q] = min(max(a, -MAX_DISTANCE), MAX_DISTANCE)
        x[n + q] = min(max(b, -MAX_DISTANCE), MAX_DISTANCE)


@njit(**INNER)
def _slices(h, x, whole, tail, gauss, laguerre, room, places, out):
    """Computes the parts of a probability that two Gaussians exceed two corners, by one formula near and one far away.

    See equation (5) of the module docstring.
    """
    count, near = len(h), 0
    for q in range(count):
        if abs(x[q]) <= MIN_DISTANCE_OF_TAIL_FORM:
            places[near] = q
            near += 1
    far = near
    for q in range(count):
        if abs(x[q]) > MIN_DISTANCE_OF_TAIL_FORM:
            places[far] = q
            far += 1
    for place in range(count):
        q = places[place]
        room[0, place], room[1, place] = h[q], abs(x[q])
        room[2, place], room[3, place] = whole[q], tail[q]
    if near:
        _owen(room[0, :near], room[1, :near], room[2, :near], room[3, :near], gauss, room[4, :near], room[5, :near],
              room[6, :near], room[7, :near])  # fmt: skip
    if near < count:
        _laguerre(room[0, near:count], room[1, near:count], laguerre, room[4, near:count], room[5, near:count],
                  room[7, near:count])  # fmt: skip
    for place in range(count):
        q = places[place]
        out[q] = room[7, place] if x[q] >= 0.0 else whole[q] - room[7, place]


@njit(**INNER)
def _owen(h, x, tail_h, tail_x, gauss, top, fall, ratio, out):
    """Computes Owen's T function, which gives probabilities of two correlated Gaussian variables.

    See equation (6) of the module docstring.
    """
    use_wide_vectors()
    n = len(h)
    for q in range(n):
        big, small = max(h[q], x[q]), min(h[q], x[q])
        top[q] = -0.5 * big * big
        fall[q] = -0.5 * small * small
        ratio[q] = small / big
        out[q] = 0.0
    for node in range(gauss.shape[1]):
        square, weight = gauss[0, node] * gauss[0, node], gauss[1, node]
        for q in range(n):
            out[q] += weight * exponential(top[q] + fall[q] * square) / (1.0 + ratio[q] * ratio[q] * square)
    for q in range(n):
        t = PER_TURN * ratio[q] * out[q]
        out[q] = 0.5 * tail_h[q] - t if h[q] >= x[q] else t - tail_x[q] * (0.5 - tail_h[q])


@njit(**INNER)
def _laguerre(h, x, laguerre, square, whole, out):
    """Computes a part of a Gaussian probability for distant values by Gauss-Laguerre quadrature.

    See equation (7) of the module docstring.
    """
    use_wide_vectors()
    n = len(h)
    for q in range(n):
        square[q] = x[q] * x[q]
        whole[q] = h[q] * h[q] + square[q]
        out[q] = 0.0
    for node in range(laguerre.shape[1]):
        twice, weight = 2.0 * laguerre[0, node], laguerre[1, node]
        for q in range(n):
            out[q] += weight / ((whole[q] + twice) * sqrt(square[q] + twice))
    for q in range(n):
        out[q] *= PER_TURN * h[q] * exponential(-0.5 * whole[q])


@njit(**INNER)
def _probability(slices, weight, active, value):
    """Adds the weighted probability that both Gaussian variables exceed the kinks of their functions.

    See equation (2) of the module docstring.
    """
    use_wide_vectors()
    n = len(value)
    for q in range(n):
        value[q] += active[q] * weight * (slices[q] + slices[n + q])


@njit(**INNER)
def _moments(rho, sign, wedge, x, tail, slices, w, value):
    """Adds weighted expectations of products of two Gaussian variables, restricted to values beyond two kinks.

    See equations (2) to (4) of the module docstring.
    """
    use_wide_vectors()
    n = len(rho)
    for q in range(n):
        r, h, k, a, b = sign * rho[q], wedge[2, q], wedge[3, q], x[q], x[n + q]
        s, t = wedge[0, q], wedge[1, q]
        whole = slices[q] + slices[n + q]
        first = wedge[6, q] * (tail[q] if a >= 0.0 else 1.0 - tail[q])
        second = wedge[7, q] * (tail[n + q] if b >= 0.0 else 1.0 - tail[n + q])
        thin = sqrt((1.0 - r) * (1.0 + r)) * PER_TURN * exponential(-0.5 * (h * h + a * a))
        total = w[0] * whole
        total += w[1] * s * (first + r * second - h * whole) + w[2] * t * (second + r * first - k * whole)
        total += w[3] * s * t * ((r + h * k) * whole + thin - h * second - k * first)
        value[q] += wedge[8, q] * total


@cache
def rules() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the Gauss-Legendre and Gauss-Laguerre quadrature rules, and the polynomial of the normal tail
    probability.

    >>> round(float(rules()[0][1].sum()), 12), round(float(rules()[1][1].sum()), 12)
    (1.0, 1.0)
    """
    gauss = np.stack(np.polynomial.legendre.leggauss(GAUSS_NODES))[:, GAUSS_NODES // 2 :]
    laguerre = np.stack(np.polynomial.laguerre.laggauss(LAGUERRE_NODES))
    return np.ascontiguousarray(gauss), np.ascontiguousarray(laguerre), tail_polynomial()
