"""The VC dimension of intervals is two, of half-planes three, of rectangles four, and of sines at least ten.

    intervals 2,   axis-parallel rectangles 4,   half-planes 3,   sines sign(sin(w x)) any number                 (1)

A class shatters points if it labels them in all ways. Sines have no finite dimension (ten points are tried): they label
2^-i, i = 1 to n, in every way with w = pi (1 + sum over zeros i of 2^i). Reference: [vapnik1971uniform].
"""

from functools import partial
from itertools import product

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def is_shattered(points, label):
    """Returns whether a class of functions can label the points in all possible ways."""
    return all(label(bits, points) is not None for bits in product((0, 1), repeat=len(points)))


def interval(bits, x):
    """Returns the labeling of sorted points that an interval can give: no zero lies between two ones."""
    ones = [v for v, b in zip(x, bits, strict=True) if b]
    inside = [min(ones) <= v <= max(ones) if ones else False for v in x]
    return bits if [bool(b) for b in bits] == inside else None


def rectangle(bits, x):
    """Returns the labeling if a rectangle can give it: the smallest box around the ones contains no zero."""
    ones = x[np.array(bits, bool)]
    inside = ((x >= ones.min(0)) & (x <= ones.max(0))).all(1) if len(ones) else np.zeros(len(x), bool)
    return bits if (inside == np.array(bits, bool)).all() else None


def plane(bits, x):
    """Returns the labels if a line separates zeros from ones, otherwise None; a linear program decides."""
    from scipy.optimize import linprog

    sign = 2 * np.array(bits) - 1
    a = -sign[:, None] * np.c_[x, np.ones(len(x))]
    return bits if linprog(np.zeros(3), a, -np.ones(len(x)), bounds=[(None, None)] * 3).status == 0 else None


def sine(bits, x):
    """Returns the labels if sign(sin(w x)) gives them, otherwise None, with w = pi (1 + sum over zeros of 2^i)."""
    w = np.pi * (1 + sum(2.0 ** (i + 1) for i, b in enumerate(bits) if not b))
    return bits if (np.sin(w * x) > 0).astype(int).tolist() == list(bits) else None


CASES = (
    (interval, [np.arange(k, dtype=float) for k in (1, 2, 3)]),
    (rectangle, [np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [0.1, 0.2]])[:k] for k in (2, 3, 4, 5)]),
    (plane, [np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)[:k] for k in (2, 3, 4)]),
    (sine, [2.0 ** -np.arange(1, k + 1) for k in (1, 4, 10)]),
)


def predicted():
    """Returns the VC dimension of each class: the largest number of points it labels in all ways; 10 for the sines."""
    return [2.0, 4.0, 3.0, 10.0]


def largest_shattered(places, draws, seed):
    """Returns the size of the largest set that each class labels in all ways, among the given and random sets."""
    rng, found = np.random.default_rng(seed), []
    for (label, _), sets, more in zip(CASES, places, ((3,), (5, 2), (4, 2), None), strict=True):
        drawn = [rng.normal(size=more) for _ in range(draws)] if more else []
        found.append(float(max((len(x) for x in [*sets, *drawn] if is_shattered(x, label)), default=0)))
    return found


LINE = [np.c_[np.arange(k), np.zeros(k)].astype(float) for k in (1, 2, 3, 4)]
observed = partial(largest_shattered, places=[sets for _, sets in CASES])  # Places of points that allow many labelings.
# Control: points on a line, which rectangles and half-planes cannot label in all ways, and integers for sine waves.
control = partial(largest_shattered, places=[CASES[0][1], LINE, LINE, [np.arange(1.0, k + 1) for k in (1, 4, 10)]])

CLAIM = Claim(
    id="vc-dimension",
    question="How many points can a class label in all ways?",
    equation=r"\mathrm{VC} = \max\{n : \Pi(n) = 2^n\}",
    axes=("class (intervals, rectangles, half-planes, sines)", "number of shattered points"),
    source=Source("theorem", "vapnik1971uniform"),
    premises=(Premise("the points are placed in the best way"),),
    parameters={"draws": 40},
    full={"draws": 400},
    judge=equals(rounding=0),
)
