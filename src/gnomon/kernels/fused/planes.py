"""Computes covariances between pixel p of one image and pixel p + d of another, one displacement d at a time.

A convolution moves both positions by the same amount, so it acts on each plane separately, as a box filter; so does
everything else
between two poolings. L pairs of images lie in the lanes of the vector unit. In the variables of formulas.py:

    DATA    e[p, q] = sum_c (x_c[p] - y_c[q])^2 / 2C                                                            (1)
    CONV    e' = w2 mean_taps e,  T' = (ux[p] + uy[q]) + w2 mean_taps T - A mean_taps e                         (2)
            if a tap beyond one image's border meets a zero: e = a[p] / 2 or b[q] / 2 there, T = 0
    POOL    e'[p', q'] = sum_{s, t} M[p', s] M[q', t] e[s, t] - (zx[p'] + zy[q']),   z = (sum_s M a - a') / 2   (3)
            M averages blocks of k positions: plane d feeds the planes d' with |d - k d'| < k
    FLAT    e' = mean_p e[p, p]                                                                                 (4)

Reference: [novak2019bayesian], [arora2019exact]; rules/affine.py and rules/positions.py hold the same equations.
Cost: for S positions, S^2 evaluations of a dual per pair and nonlinearity; the filters cost about as much again.
"""

from numba import njit

from gnomon.core.machine.loops import INNER, array_without_reference_counting, compile_on_first_use, use_wide_vectors
from gnomon.kernels.fused import pointwise as do
from gnomon.kernels.fused.filters import box, extent, flat, index, pool
from gnomon.kernels.fused.opcodes import (
    ADD,
    AFFINE,
    CONV,
    DATA,
    DROPOUT,
    ERF,
    FETCH,
    FLAT,
    KINK,
    NORMALIZE,
    POOL,
    SCALE,
    SERIES,
    TRAINED,
)


@compile_on_first_use
def stage(code, numbers, k, planes, tag, alone, x, y, kept, kept_at, out, out_at, regs, room, runs):
    """Runs the layer instructions of one stage on covariances between two images, for every displacement between
    pixels.

    A row of ``code`` is: operation, target, source, first statistic, first number, grid before (2), grid after (2),
    kernel (2), stride (2), dilation (2), padding before (2), wraps, store. ``kept`` and ``out`` hold the planes at the
    entrance and at the exit, at the places that ``kept_at`` and ``out_at`` give for each displacement (-1: not wanted).
    ``alone`` says that both images are one: then only half of the planes come, each for its mirror image too.
    ``runs`` is room for a table.
    ``tag`` has one entry per lane: its length is known when this is compiled.
    """
    code, numbers, x, y, runs = (
        array_without_reference_counting(code),
        array_without_reference_counting(numbers),
        array_without_reference_counting(x),
        array_without_reference_counting(y),
        array_without_reference_counting(runs),
    )
    kept, kept_at, out, out_at, regs, room = (
        array_without_reference_counting(kept),
        array_without_reference_counting(kept_at),
        array_without_reference_counting(out),
        array_without_reference_counting(out_at),
        array_without_reference_counting(regs),
        array_without_reference_counting(room),
    )
    for number in range(len(planes)):
        dy, dx = planes[number, 0], planes[number, 1]
        for c in range(len(code)):
            ins = code[c]
            if extent(ins[5], dy, ins[17] == 1) > 0 and extent(ins[6], dx, ins[17] == 1) > 0:
                _step(ins, numbers, k, dy, dx, tag, alone, x, y, kept, kept_at, out, out_at, regs, room, runs)


@compile_on_first_use
def sweep(codes, numbers, k, planes, tag, x, groups, outs, outs_at, regs, room, runs, found):
    """Computes kernels of one image with many groups of images, in one call of compiled code with two stages."""
    alone = len(groups) == 0  # Always False. A literal False would make numba compile `stage` a second time.
    for g in range(len(groups)):
        y = groups[g]
        _zero(outs[0])
        stage(
            codes[0],
            numbers[0],
            k,
            planes[0],
            tag,
            alone,
            x,
            y,
            room,
            outs_at[1],
            outs[0],
            outs_at[0],
            regs,
            room,
            runs,
        )
        _zero(outs[1])
        stage(
            codes[1],
            numbers[1],
            k,
            planes[1],
            tag,
            alone,
            x,
            y,
            outs[0],
            outs_at[0],
            outs[1],
            outs_at[1],
            regs,
            room,
            runs,
        )
        do.copy(outs[1], found[g])


