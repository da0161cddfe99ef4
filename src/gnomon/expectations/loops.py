"""Compiled loops for Gaussian integrals of piecewise polynomials and for power series in the correlation.

A function is a row of edges and, between two of them, sixteen coefficients of a polynomial on [-1, 1]; so is the normal
density, on panels of one width. For f, h and numbers s, t, m

    integral of N(x) f(s x) h(t x + m)                                                                            (1)

is a sum over the intervals between all edges, by the rule of Gauss.
"""

import numpy as np
from numba import njit

from gnomon.core.machine.loops import INNER, array_without_reference_counting, compile_on_first_use, use_wide_vectors

NODES_PER_INTERVAL = 8
"""Number of nodes of the Gauss rule between two edges."""
# "reassoc" allows the compiler to reorder short sums, and so to vectorize them.
SUMMING = {**INNER, "fastmath": {*INNER["fastmath"], "reassoc"}}
TERMS_PER_BLOCK = 16
"""Number of coefficients of a polynomial, and of terms in a block of a series."""


@compile_on_first_use
def smooth_expectations(place, deviation, edges, coefficients, one, density, start, width, rule, out):
    """Computes E[g(m + t z)] over a standard normal z for many positions m and deviations t of a piecewise polynomial
    g.
    """
    edges, coefficients, density, rule = (
        array_without_reference_counting(edges),
        array_without_reference_counting(coefficients),
        array_without_reference_counting(density),
        array_without_reference_counting(rule),
    )
    ends, degree = np.array([-1e300, 1e300]), np.zeros(1, np.int64)
    last = len(edges) - 1
    for q in range(len(place)):
        out[q] = _integral(
            ends, array_without_reference_counting(one), degree, 1.0, edges, coefficients, 0, last, deviation[q],
            place[q], density, start, width, 0, rule,
        )  # fmt: skip


@compile_on_first_use
def ridges(
    root_a, root_b, rho, level, edges, coefficients, at, h_edges, h, density, start, width, panel, rule, room, out
):
    """Computes E[f(u) g(v)] for many pairs of Gaussian u, v, as the integral over u of f(u) E[g(v) | u].

    See equation (1) of the module docstring.
    ``level`` is the row of ``at`` (first edge, first piece, pieces) that holds the variance of v given u; the last is g
    itself. ``panel`` is the first panel: 0, or the one that begins at x = 0 if f and g are both even or both odd.
    """
    edges, coefficients, density, rule = (
        array_without_reference_counting(edges),
        array_without_reference_counting(coefficients),
        array_without_reference_counting(density),
        array_without_reference_counting(rule),
    )
    h_edges, h, room = (
        array_without_reference_counting(h_edges),
        array_without_reference_counting(h),
        array_without_reference_counting(room),
    )
    powers, degree = np.empty(h.shape[1]), _degrees(coefficients)
    for q in range(len(rho)):
        first, piece, count = at[level[q], 0], at[level[q], 1], at[level[q], 2]
        scale = root_b[q] * rho[q]
        begin, end = scale * (start + width * panel), -scale * start
        low = _piece(h_edges, first, first + count, min(begin, end)) - first
        high = _piece(h_edges, first, first + count, max(begin, end)) - first
        if level[q] < len(at) - 1:
            variance = (root_b[q] * root_b[q]) * ((1.0 - rho[q]) * (1.0 + rho[q]))
            octave = 2.0 ** np.floor(np.log2(variance))
            _chebyshev(powers, 2.0 * (variance / octave) - 3.0)
            _contract(h, piece + low, high - low + 1, powers, room)
        else:
            for p in range(high - low + 1):
                for k in range(TERMS_PER_BLOCK):
                    room[p, k] = h[piece + low + p, 0, k]
        out[q] = _integral(
            edges, coefficients, degree, root_a[q], h_edges, room, first + low, first + high + 1, scale, 0.0,
            density, start, width, panel, rule,
        ) * (2.0 if panel else 1.0)  # fmt: skip


