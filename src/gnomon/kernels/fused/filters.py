"""Linear maps of displacement planes: the box filter of a convolution, the blocks of a pooling, the sum of a flatten.

Planes are arrays (rows, columns, lanes) of the overlap of two images, one shifted by d against the other; with
``wraps`` they are tori. Rows of an instruction: see planes.py.
Reference: equations (2), (3) and (4) of planes.py.
Cost: a few additions per entry.
"""

from numba import njit

from gnomon.kernels.fused.machine import INNER, wide


@njit(**INNER)
def index(high, width, dy, dx):  # type: ignore[no-untyped-def]
    """The number of a displacement."""
    return (dy + high - 1) * (2 * width - 1) + dx + width - 1


@njit(**INNER)
def extent(size, d, wraps):  # type: ignore[no-untyped-def]
    """Positions of one axis that have a partner at displacement d."""
    return size if wraps else size - abs(d)


@njit(**INNER)
def box(source, ins, dy, dx, tag, vx, vy, room, e, t):  # type: ignore[no-untyped-def]
    """Sums over the taps; vx and vy are half the variances of the images, which stand where the other image ends."""
    lanes, wraps = len(tag), ins[17] == 1
    h, w = extent(ins[5], dy, wraps), extent(ins[6], dx, wraps)
    rows = len(e) // lanes // extent(ins[8], dx // ins[12], wraps)
    cols = len(e) // lanes // rows
    high, width = (rows - 1) * ins[11] + (ins[9] - 1) * ins[13] + 1, (cols - 1) * ins[12] + (ins[10] - 1) * ins[14] + 1
    padded = room[: high * width * lanes]
    summed = room[high * width * lanes : (high + rows) * width * lanes]
    for part in range(2):
        if wraps:
            _wrap(source[part], padded, h, w, high, width, ins[15], ins[16], lanes)
        else:
            _pad(source[part], padded, h, w, high, width, ins[15], ins[16], lanes)
            if part == 0:
                _border(padded, ins, dy, dx, h, w, high, width, tag, vx, vy)
        for u in range(rows):
            at = u * width * lanes
            _taps(
                padded[u * ins[11] * width * lanes :], summed[at : at + width * lanes], ins[9], ins[13] * width * lanes
            )
        target = e if part == 0 else t
        for u in range(rows):
            line = summed[u * width * lanes : (u + 1) * width * lanes]
            if ins[12] == 1:
                _taps(line, target[u * cols * lanes : (u + 1) * cols * lanes], ins[10], ins[14] * lanes)
                continue
            for v in range(cols):
                at = (u * cols + v) * lanes
                _taps(line[v * ins[12] * lanes :], target[at : at + lanes], ins[10], ins[14] * lanes)


@njit(**INNER)
def _taps(source, target, taps, step):  # type: ignore[no-untyped-def]
    """target[i] = sum over taps of source[i + tap * step]."""
    n = len(target)
    if taps == 3:
        _three(source[:n], source[step : step + n], source[2 * step : 2 * step + n], target)
        return
    _set(source[:n], target)
    for tap in range(1, taps):
        _increase(source[tap * step : tap * step + n], target)


# Indices are loop variables: an index that the compiler cannot prove to be positive keeps it from vectorizing.
@njit(**INNER)
def _three(a, b, c, target):  # type: ignore[no-untyped-def]
    wide()
    for i in range(len(target)):
        target[i] = a[i] + b[i] + c[i]


@njit(**INNER)
def _set(values, target):  # type: ignore[no-untyped-def]
    wide()
    for i in range(len(target)):
        target[i] = values[i]


@njit(**INNER)
def _increase(values, target):  # type: ignore[no-untyped-def]
    wide()
    for i in range(len(target)):
        target[i] += values[i]


@njit(**INNER)
def _clear(target):  # type: ignore[no-untyped-def]
    for i in range(len(target)):
        target[i] = 0


@njit(**INNER)
def _pad(source, padded, h, w, high, width, top, left, lanes):  # type: ignore[no-untyped-def]
    """The plane inside zeros."""
    first, last = max(0, left), min(width, left + w)
    for r in range(high):
        u, row = r - top, padded[r * width * lanes : (r + 1) * width * lanes]
        if u < 0 or u >= h:
            _clear(row)
            continue
        _clear(row[: first * lanes])
        _clear(row[last * lanes :])
        _set(source[(u * w + first - left) * lanes : (u * w + last - left) * lanes], row[first * lanes : last * lanes])


