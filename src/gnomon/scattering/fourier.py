"""Fourier transforms of eight signals at once in compiled loops, for lengths without large prime factors.

A complex number of eight signals is eight real parts and then eight imaginary parts (`lanes`), so every step is
arithmetic of whole vectors. Without normalization and with a positive sign,

    y[k] = sum_j x[j] e^{2 pi i j k / n}                                                                      (1)

One step of Stockham's algorithm, for n = r m and s transforms interleaved, with w = e^{2 pi i / n}:

    y[q + s (r p + k)] = w^{p k} sum_j e^{2 pi i j k / r} x[q + s (p + m j)],    q < s, p < m, k < r           (2)

and s r transforms of length m are left. The result is in order after the last step.
"""

from typing import Any

import numpy as np
from numba import njit

from gnomon.core.machine.loops import INNER
from gnomon.scattering.lanes import load, spread, store
from gnomon.scattering.packed import SIGNALS_PER_VECTOR

PAIR = 2 * SIGNALS_PER_VECTOR
"""Numbers that one complex number of eight signals takes."""

OUTER: dict[str, Any] = {key: value for key, value in INNER.items() if key != "forceinline"}
"""Options of what entries call and what is large enough to be a function of its own in machine code."""


@njit(**OUTER)
def transform(a, x, step, target, side, numbers, places, memory):
    """Computes the Fourier transform of complex numbers that are stored with a stride of ``step`` from position x.

    See equation (1) of the module docstring.
    The result goes side by side from ``target`` on. ``side`` says which entries of ``places`` are the factors of n, and
    its `packed.turns` in ``numbers``; ``memory`` is the begin of 2 n complex numbers for what is between the steps.
    """
    # The number 1 is kept in a variable, because numba compiles everything again for a literal.
    left, s = side.n, side.n // side.n
    for i in range(side.count):
        r = places[side.steps + i]
        y = memory + i % 2 * side.n * PAIR if i + 1 < side.count else target
        m = left // r
        if r == 8:
            _eight(a, x, step, y, m, s, numbers, side.turns)
        elif r == 4:
            _four(a, x, step, y, m, s, numbers, side.turns)
        elif r == 5:
            _five(a, x, step, y, m, s, numbers, side.turns)
        elif r == 3:
            _three(a, x, step, y, m, s, numbers, side.turns)
        elif r == 2:
            _two(a, x, step, y, m, s, numbers, side.turns)
        else:
            _prime(a, x, step, y, r, m, s, numbers, side.turns)
        x, step, left, s = y, np.int64(PAIR), m, s * r


@njit(**INNER)
def _read(a, place):
    return load(a, place), load(a, place + SIGNALS_PER_VECTOR)


@njit(**INNER)
def _write(a, place, z):
    store(a, place, z[0])
    store(a, place + SIGNALS_PER_VECTOR, z[1])


@njit(**INNER)
def _turn(a, place, z, w, at, turn):
    """Writes the complex number z times a root of unity, as a step of a Fourier transform."""
    if turn:
        c, d = spread(a, w[at + 2 * turn]), spread(a, w[at + 2 * turn + 1])
        z = z[0] * c - z[1] * d, z[0] * d + z[1] * c
    _write(a, place, z)


@njit(**INNER)
def _plus(x, y):
    return x[0] + y[0], x[1] + y[1]


@njit(**INNER)
def _minus(x, y):
    return x[0] - y[0], x[1] - y[1]


@njit(**INNER)
def _plus_i(x, y):
    """Returns x + i y for complex numbers x and y, each given as (real, imaginary)."""
    return x[0] - y[1], x[1] + y[0]


@njit(**INNER)
def _minus_i(x, y):
    """Returns x - i y for complex numbers x and y, each given as (real, imaginary)."""
    return x[0] + y[1], x[1] - y[0]


@njit(**INNER)
def _times(c, x):
    return c * x[0], c * x[1]


@njit(**INNER)
def _two(a, x, step, y, m, s, w, at):
    for p in range(m):
        for q in range(s):
            u, v = _read(a, x + (q + s * p) * step), _read(a, x + (q + s * (p + m)) * step)
            to = y + (q + s * 2 * p) * PAIR
            _write(a, to, _plus(u, v))
            _turn(a, to + s * PAIR, _minus(u, v), w, at, s * p)


@njit(**INNER)
def _three(a, x, step, y, m, s, w, at):
    half, height = spread(a, 0.5), spread(a, 0.8660254037844386)
    for p in range(m):
        for q in range(s):
            here, far = x + (q + s * p) * step, s * m * step
            u, v, t = _read(a, here), _read(a, here + far), _read(a, here + 2 * far)
            total, side = _plus(v, t), _times(height, _minus(v, t))
            middle = _minus(u, _times(half, total))
            to = y + (q + s * 3 * p) * PAIR
            _write(a, to, _plus(u, total))
            _turn(a, to + s * PAIR, _plus_i(middle, side), w, at, s * p)
            _turn(a, to + 2 * s * PAIR, _minus_i(middle, side), w, at, 2 * s * p)