@njit(**INNER)
def _step(ins, numbers, k, dy, dx, tag, alone, x, y, kept, kept_at, out, out_at, regs, room, table):
    op, wraps, numbers = ins[0], ins[17] == 1, numbers[ins[4] :]
    if op == CONV:
        _convolve(ins, numbers, dy, dx, tag, x, y, out, out_at, regs, room, table)
        return
    if op == POOL:
        pool(regs[ins[2]], ins, dy, dx, tag, out, out_at, numbers[0])
        if alone and not wraps and (dy != 0 or dx != 0):
            pool(regs[ins[2]], ins, -dy, -dx, tag, out, out_at, numbers[0])
        return
    if op == FLAT:
        flat(regs[ins[2]], ins, dy, dx, tag, out, out_at, numbers[0])
        return
    size = extent(ins[5], dy, wraps) * extent(ins[6], dx, wraps) * len(tag)
    e, t = regs[ins[1], 0, :size], regs[ins[1], 1, :size]
    if op == ADD:
        do.add(e, t, regs[ins[2], 0, :size], regs[ins[2], 1, :size], numbers[0])
        return
    runs = _runs(ins[5], ins[6], dy, dx, wraps, len(tag), table)
    grid = ins[5] * ins[6] * len(tag)
    if op == DATA:
        _data(runs, x, y, ins[3], ins[7], grid, e, t)
    elif op == FETCH:
        at = kept_at[ins[18], index(ins[5], ins[6], dy, dx)]
        do.copy(kept[at : at + size], e)
        do.copy(kept[at + size : at + 2 * size], t)
        if ins[7] == 1:
            _correct(runs, x, y, ins[3], e)
    else:
        if ins[1] != ins[2]:
            do.copy(regs[ins[2], 0, :size], e)
            do.copy(regs[ins[2], 1, :size], t)
        _elementwise(op, runs, x, y, ins[3], grid, numbers, e, t, regs, k, -2 if alone and dy == 0 and dx == 0 else -1)


@njit(**INNER)
def _runs(high, width, dy, dx, wraps, lanes, table):
    """Finds runs of covariances that are contiguous in memory and in both images, and writes their places into
    ``table``.
    """
    h, w = extent(high, dy, wraps), extent(width, dx, wraps)
    top, left = (0, 0) if wraps else (max(0, -dy), max(0, -dx))
    cut = w - dx if wraps else w
    pieces = 2 if cut < w else 1
    runs = table[: h * pieces]
    for u in range(h):
        row, other = (top + u) * width + left, ((top + u + dy) % high) * width
        for piece in range(pieces):
            first, last = (0, cut) if piece == 0 else (cut, w)
            r = u * pieces + piece
            runs[r, 0] = (u * w + first) * lanes
            runs[r, 1] = (row + first) * lanes
            runs[r, 2] = (other + (left + dx + first) % width) * lanes
            runs[r, 3] = (last - first) * lanes
    return runs


@njit(**INNER)
def _convolve(ins, numbers, dy, dx, tag, x, y, out, out_at, regs, room, table):
    """Applies a convolution to covariances at one pixel displacement; with a stride, the result is for the
    next stage.
    """
    wraps = ins[17] == 1
    if dy % ins[11] or dx % ins[12]:
        return
    dy2, dx2 = dy // ins[11], dx // ins[12]
    h, w = extent(ins[7], dy2, wraps), extent(ins[8], dx2, wraps)
    if h <= 0 or w <= 0:
        return
    size = h * w * len(tag)
    e, t = regs[ins[1], 0, :size], regs[ins[1], 1, :size]
    if ins[18] >= 0:
        at = out_at[ins[18], index(ins[7], ins[8], dy2, dx2)]
        if at < 0:
            return
        e, t = out[at : at + size], out[at + size : at + 2 * size]
    before = ins[5] * ins[6] * len(tag)
    vx, vy = x[ins[3] : ins[3] + before], y[ins[3] : ins[3] + before]
    runs = _runs(ins[7], ins[8], dy2, dx2, wraps, len(tag), table)
    pieces, line = len(runs) // h, w * len(tag)
    for u in range(h):
        box(regs[ins[2]], ins, dy, dx, tag, vx, vy, room, e[u * line : (u + 1) * line], t[u * line : (u + 1) * line], u)
        for r in range(u * pieces, (u + 1) * pieces):
            at, p, q, n = runs[r, 0], ins[3] + before + runs[r, 1], ins[3] + before + runs[r, 2], runs[r, 3]
            do.affine(e[at : at + n], t[at : at + n], x[p : p + n], y[q : q + n], numbers[0], numbers[1])  # (2)


