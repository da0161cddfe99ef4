"""A tape of instructions over a short run of entries, all layers in the first cache.

One register holds, for RUN entries of one row, their half squared distances e and their tangents T. Statistics of the
points are rows of one table: a scalar for the row's point, a vector for the run's points. In the notation of formulas.py:

    AFFINE     T' = (ua + ub) - A e + w2 T,   e' = w2 e               ua = (A a + B) / 2                        (1)
    KINK       e' = p e + q e_relu,           T' = (T + B) (p + q k0) + G c' + S c_relu                         (2)
    ERF, SIGN  e' = o e_g,                    T' = o s (T + B) E[g' g'] + G c'                                  (3)
    NORMALIZE  e' = la lb e + (la - lb) (ga - gb),  T' = la lb T      g = a l / 2                               (4)
    DROPOUT    e' = e + (1/keep - 1) (a + b) / 2, and on the diagonal T' = T / keep                             (5)
    SCALE, ADD linear combinations of registers                                                                 (6)

Reference: rules/, of which these are the same equations.
Cost: a few cycles per entry and instruction.
"""

import numpy as np

from gnomon.kernels.fused.formulas import error_function, kink, turned
from gnomon.kernels.fused.machine import entry, inner, wide

RUN = 512
LOAD, AFFINE, KINK, TRAINED, ERF, SIGN, NORMALIZE, DROPOUT, SCALE, ADD = range(10)
BLOCK = 16  # side of the squares in which the mirror image is written


@entry
def chain(code, numbers, k, gram, x, y, fx, fy, near, place, mirror, regs, nngp, ntk):  # type: ignore[no-untyped-def]
    """Run the tape over a tile; returns how many results are not finite.

    ``place`` is (first row, rows, first column, columns, last stat row); with ``mirror`` only the lower triangle is
    computed and its reflection written.
    """
    row, rows, col, cols = place[0], place[1], place[2], place[3]
    bad, end = 0, code[len(code) - 1, 1]
    for i in range(row, row + rows):
        width = min(cols, i - col + 1) if mirror else cols
        for start in range(0, width, RUN):
            n = min(RUN, width - start)
            j = col + start
            e, t, ha, hb = regs[0, 0, :n], regs[0, 1, :n], x[0, i], y[0, j : j + n]
            _load(gram[i - row, start : start + n], ha, hb, e, t)
            if _count_near(e, ha, hb, near):
                _recompute(e, ha, hb, fx[i], fy[j : j + n], near, k)
            for c in range(len(code)):
                _instruction(code[c], numbers, k, x, y, i, j, n, mirror, regs)
            if nngp.shape[0] > 0:
                bad += _covariance(regs[end, 0, :n], x[place[4], i], y[place[4], j : j + n], nngp[i, j : j + n])
            if ntk.shape[0] > 0:
                bad += _copy(regs[end, 1, :n], ntk[i, j : j + n])
    if mirror:
        if nngp.shape[0] > 0:
            _mirror(nngp, row, rows, col, cols)
        if ntk.shape[0] > 0:
            _mirror(ntk, row, rows, col, cols)
    return bad


@inner
def _instruction(ins, numbers, k, x, y, i, j, n, mirror, regs):  # type: ignore[no-untyped-def]
    """Dispatch: (operation, target, source, first statistic, first number)."""
    op, st, p = ins[0], ins[3], numbers[ins[4] :]
    e, t = regs[ins[1], 0, :n], regs[ins[1], 1, :n]
    if op == ADD:
        _add(e, t, regs[ins[2], 0, :n], regs[ins[2], 1, :n], p[0])
        return
    if ins[1] != ins[2]:
        _copy(regs[ins[2], 0, :n], e)
        _copy(regs[ins[2], 1, :n], t)
    if op == AFFINE:
        _affine(e, t, x[st, i], y[st, j : j + n], p[0], p[1])
    elif op == KINK:
        _kink(e, t, x[st, i], x[st + 1, i], y[st, j : j + n], y[st + 1, j : j + n], p[0], p[1], k)
    elif op == TRAINED:
        _trained(e, t, x[st : st + 3, i], y[st : st + 3, j : j + n], p, k)
    elif op == ERF or op == SIGN:
        _bounded(op == ERF, e, t, x[st : st + 3, i], y[st : st + 3, j : j + n], p, k)
    elif op == NORMALIZE:
        _normalize(e, t, x[st, i], x[st + 1, i], y[st, j : j + n], y[st + 1, j : j + n])
    elif op == DROPOUT:
        _dropout(e, t, x[st, i], y[st, j : j + n], p[0], i - j if mirror else -1, k)
    else:
        _scale(e, t, p[0])


@inner
def _load(gram, a, b, e, t):  # type: ignore[no-untyped-def]
    """Half the second moments of the data are the first statistic."""
    wide()
    zero = a - a
    for q in range(len(e)):
        e[q] = (a + b[q]) - gram[q]
        t[q] = zero


@inner
def _count_near(e, a, b, near):  # type: ignore[no-untyped-def]
    wide()
    count = 0
    for q in range(len(e)):
        count += 1 if e[q] < near * (a + b[q]) else 0
    return count