@njit(**INNER)
def _quarter(x, y, z, t):
    """Returns the Fourier transform of four complex numbers."""
    even, odd, other, turned = _plus(x, z), _minus(x, z), _plus(y, t), _minus(y, t)
    return _plus(even, other), _plus_i(odd, turned), _minus(even, other), _minus_i(odd, turned)


@njit(**INNER)
def _four(a, x, step, y, m, s, w, at):
    far, wide = s * m * step, s * PAIR
    for p in range(m):
        for q in range(s):
            here, to = x + (q + s * p) * step, y + (q + s * 4 * p) * PAIR
            f = _quarter(_read(a, here), _read(a, here + far), _read(a, here + 2 * far), _read(a, here + 3 * far))
            _write(a, to, f[0])
            _turn(a, to + wide, f[1], w, at, s * p)
            _turn(a, to + 2 * wide, f[2], w, at, 2 * s * p)
            _turn(a, to + 3 * wide, f[3], w, at, 3 * s * p)


@njit(**INNER)
def _five(a, x, step, y, m, s, w, at):
    c1, c2 = spread(a, 0.30901699437494745), spread(a, -0.8090169943749475)
    s1, s2 = spread(a, 0.9510565162951535), spread(a, 0.5877852522924731)
    far, wide = s * m * step, s * PAIR
    for p in range(m):
        for q in range(s):
            here, to = x + (q + s * p) * step, y + (q + s * 5 * p) * PAIR
            u = _read(a, here)
            x1, x2, x3, x4 = (
                _read(a, here + far), _read(a, here + 2 * far), _read(a, here + 3 * far), _read(a, here + 4 * far),
            )  # fmt: skip
            near, off, across, over = _plus(x1, x4), _plus(x2, x3), _minus(x1, x4), _minus(x2, x3)
            even1 = _plus(u, _plus(_times(c1, near), _times(c2, off)))
            even2 = _plus(u, _plus(_times(c2, near), _times(c1, off)))
            odd1 = _plus(_times(s1, across), _times(s2, over))
            odd2 = _minus(_times(s2, across), _times(s1, over))
            _write(a, to, _plus(u, _plus(near, off)))
            _turn(a, to + wide, _plus_i(even1, odd1), w, at, s * p)
            _turn(a, to + 2 * wide, _plus_i(even2, odd2), w, at, 2 * s * p)
            _turn(a, to + 3 * wide, _minus_i(even2, odd2), w, at, 3 * s * p)
            _turn(a, to + 4 * wide, _minus_i(even1, odd1), w, at, 4 * s * p)


@njit(**INNER)
def _eight(a, x, step, y, m, s, w, at):
    slope = spread(a, 0.7071067811865476)
    far, wide = s * m * step, s * PAIR
    for p in range(m):
        for q in range(s):
            here, to = x + (q + s * p) * step, y + (q + s * 8 * p) * PAIR
            e = _quarter(_read(a, here), _read(a, here + 2 * far), _read(a, here + 4 * far), _read(a, here + 6 * far))
            here += far
            o = _quarter(_read(a, here), _read(a, here + 2 * far), _read(a, here + 4 * far), _read(a, here + 6 * far))
            o1 = _times(slope, _plus_i(o[1], o[1]))  # computes o[1] exp(i pi / 4), a rotation by 45 degrees
            o3 = _times(slope, _plus_i(o[3], o[3]))  # computes o[3] exp(i pi / 4); the code below multiplies by i
            _write(a, to, _plus(e[0], o[0]))
            _turn(a, to + wide, _plus(e[1], o1), w, at, s * p)
            _turn(a, to + 2 * wide, _plus_i(e[2], o[2]), w, at, 2 * s * p)
            _turn(a, to + 3 * wide, _plus_i(e[3], o3), w, at, 3 * s * p)
            _turn(a, to + 4 * wide, _minus(e[0], o[0]), w, at, 4 * s * p)
            _turn(a, to + 5 * wide, _minus(e[1], o1), w, at, 5 * s * p)
            _turn(a, to + 6 * wide, _minus_i(e[2], o[2]), w, at, 6 * s * p)
            _turn(a, to + 7 * wide, _minus_i(e[3], o3), w, at, 7 * s * p)


@njit(**INNER)
def _prime(a, x, step, y, r, m, s, w, at):
    """Computes one step of a Fourier transform for a factor r of the length, by the defining sum."""
    for p in range(m):
        for q in range(s):
            here, to = x + (q + s * p) * step, y + (q + s * r * p) * PAIR
            for k in range(r):
                total = _read(a, here)
                for j in range(1, r):
                    turn = at + 2 * (j * k % r) * s * m
                    c, d = spread(a, w[turn]), spread(a, w[turn + 1])
                    re, im = _read(a, here + j * s * m * step)
                    total = total[0] + (re * c - im * d), total[1] + (re * d + im * c)
                _turn(a, to + k * s * PAIR, total, w, at, s * p * k)
