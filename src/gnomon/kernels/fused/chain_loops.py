"""Computes a kernel matrix in small pieces: all layers run on a piece of a few hundred entries while it is in the
cache.

One register holds, for RUN entries of one row, their half squared distances e and their tangents T. Statistics of the
points are rows of one table: a number for the row's point, a vector for the run's points.
"""

import numpy as np
from numba import njit

from gnomon.core.machine.loops import INNER, array_without_reference_counting, compile_on_first_use, use_wide_vectors
from gnomon.kernels.fused import pointwise as do
from gnomon.kernels.fused.opcodes import ADD, AFFINE, DROPOUT, ERF, KINK, NORMALIZE, RECTIFIED, SCALE, SERIES, TRAINED
from gnomon.kernels.fused.rectified import relu_entries

ENTRIES_PER_RUN = 512
"""Number of entries of one row in a register."""
MIRROR_BLOCK_SIDE = 16
"""Side of the squares in which the mirrored triangle is written."""


@compile_on_first_use
def chain(code, numbers, k, gram, x, y, fx, fy, near, place, mirror, regs, nngp, ntk):
    """Computes one tile of the kernel matrices by running all layer instructions; returns the number of non-finite
    results.

    ``place`` is (first row, rows, first column, columns, last stat row); with ``mirror`` only the lower triangle is
    computed and its reflection written.
    """
    code, numbers, gram, x, y, regs = (
        array_without_reference_counting(code),
        array_without_reference_counting(numbers),
        array_without_reference_counting(gram),
        array_without_reference_counting(x),
        array_without_reference_counting(y),
        array_without_reference_counting(regs),
    )
    fx, fy, nngp, ntk = (
        array_without_reference_counting(fx),
        array_without_reference_counting(fy),
        array_without_reference_counting(nngp),
        array_without_reference_counting(ntk),
    )
    row, rows, col, cols = place[0], place[1], place[2], place[3]
    bad, end = 0, code[len(code) - 1, 1]
    for i in range(row, row + rows):
        width = min(cols, i - col + 1) if mirror else cols
        for start in range(0, width, ENTRIES_PER_RUN):
            n = min(ENTRIES_PER_RUN, width - start)
            j = col + start
            e, t, ha, hb = regs[0, 0, :n], regs[0, 1, :n], x[0, i], y[0, j : j + n]
            if _load(gram[i - row, start : start + n], ha, hb, near, e, t):
                _recompute(e, ha, hb, fx[i], fy[j : j + n], near, k)
            for c in range(len(code)):
                _instruction(code[c], numbers, k, x, y, i, j, n, mirror, regs)
            if nngp.shape[0] > 0:
                bad += do.covariance(regs[end, 0, :n], x[place[4], i], y[place[4], j : j + n], nngp[i, j : j + n])
            if ntk.shape[0] > 0:
                bad += do.copy(regs[end, 1, :n], ntk[i, j : j + n])
    if mirror:
        if nngp.shape[0] > 0:
            _mirror(nngp, row, rows, col, cols)
        if ntk.shape[0] > 0:
            _mirror(ntk, row, rows, col, cols)
    return bad


@njit(**INNER)
def _instruction(ins, numbers, k, x, y, i, j, n, mirror, regs):
    """Runs one layer instruction on a piece of a kernel matrix; the instruction names its operation, registers and
    numbers.
    """
    op, st, p = ins[0], ins[3], numbers[ins[4] :]
    e, t = regs[ins[1], 0, :n], regs[ins[1], 1, :n]
    if op == ADD:
        do.add(e, t, regs[ins[2], 0, :n], regs[ins[2], 1, :n], p[0])
        return
    if ins[1] != ins[2]:
        do.copy(regs[ins[2], 0, :n], e)
        do.copy(regs[ins[2], 1, :n], t)
    if op == SCALE:
        do.scale(e, t, p[0])
        return
    x0, y0 = x[st, i], y[st, j : j + n]
    if op == AFFINE:
        do.affine(e, t, x0, y0, p[0], p[1])
    elif op == DROPOUT:
        do.dropout(e, t, x0, y0, p[0], i - j if mirror else -1, k)
    else:
        x1, y1 = x[st + 1, i], y[st + 1, j : j + n]
        if op == KINK:
            do.piecewise_linear_step(e, t, x0, x1, y0, y1, p[0], p[1], k)
        elif op == NORMALIZE:
            do.normalize(e, t, x0, x1, y0, y1)
        else:
            x2, y2 = x[st + 2, i], y[st + 2, j : j + n]
            if op == RECTIFIED:
                relu_entries(e, t, x0, x1, x2, y0, y1, y2, p, k)
            elif op == TRAINED:
                do.trained_slope_step(e, t, x0, x1, x2, y0, y1, y2, p, k)
            elif op == SERIES:
                _series(e, t, x[st:, i], y[st:, j : j + n], p, regs)
            elif op == ERF:
                do.erf(e, t, x0, x1, x2, y0, y1, y2, p, k)
            else:
                do.sign(e, t, x0, x1, x2, y0, y1, y2, p, k)


@njit(**INNER)
def _series(e, t, x, y, numbers, regs):
    """Evaluates the power series that gives a kernel after an activation; the last two registers are working memory."""
    n, last = len(e), len(regs) - 1
    rho, value, slope = regs[last, 0, :n], regs[last, 1, :n], regs[last - 1, 0, :n]
    do.correlation(e, x[0], x[1], y[0], y[1], rho, value, slope)
    for power in range(int(numbers[0]) - 1, -1, -1):
        do.horner(rho, value, slope, x[3 + power], y[3 + power])
    do.add_bias_and_gain(e, t, value, slope, x[0], x[2], y[0], y[2], numbers[1])


@njit(**INNER)
def _load(gram, a, b, near, e, t):
    """Loads half the squared distances between data points into a register; returns the number of nearly
    equal pairs.
    """
    use_wide_vectors()
    zero, count = a - a, 0
    for q in range(len(e)):
        both = a + b[q]
        distance = both - gram[q]
        e[q] = distance
        t[q] = zero
        count += 1 if distance < near * both else 0
    return count


@njit(**INNER)
def _recompute(e, a, b, fx, fy, near, k):
    """Recomputes the distances of nearly equal points from differences of their features, which avoids cancellation."""
    for q in range(len(e)):
        if e[q] < near * (a + b[q]):
            total = k[0]
            for d in range(len(fx)):
                total += (fx[d] - fy[q, d]) ** 2
            e[q] = total * k[2]


@njit(**INNER)
def _mirror(out, row, rows, col, cols):
    """Copies a tile below the diagonal of a symmetric kernel matrix to above it, block by block to stay in
    the cache.
    """
    for top in range(row, row + rows, MIRROR_BLOCK_SIDE):
        for left in range(col, min(col + cols, top + MIRROR_BLOCK_SIDE), MIRROR_BLOCK_SIDE):
            for j in range(left, min(left + MIRROR_BLOCK_SIDE, col + cols)):
                for i in range(max(top, j + 1), min(top + MIRROR_BLOCK_SIDE, row + rows)):
                    out[j, i] = out[i, j]


def registers(count: int, dtype: type) -> np.ndarray:
    """Allocates the work arrays that one thread needs to run layer instructions on a piece of a kernel matrix."""
    return np.zeros((count + 2, 2, ENTRIES_PER_RUN), dtype)
