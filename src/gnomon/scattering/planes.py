"""Compiled loops of the scattering transform of images, for eight first-order wavelets at once.

A product with a filter that is then subsampled is, in frequency, a sum over the places that fall on one:

    y[r, c] = sum_a x[r + a_1, c + a_2] f[a, r, c]                                                            (1)

A tile of products goes through Fourier transforms of its rows as they are computed, then of its columns; the moduli of
a column are averaged over rows while they are in the first cache, and kept if wavelets of the second order follow.
The spectrum of the real moduli u comes from the spectra of pairs of columns u_1 + i u_2, taken apart. Of spectra only
rows up to half are kept; the others are mirror images.
"""

import numpy as np
from numba import njit

from gnomon.core.machine.loops import INNER, compile_on_first_use
from gnomon.scattering.fourier import OUTER, PAIR, transform
from gnomon.scattering.lanes import fetch, load, pointer, root, spread, store
from gnomon.scattering.packed import SIGNALS_PER_VECTOR

NUMBERS_PER_HALF_CACHE = 8_000
"""Complex numbers of eight float32 signals that fill half of a second-level cache."""


@compile_on_first_use
def scatter(half, numbers, places, bands, first, sides, windows, memory, out):
    """Computes the scattering coefficients of both orders from the half spectra of images, and writes them into
    ``out``.

    ``half`` (images, n_1 / 2 + 1, n_2, 2) has real and imaginary parts; ``memory`` is for one tile after another.
    """
    a, numbers, places = pointer(memory), pointer(numbers), pointer(places)
    # The numbers are variables, because numba compiles everything again for literals.
    one, none = np.int64(PAIR), np.int64(-1)
    for image in range(len(half)):
        x = pointer(half[image])
        coefficients = out[image]
        for number in range(first):
            band = bands[number]
            for group in range(0, band.count, SIGNALS_PER_VECTOR):
                size = band.rows * (band.columns + 1)
                spectrum = (size + size // 2) * PAIR
                free = spectrum + (band.rows // 2 + 1) * band.columns * PAIR
                some = min(SIGNALS_PER_VECTOR, band.count - group)
                for r in range(band.rows):
                    _wavelets(a, free, x, numbers, places, band, group // SIGNALS_PER_VECTOR, r)
                    row = r * (band.columns + 1) * PAIR
                    transform(a, free, one, row, sides[band.column_side], numbers, places, free + band.columns * PAIR)
                keep = size * PAIR if band.after < band.until else none
                target = coefficients[band.path + group : band.path + group + some : 1]
                _down(a, band, sides, windows, numbers, places, keep, free, target)
                if keep < 0:
                    continue
                _spectrum(a, keep, spectrum, free, band, sides, numbers, places)
                for later in range(band.after, band.until):
                    b = bands[later]
                    for wave in range(b.count):
                        for r in range(b.rows):
                            _wavelet(a, free, spectrum, numbers, places, b, wave, r)
                            row = r * (b.columns + 1) * PAIR
                            transform(a, free, one, row, sides[b.column_side], numbers, places, free + b.columns * PAIR)
                        begin = b.path + group * band.later + wave
                        target = coefficients[begin : begin + (some - 1) * band.later + 1 : band.later]
                        _down(a, b, sides, windows, numbers, places, none, free, target)


@njit(**INNER)
def _clear(a, row, count):
    zero = spread(a, 0.0)
    for c in range(2 * count):
        store(a, row + c * SIGNALS_PER_VECTOR, zero)


@njit(**OUTER)
def _wavelets(a, row, x, numbers, places, band, group, r):
    """Computes one row of one image's spectrum filtered by eight wavelets."""
    _clear(a, row, band.columns)
    for p in range(band.places):
        first, last, line, mirror, column = _line(places, band, group, p, r)
        f = band.values + ((group * band.places + p) * band.rows + r) * band.columns * SIGNALS_PER_VECTOR
        sign = spread(a, -1.0 if mirror else 1.0)
        at, step = 2 * (line + column), 2 - 4 * mirror
        for c in range(first, last):
            factor, to = load(numbers, f + c * SIGNALS_PER_VECTOR), row + c * PAIR
            store(a, to, load(a, to) + factor * spread(a, x[at]))  # (1)
            store(a, to + SIGNALS_PER_VECTOR, load(a, to + SIGNALS_PER_VECTOR) + factor * sign * spread(a, x[at + 1]))
            at = 2 * (line + band.wide - 1) if mirror and at == 2 * line else at + step


@njit(**OUTER)
def _wavelet(a, row, spectrum, numbers, places, band, wave, r):
    """Computes one row of the spectra of eight wavelet moduli filtered by one second-order wavelet."""
    _clear(a, row, band.columns)
    for p in range(band.places):
        first, last, line, mirror, column = _line(places, band, wave, p, r)
        f = band.values + ((wave * band.places + p) * band.rows + r) * band.columns
        sign = spread(a, 1.0 if mirror else -1.0)
        begin = spectrum + line * PAIR
        at, step, end = begin + column * PAIR, PAIR - 2 * PAIR * mirror, begin + (band.wide - 1) * PAIR
        for c in range(first, last):
            factor, to = spread(a, numbers[f + c]), row + c * PAIR
            store(a, to, load(a, to) + factor * load(a, at))  # (1)
            store(
                a,
                to + SIGNALS_PER_VECTOR,
                load(a, to + SIGNALS_PER_VECTOR) + factor * sign * load(a, at + SIGNALS_PER_VECTOR),
            )
            at = end if mirror and at == begin else at + step


@njit(**INNER)
def _line(places, band, wave, p, r):
    """Returns the places at which one row of a filter is nonzero, and which row of the input it reads."""
    ends = band.extents + 2 * ((wave * band.places + p) * band.rows + r)
    first, last = places[ends], places[ends + 1]
    high, column = places[band.offsets + 2 * p] + r, places[band.offsets + 2 * p + 1] + first
    mirror = high > band.high // 2
    if mirror:
        high, column = band.high - high, band.wide - column if column else column
    return first, last, high * band.wide, mirror, column


@njit(**INNER)
def _fetch_next(a, line, step, count, lines):
    """Prefetches the numbers next to a line if all lines together exceed the second-level cache."""
    if count * lines > NUMBERS_PER_HALF_CACHE:
        for k in range(count):
            fetch(a, line + k * step + PAIR)


@njit(**OUTER)
def _down(a, band, sides, windows, numbers, places, keep, free, out):
    """Transforms filtered spectra back to images, and writes local averages of their moduli into ``out``."""
    rows, columns = band.rows, band.columns
    side, down, along = sides[band.row_side], windows[band.row_window], windows[band.column_window]
    line, memory = free, free + rows * PAIR
    sums = memory + 2 * rows * PAIR
    for c in range(columns):
        _fetch_next(a, c * PAIR, (columns + 1) * PAIR, rows, columns)
        transform(a, c * PAIR, (columns + 1) * PAIR, line, side, numbers, places, memory)
        for r in range(rows):
            re, im = load(a, line + r * PAIR), load(a, line + r * PAIR + SIGNALS_PER_VECTOR)
            u = root(re * re + im * im)
            store(a, line + r * SIGNALS_PER_VECTOR, u)
            if keep >= 0:  # Stores two columns of the transform at once.
                store(a, keep + (c // 2 * rows + r) * PAIR + c % 2 * SIGNALS_PER_VECTOR, u)
        for o in range(down.outputs):
            total = _average(a, line, numbers, places, down, o)
            store(a, sums + (o * columns + c) * SIGNALS_PER_VECTOR, total)
    for o in range(down.outputs):
        for p in range(along.outputs):
            store(a, line, _average(a, sums + o * columns * SIGNALS_PER_VECTOR, numbers, places, along, p))
            for k in range(len(out)):
                out[k, o, p] = a[line + k]


@njit(**INNER)
def _average(a, line, numbers, places, window, output):
    """Returns the weighted sum over a line of numbers for one output, as local averaging needs it."""
    ends, w = window.reach + 2 * output, window.weights + output * window.size
    first, last = places[ends], places[ends + 1]
    s0, s1, s2, s3 = spread(a, 0.0), spread(a, 0.0), spread(a, 0.0), spread(a, 0.0)
    for r in range(first, last - 3, 4):
        at = line + r * SIGNALS_PER_VECTOR
        s0 = s0 + spread(a, numbers[w + r]) * load(a, at)
        s1 = s1 + spread(a, numbers[w + r + 1]) * load(a, at + SIGNALS_PER_VECTOR)
        s2 = s2 + spread(a, numbers[w + r + 2]) * load(a, at + 2 * SIGNALS_PER_VECTOR)
        s3 = s3 + spread(a, numbers[w + r + 3]) * load(a, at + 3 * SIGNALS_PER_VECTOR)
    for r in range(last - (last - first) % 4, last):
        s0 = s0 + spread(a, numbers[w + r]) * load(a, line + r * SIGNALS_PER_VECTOR)
    return (s0 + s1) + (s2 + s3)


@njit(**OUTER)
def _spectrum(a, moduli, spectrum, free, band, sides, numbers, places):
    """Computes the conjugate Fourier spectrum of wavelet moduli, for the first half of the rows."""
    rows, columns, kept = band.rows, band.columns, band.rows // 2 + 1
    down, across, half = sides[band.row_side], sides[band.column_side], spread(a, 0.5)
    line, memory = free, free + rows * PAIR
    for pair in range(columns // 2):
        transform(a, moduli + pair * rows * PAIR, np.int64(PAIR), line, down, numbers, places, memory)
        for r in range(kept):
            here, there = line + r * PAIR, line + (rows - r if r else 0) * PAIR
            re, im, other, less = (
                load(a, here),
                load(a, here + SIGNALS_PER_VECTOR),
                load(a, there),
                load(a, there + SIGNALS_PER_VECTOR),
            )
            to = (2 * pair * kept + r) * PAIR
            store(a, to, half * (re + other))
            store(a, to + SIGNALS_PER_VECTOR, half * (im - less))
            store(a, to + kept * PAIR, half * (im + less))
            store(a, to + kept * PAIR + SIGNALS_PER_VECTOR, half * (other - re))
    for r in range(kept):
        target = spectrum + r * columns * PAIR
        _fetch_next(a, r * PAIR, kept * PAIR, columns, kept)
        transform(a, r * PAIR, kept * PAIR, target, across, numbers, places, memory)
