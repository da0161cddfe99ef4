"""Applies convolutions, poolings and flattenings to covariances between shifted positions of two images.

Planes are arrays (rows, columns, lanes) of the overlap of two images, one shifted by d against the other; with
``wraps`` they are tori. Rows of an instruction: see planes.py.
Reference: equations (2), (3) and (4) of planes.py.
Cost: a few additions per entry.
"""

from numba import njit, uint64

from gnomon.core.machine.loops import INNER, use_wide_vectors


@njit(**INNER)
def index(high, width, dy, dx):
    """Returns the index of the displacement (dy, dx) between two pixels in a table of all displacements."""
    return (dy + high - 1) * (2 * width - 1) + dx + width - 1


@njit(**INNER)
def extent(size, d, wraps):
    """Returns the number of positions p along an image axis of length ``size`` for which position p + d is in the image
    too.
    """
    return size if wraps else size - abs(d)


@njit(**INNER)
def box(source, ins, dy, dx, tag, vx, vy, room, e, t, u):
    """Computes row u of a convolution's effect on covariances between pixels: sums over the convolution window.

    Padded rows are made when the first sum needs them: rows come in order, and what they share is still in the cache.
    """
    lanes, wraps = len(tag), ins[17] == 1
    h, w = extent(ins[5], dy, wraps), extent(ins[6], dx, wraps)
    cols = extent(ins[8], dx // ins[12], wraps)
    reach, width = (ins[9] - 1) * ins[13], (cols - 1) * ins[12] + (ins[10] - 1) * ins[14] + 1
    line, half = width * lanes, len(room) // 2
    for part in range(2):
        padded = room[part * half + line : (part + 1) * half]
        for r in range(max(0, (u - 1) * ins[11] + reach + 1) if u else 0, u * ins[11] + reach + 1):
            row = padded[r * line : (r + 1) * line]
            if wraps:
                _wrap(source[part], row, (r - ins[15]) % h, w, width, ins[16], lanes)
                continue
            inside = 0 <= r - ins[15] < h
            _pad(source[part], row, r - ins[15], w, width, ins[16], lanes, inside)
            if part == 0:
                _border(row, ins, dy, dx, w, width, r - ins[15], inside, lanes, vx, vy)
        summed = room[part * half : part * half + line]
        _taps(padded[u * ins[11] * line :], summed, ins[9], ins[13] * line)
        target = e if part == 0 else t
        if ins[12] == 1:
            _taps(summed, target, ins[10], ins[14] * lanes)
            continue
        for v in range(cols):
            _taps(summed[v * ins[12] * lanes :], target[v * lanes : (v + 1) * lanes], ins[10], ins[14] * lanes)


@njit(**INNER)
def _taps(source, target, taps, step):
    """Sums shifted copies of a row, as a convolution does: target[i] = sum over taps of source[i + tap * step]."""
    n = len(target)
    if taps == 3:
        _three(source[:n], source[step : step + n], source[2 * step : 2 * step + n], target)
        return
    _set(source[:n], target)
    for tap in range(1, taps):
        _increase(source[tap * step : tap * step + n], target)


# Indices are loop variables, because the compiler vectorizes only if it can prove that they are not negative.
@njit(**INNER)
def _three(a, b, c, target):
    use_wide_vectors()
    for i in range(len(target)):
        target[i] = a[i] + b[i] + c[i]


@njit(**INNER)
def _set(values, target):
    use_wide_vectors()
    for i in range(len(target)):
        target[i] = values[i]


@njit(**INNER)
def _increase(values, target):
    use_wide_vectors()
    for i in range(len(target)):
        target[i] += values[i]


@njit(**INNER)
def _clear(target):
    for i in range(len(target)):
        target[i] = 0


@njit(**INNER)
def _pad(source, row, u, w, width, left, lanes, inside):
    """Writes row u of an array of covariances with zeros on both sides, as a zero-padded convolution needs it."""
    if not inside:
        _clear(row)
        return
    last = min(width, left + w)
    _clear(row[: left * lanes])
    _clear(row[last * lanes :])
    _set(source[u * w * lanes : (u * w + last - left) * lanes], row[left * lanes : last * lanes])


@njit(**INNER)
def _border(row, ins, dy, dx, w, width, u, inside, lanes, vx, vy):
    """Corrects squared distances at the image border, at which one image has a value and the other has padding."""
    left = ins[16]
    for piece in range(2 if inside else 1):
        first, last = (0, left if inside else width) if piece == 0 else (left + w, width)
        for side in range(2):
            y = u + (max(0, -dy) if side == 0 else max(0, dy))
            shift = max(0, -dx) - left if side == 0 else max(0, dx) - left
            begin, end = max(first, -shift), min(last, ins[6] - shift)
            if 0 <= y < ins[5] and begin < end:
                at, n = (y * ins[6] + begin + shift) * lanes, (end - begin) * lanes
                if side == 0:
                    _increase(vx[at : at + n], row[begin * lanes : end * lanes])
                else:
                    _increase(vy[at : at + n], row[begin * lanes : end * lanes])


@njit(**INNER)
def _wrap(source, row, u, w, width, left, lanes):
    """Writes row u of an array of covariances, continued periodically on both sides for circular padding."""
    for c in range(width):
        of = (u * w + (c - left) % w) * lanes
        _set(source[of : of + lanes], row[c * lanes : (c + 1) * lanes])


@njit(**INNER)
def pool(source, ins, dy, dx, tag, out, out_at, weight):
    """Applies pooling: adds covariances at one pixel displacement to the displacements of the pooled image
    they affect.
    """
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
def _blocks(source, of, target, k, begin, end, tag, weight):
    """Sums covariances over each pooling block with a weight and adds the sums to the output, for all vector lanes."""
    use_wide_vectors()
    lanes = len(tag)
    for v in range(len(target) // lanes):
        to = uint64(v * lanes)
        for a in range(begin, end):
            # The index is unsigned, so that the compiler knows that it never counts from the end.
            place = uint64(of + (k * v + a) * lanes)
            for i in range(lanes):
                target[to + uint64(i)] += weight * source[place + uint64(i)]


@njit(**INNER)
def flat(source, ins, dy, dx, tag, out, out_at, weight):
    """Applies flattening: adds the mean covariance over all pixels to the output, if the displacement (dy,
    dx) is zero.
    """
    if dy != 0 or dx != 0:
        return
    lanes, at = len(tag), out_at[ins[18], 0]
    for part in range(2):
        _blocks(source[part], 0, out[at + part * lanes : at + (part + 1) * lanes], 1, 0, ins[5] * ins[6], tag, weight)