@njit(**INNER)
def _elementwise(op, runs, x, y, st, grid, numbers, e, t, regs, k, own):
    """Applies an elementwise layer instruction to contiguous runs of covariances between two images."""
    for r in range(len(runs)):
        at, p, q, n = runs[r, 0], st + runs[r, 1], st + runs[r, 2], runs[r, 3]
        en, tn, x0, y0 = e[at : at + n], t[at : at + n], x[p : p + n], y[q : q + n]
        if op == SCALE:
            do.scale(en, tn, numbers[0])
            continue
        if op == AFFINE:
            do.affine(en, tn, x0, y0, numbers[0], numbers[1])
            continue
        if op == DROPOUT:
            do.dropout(en, tn, x0, y0, numbers[0], own, k)
            continue
        x1, y1 = x[p + grid : p + grid + n], y[q + grid : q + grid + n]
        if op == KINK:
            do.piecewise_linear_step(en, tn, x0, x1, y0, y1, numbers[0], numbers[1], k)
            continue
        if op == NORMALIZE:
            do.normalize(en, tn, x0, x1, y0, y1)
            continue
        x2, y2 = x[p + 2 * grid : p + 2 * grid + n], y[q + 2 * grid : q + 2 * grid + n]
        if op == SERIES:
            _series(en, tn, x[p:], y[q:], grid, numbers, regs)
        elif op == TRAINED:
            do.trained_slope_step(en, tn, x0, x1, x2, y0, y1, y2, numbers, k)
        elif op == ERF:
            do.erf(en, tn, x0, x1, x2, y0, y1, y2, numbers, k)
        else:
            do.sign(en, tn, x0, x1, x2, y0, y1, y2, numbers, k)


@njit(**INNER)
def _series(e, t, x, y, grid, numbers, regs):
    """Evaluates the power series that gives covariances after an activation, at one displacement between pixels."""
    n, last = len(e), len(regs) - 1
    rho, value, slope = regs[last, 0, :n], regs[last, 1, :n], regs[last - 1, 0, :n]
    do.correlation(e, x[:n], x[grid : grid + n], y[:n], y[grid : grid + n], rho, value, slope)
    for power in range(int(numbers[0]) - 1, -1, -1):
        at = (3 + power) * grid
        do.horner(rho, value, slope, x[at : at + n], y[at : at + n])
    do.add_bias_and_gain(
        e, t, value, slope, x[:n], x[2 * grid : 2 * grid + n], y[:n], y[2 * grid : 2 * grid + n], numbers[1]
    )


@njit(**INNER)
def _data(runs, x, y, st, channels, grid, e, t):
    """Computes |a - b|^2 / 2 for all pairs of positions a, b of two images; the caller has divided the features by
    sqrt(2 channels).

    See equation (1) of the module docstring.
    """
    _zero(t)
    if channels != 3:
        _zero(e)
    for r in range(len(runs)):
        at, n, p, q = runs[r, 0], runs[r, 3], st + runs[r, 1], st + runs[r, 2]
        if channels == 3:
            x0, x1, x2 = x[p : p + n], x[p + grid : p + grid + n], x[p + 2 * grid : p + 2 * grid + n]
            y0, y1, y2 = y[q : q + n], y[q + grid : q + grid + n], y[q + 2 * grid : q + 2 * grid + n]
            _colors(e[at : at + n], x0, x1, x2, y0, y1, y2)
            continue
        for c in range(channels):
            o = c * grid
            _squares(e[at : at + n], x[p + o : p + o + n], y[q + o : q + o + n])


@njit(**INNER)
def _zero(values):
    for i in range(len(values)):
        values[i] = 0


@njit(**INNER)
def _colors(e, x0, x1, x2, y0, y1, y2):
    use_wide_vectors()
    for i in range(len(e)):
        r, g, b = x0[i] - y0[i], x1[i] - y1[i], x2[i] - y2[i]
        e[i] = r * r + g * g + b * b  # (1)


@njit(**INNER)
def _squares(e, a, b):
    use_wide_vectors()
    for i in range(len(e)):
        d = a[i] - b[i]
        e[i] += d * d  # (1)


@njit(**INNER)
def _correct(runs, x, y, st, e):
    """Subtracts from half squared distances the part due to different variances, and sets negative rounding errors to
    zero.
    """
    for r in range(len(runs)):
        at, p, q, n = runs[r, 0], st + runs[r, 1], st + runs[r, 2], runs[r, 3]
        _minus(e[at : at + n], x[p : p + n], y[q : q + n])


@njit(**INNER)
def _minus(e, za, zb):
    use_wide_vectors()
    for i in range(len(e)):
        d = e[i] - (za[i] + zb[i])
        e[i] = d if d > 0 else d - d