@compile_on_first_use
def sums(i, j, covariance, inverse_a, inverse_b, alpha, beta, tail_a, tail_b, tolerance, aligned, rho, out):
    """Sums the power series in the correlation for many pairs; NaN if the error is not certified; returns the number of
    NaN.

    Standard deviations come as their inverses (0 for 0); correlations beyond ``aligned`` are taken for +-1. Tails are
    square roots, relative to the whole, after each block of terms.
    """
    alpha, beta, tail_a, tail_b = (
        array_without_reference_counting(alpha),
        array_without_reference_counting(beta),
        array_without_reference_counting(tail_a),
        array_without_reference_counting(tail_b),
    )
    left, most = 0, tail_a.shape[1] - 1
    lanes = array_without_reference_counting(np.empty(TERMS_PER_BLOCK))
    for q in range(len(covariance)):
        a, b = np.uintp(i[q]), np.uintp(j[q])
        r = covariance[q] * inverse_a[a] * inverse_b[b]
        if abs(r) >= aligned:
            r = 1.0 if r > 0.0 else -1.0
        rho[q] = r
        step = r * r
        step *= step
        step *= step
        step *= step
        blocks, small = 1, step
        while blocks < most and small * tail_a[a, np.uintp(blocks)] * tail_b[b, np.uintp(blocks)] > tolerance:
            blocks, small = blocks + 1, small * step
        if abs(r) == 1.0 or small * tail_a[a, blocks] * tail_b[b, blocks] > tolerance:
            out[q] = np.nan
            left += 1
        else:
            out[q] = _series(alpha[a], beta[b], blocks, r, step, lanes)
    return left


@compile_on_first_use
def hermite_sums(z, weighted, alpha):
    """Adds the contributions of quadrature nodes z to the Hermite coefficients ``alpha`` of a function.

    Nodes come in multiples of TERMS.
    """
    nodes, terms = z.shape[1], alpha.shape[1]
    before, here, total = np.empty(nodes), np.empty(nodes), np.empty(TERMS_PER_BLOCK)
    up, down = np.empty(terms), np.empty(terms)
    for k in range(terms):
        up[k] = 1.0 / np.sqrt(k + 1.0)
        down[k] = np.sqrt(k / (k + 1.0))
    for n in range(z.shape[0]):
        for q in range(nodes):
            before[q] = 0.0
            here[q] = weighted[n, q] * np.exp(-0.25 * z[n, q] * z[n, q]) * 0.6316187777460647  # (2 pi)^(-1/4)
        for k in range(terms):
            for lane in range(TERMS_PER_BLOCK):
                total[lane] = 0.0
            for start in range(0, nodes, TERMS_PER_BLOCK):
                for lane in range(TERMS_PER_BLOCK):
                    total[lane] += here[start + lane]
            alpha[n, k] += total.sum()
            for q in range(nodes):
                after = z[n, q] * here[q] * up[k] - before[q] * down[k]
                before[q] = here[q]
                here[q] = after


@njit(**SUMMING)
def _series(alpha, beta, blocks, r, step, lanes):
    """Returns the sum of alpha_k beta_k r^k, a power series in the correlation r, by Horner's scheme in
    vector lanes.
    """
    use_wide_vectors()
    start = np.uintp(TERMS_PER_BLOCK * (blocks - 1))
    for k in range(TERMS_PER_BLOCK):
        lanes[k] = alpha[start + np.uintp(k)] * beta[start + np.uintp(k)]
    for _ in range(blocks - 1):
        start -= np.uintp(TERMS_PER_BLOCK)
        for k in range(TERMS_PER_BLOCK):
            lanes[k] = lanes[k] * step + alpha[start + np.uintp(k)] * beta[start + np.uintp(k)]
    square = r * r
    fourth = square * square
    first = _join(lanes[0], lanes[1], lanes[2], lanes[3], r, square)
    second = _join(lanes[4], lanes[5], lanes[6], lanes[7], r, square)
    third = _join(lanes[8], lanes[9], lanes[10], lanes[11], r, square)
    last = _join(lanes[12], lanes[13], lanes[14], lanes[15], r, square)
    return _join(first, second, third, last, fourth, fourth * fourth)


@njit(**SUMMING)
def _join(a, b, c, d, r, square):
    return (a + b * r) + (c + d * r) * square