@njit(**INNER)
def _border(padded, ins, dy, dx, h, w, high, width, tag, vx, vy):  # type: ignore[no-untyped-def]
    """Beyond one border the other image still has its variance: e = a / 2 + 0 - 0."""
    lanes, before, left = len(tag), ins[15], ins[16]
    for r in range(high):
        inside = 0 <= r - before < h
        row = padded[r * width * lanes : (r + 1) * width * lanes]
        for first, last in ((0, left), (left + w, width)) if inside else ((0, width), (0, 0)):
            for side in range(2):
                y = r - before + (max(0, -dy) if side == 0 else max(0, dy))
                shift = max(0, -dx) - left if side == 0 else max(0, dx) - left
                begin, end = max(first, -shift), min(last, ins[6] - shift)
                if 0 <= y < ins[5] and begin < end:
                    values = vx if side == 0 else vy
                    at = (y * ins[6] + begin + shift) * lanes
                    _increase(values[at : at + (end - begin) * lanes], row[begin * lanes : end * lanes])


@njit(**INNER)
def _wrap(source, padded, h, w, high, width, top, left, lanes):  # type: ignore[no-untyped-def]
    """The plane continued periodically."""
    for r in range(high):
        row = ((r - top) % h) * w
        for c in range(width):
            at, of = (r * width + c) * lanes, (row + (c - left) % w) * lanes
            _set(source[of : of + lanes], padded[at : at + lanes])


@njit(**INNER)
def pool(source, ins, dy, dx, tag, out, out_at, weight):  # type: ignore[no-untyped-def]
    """Add a plane to the (up to four) planes of the pooled grid that it feeds."""
    wraps, lanes = ins[17] == 1, len(tag)
    ky, kx, high, width = ins[9], ins[10], ins[7], ins[8]
    w = extent(ins[6], dx, wraps)
    size = extent(ins[5], dy, wraps) * w * lanes
    top, left = (0, 0) if wraps else (max(0, -dy), max(0, -dx))
    for cy in range(2 if dy % ky else 1):
        dy2 = (dy // ky + cy) % high if wraps else dy // ky + cy
        first, last = (0, ky - dy % ky) if cy == 0 else (ky - dy % ky, ky)
        for cx in range(2 if dx % kx else 1):
            dx2 = (dx // kx + cx) % width if wraps else dx // kx + cx
            begin, end = (0, kx - dx % kx) if cx == 0 else (kx - dx % kx, kx)
            if abs(dy2) >= high or abs(dx2) >= width:
                continue
            at = out_at[ins[18], index(high, width, dy2, dx2)]
            if at < 0:
                continue
            rows, cols = extent(high, dy2, wraps), extent(width, dx2, wraps)
            top2, left2 = (0, 0) if wraps else (max(0, -dy2), max(0, -dx2))
            total = rows * cols * lanes
            for u in range(rows):
                for a in range(first, last):
                    of = ((ky * (top2 + u) + a - top) * w + kx * left2 - left) * lanes
                    for part in range(2):
                        to = at + part * total + u * cols * lanes
                        _blocks(source[part, :size], of, out[to : to + cols * lanes], kx, begin, end, tag, weight)


@njit(**INNER)
def _blocks(source, of, target, k, begin, end, tag, weight):  # type: ignore[no-untyped-def]
    lanes = len(tag)
    for v in range(len(target) // lanes):
        place = of + (k * v + begin) * lanes
        _collect(source[place : place + (end - begin) * lanes], target[v * lanes : (v + 1) * lanes], tag, weight)


@njit(**INNER)
def _collect(source, target, tag, weight):  # type: ignore[no-untyped-def]
    """Add the weighted sum of several positions to one, lane by lane."""
    wide()
    lanes = len(tag)
    for a in range(len(source) // lanes):
        block = source[a * lanes : (a + 1) * lanes]
        for i in range(lanes):
            target[i] += weight * block[i]


@njit(**INNER)
def flat(source, ins, dy, dx, tag, out, out_at, weight):  # type: ignore[no-untyped-def]
    """The mean over equal positions."""
    if dy != 0 or dx != 0:
        return
    lanes, at = len(tag), out_at[ins[18], 0]
    for part in range(2):
        _blocks(source[part], 0, out[at + part * lanes : at + (part + 1) * lanes], 1, 0, ins[5] * ins[6], tag, weight)