@inner
def _recompute(e, a, b, fx, fy, near, k):  # type: ignore[no-untyped-def]
    """Nearly equal points: their distance from the differences of their features, not from the Gram matrix."""
    for q in range(len(e)):
        if e[q] < near * (a + b[q]):
            total = k[0]
            for d in range(len(fx)):
                total += (fx[d] - fy[q, d]) ** 2
            e[q] = total * k[2]


@inner
def _affine(e, t, ua, ub, w2, a):  # type: ignore[no-untyped-def]
    wide()
    for q in range(len(e)):
        distance = e[q]
        t[q] = (ua + ub[q]) - a * distance + w2 * t[q]  # (1)
        e[q] = w2 * distance


@inner
def _kink(e, t, sa, ra, sb, rb, p, q2, k):  # type: ignore[no-untyped-def]
    wide()
    for q in range(len(e)):
        before = e[q]
        distance, slope = kink(before, sa, ra, sb[q], rb[q], k)
        t[q] = t[q] * (p + q2 * slope)  # (2)
        e[q] = p * before + q2 * distance


@inner
def _trained(e, t, x, y, numbers, k):  # type: ignore[no-untyped-def]
    """Statistics s, r, a' / 2; numbers p, q, bias, gain, slope."""
    wide()
    sa, ra, ha = x[0], x[1], x[2]
    p, q2, bias, gain, prelu = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    for q in range(len(e)):
        before, sb = e[q], y[0, q]
        distance, slope = kink(before, sa, ra, sb, y[1, q], k)
        after = p * before + q2 * distance
        rectified = k[1] * (sa * sa + sb * sb) - distance  # E[relu relu], the tangent of a PReLU's slope
        tangent = (t[q] + bias) * (p + q2 * slope)
        t[q] = tangent + gain * ((ha + y[2, q]) - after) + prelu * rectified  # (2)
        e[q] = after


@inner
def _bounded(erf, e, t, x, y, numbers, k):  # type: ignore[no-untyped-def]
    """Statistics S, 1 / S, g's own second moment / 2; numbers o^2, s^2, o^2 s^2 4 / pi, bias."""
    wide()
    sa, ra, ha = x[0], x[1], x[2]
    outer, inner, factor, bias = numbers[0], numbers[1], numbers[2], numbers[3]
    if erf:
        for q in range(len(e)):
            distance, slope = error_function(inner * e[q], ha, y[2, q], sa, ra, y[0, q], y[1, q], k)
            t[q] = factor * (t[q] + bias) * slope  # (3)
            e[q] = outer * distance
    else:
        for q in range(len(e)):
            d, rr, both = sa - y[0, q], ra * y[1, q], ha + y[2, q]
            turn, h = turned(inner * e[q], d * d, rr, k)
            t[q] = k[0]
            e[q] = outer * (both - k[3] + (turn + turn + turn + turn) if rr > k[0] else both)


@inner
def _normalize(e, t, la, ga, lb, gb):  # type: ignore[no-untyped-def]
    wide()
    for q in range(len(e)):
        scale = la * lb[q]
        t[q] = scale * t[q]
        e[q] = scale * e[q] + (la - lb[q]) * (ga - gb[q])  # (4)


@inner
def _dropout(e, t, ha, hb, excess, own, k):  # type: ignore[no-untyped-def]
    wide()
    for q in range(len(e)):
        same = q == own
        t[q] = t[q] * (k[3] + excess if same else k[3])
        e[q] = e[q] + (k[0] if same else excess * (ha + hb[q]))  # (5)


@inner
def _scale(e, t, weight):  # type: ignore[no-untyped-def]
    wide()
    for q in range(len(e)):
        e[q] = weight * e[q]  # (6)
        t[q] = weight * t[q]


@inner
def _add(e, t, e2, t2, weight):  # type: ignore[no-untyped-def]
    wide()
    for q in range(len(e)):
        e[q] += weight * e2[q]  # (6)
        t[q] += weight * t2[q]


@inner
def _covariance(e, ha, hb, out):  # type: ignore[no-untyped-def]
    """(a + b) / 2 - e; returns how many are not finite."""
    wide()
    bad = 0
    for q in range(len(e)):
        c = (ha + hb[q]) - e[q]
        out[q] = c
        bad += 0 if c - c == 0 else 1
    return bad


@inner
def _copy(t, out):  # type: ignore[no-untyped-def]
    wide()
    bad = 0
    for q in range(len(t)):
        out[q] = t[q]
        bad += 0 if t[q] - t[q] == 0 else 1
    return bad


@inner
def _mirror(out, row, rows, col, cols):  # type: ignore[no-untyped-def]
    """Reflect a tile of the lower triangle, square after square."""
    for top in range(row, row + rows, BLOCK):
        for left in range(col, min(col + cols, top + BLOCK), BLOCK):
            for j in range(left, min(left + BLOCK, col + cols)):
                for i in range(max(top, j + 1), min(top + BLOCK, row + rows)):
                    out[j, i] = out[i, j]


def registers(count: int, dtype: type) -> np.ndarray:
    """Room for the registers of one thread."""
    return np.zeros((count, 2, RUN), dtype)