@njit(**INNER)
def _integral(f_edges, f, degree, s, h_edges, h, first, last, t, m, density, start, width, panel, rule):
    """Returns the integral of a product of two piecewise polynomials and the normal density, from a given interval on.

    See equation (1) of the module docstring.
    """
    end = start + width * len(density)
    forward, per_s, per_t = t > 0.0, 1.0 / s, 1.0 / t
    x, total = start + width * panel, 0.0
    i = _piece(f_edges, 0, len(f_edges) - 1, s * x)
    j = _piece(h_edges, first, last, t * x + m) if t != 0.0 else _piece(h_edges, first, last, m)
    while panel < len(density):
        stop = start + width * (panel + 1)
        cut_f = f_edges[i + 1] * per_s if i + 2 < len(f_edges) else 2.0 * end
        cut_h = 2.0 * end
        if forward and j + 1 < last:
            cut_h = (h_edges[j + 1] - m) * per_t
        elif t < 0.0 and j > first:
            cut_h = (h_edges[j] - m) * per_t
        right = max(x, min(stop, min(cut_f, cut_h)))
        if right > x and degree[i] >= 0:
            total += _panel(
                f, i, degree[i], f_edges[i], f_edges[i + 1], s, h, j - first, h_edges[j], h_edges[j + 1], t, m,
                density, panel, start + width * panel, width, x, right, rule,
            )  # fmt: skip
        x = right
        if cut_f <= right:
            i += 1
        elif cut_h <= right:
            j += 1 if forward else -1
        else:
            panel += 1
    return total


@njit(**SUMMING)
def _panel(f, i, degree, f0, f1, s, h, j, h0, h1, t, m, density, d, d0, width, left, right, rule):
    """Integrates a product of piecewise polynomials over [left, right], an interval within one piece of each, by
    quadrature.
    """
    half, middle = 0.5 * (right - left), 0.5 * (right + left)
    f_unit, h_unit, d_unit = 2.0 / (f1 - f0), 2.0 / (h1 - h0), 2.0 / width
    f_at, f_by = (s * middle - f0) * f_unit - 1.0, s * half * f_unit
    h_at, h_by = (t * middle + m - h0) * h_unit - 1.0, t * half * h_unit
    d_at, d_by = (middle - d0) * d_unit - 1.0, half * d_unit
    total = 0.0
    if degree <= 1:
        for q in range(NODES_PER_INTERVAL):
            node = rule[0, q]
            one = f[i, 1] * (f_at + f_by * node) + f[i, 0]
            two = _horner(h, j, h_at + h_by * node)
            total += rule[1, q] * one * two * _horner(density, d, d_at + d_by * node)
        return total * half
    for q in range(NODES_PER_INTERVAL):
        node = rule[0, q]
        one = _horner(f, i, f_at + f_by * node)
        two = _horner(h, j, h_at + h_by * node)
        total += rule[1, q] * one * two * _horner(density, d, d_at + d_by * node)
    return total * half


@njit(**INNER)
def _degrees(c):
    """Returns the degree of each polynomial; -1 for the zero polynomial."""
    found = np.empty(len(c), np.int64)
    for p in range(len(c)):
        k = TERMS_PER_BLOCK - 1
        while k >= 0 and c[p, k] == 0.0:
            k -= 1
        found[p] = k
    return found


@njit(**INNER)
def _horner(c, p, x):
    """Returns the value of the p-th polynomial at x, by Horner's scheme for even and odd powers separately."""
    y = x * x
    odd = ((((c[p, 15] * y + c[p, 13]) * y + c[p, 11]) * y + c[p, 9]) * y + c[p, 7]) * y
    even = ((((c[p, 14] * y + c[p, 12]) * y + c[p, 10]) * y + c[p, 8]) * y + c[p, 6]) * y
    odd, even = ((odd + c[p, 5]) * y + c[p, 3]) * y, ((even + c[p, 4]) * y + c[p, 2]) * y
    return (odd + c[p, 1]) * x + (even + c[p, 0])


@njit(**INNER)
def _piece(edges, first, last, x):
    """Returns the index of the interval among edges[first .. last] that contains x, or of the nearest interval."""
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@njit(**INNER)
def _chebyshev(powers, x):
    powers[0] = 1.0
    powers[1] = x
    for k in range(2, len(powers)):
        powers[k] = 2.0 * x * powers[k - 1] - powers[k - 2]


@njit(**INNER)
def _contract(h, first, count, powers, room):
    """Evaluates polynomials in position and variance at one variance; returns polynomials in the position."""
    for p in range(count):
        for k in range(TERMS_PER_BLOCK):
            room[p, k] = 0.0
        for o in range(len(powers)):
            for k in range(TERMS_PER_BLOCK):
                room[p, k] += powers[o] * h[first + p, o, k]
