"""Computes E[f(u) g(v)] in closed form for piecewise linear f and g, such as ReLU6, Hardtanh and Threshold.

Away from zero such a function is a line, to which every corner adds something beyond it:

    f(x) = level + slope x + sum over corners of (jump + bend (|x| - distance)) 1(x beyond the corner)          (1)

so that E[f(u) g(v)] is a sum of moments of single variables, and of moments from wedges.py for each pair of corners.
What corners add is small if they are far, so that nothing cancels there. If it does (a variance so large that pieces
are short: f is then small compared with its terms), the pair is left to others:

    error <= ROUNDING_ERRORS m(u) m(v) sqrt(E[f(u)^2] E[g(v)^2]),  m = sum of all terms / sqrt(E[f^2])  (2)

Hypotheses: at most MOST corners, on each side of zero. Reference: as in wedges.py.
Cost: see wedges.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.expectations.line import RADII, Sampler, at_zero
from gnomon.expectations.pieces import Pieces
from gnomon.expectations.smoothing import polynomials

MAX_CORNERS = 4
"""Maximum number of corners on each side of zero."""
INTERIOR_SHARE = 2.0**-20
"""Position inside a piece, as a share of its length, at which the piece is evaluated near its ends."""
EQUAL_SLOPE_TOLERANCE = 2.0**-36
"""Relative difference of slopes that counts as zero."""
SYMMETRY_TOLERANCE = 2.0**-46  # largest relative difference at which two corners count as symmetric about zero
MIN_CORNER_DISTANCE = 1e-100
"""Distance in standard deviations that represents a corner at zero, where the angle matters."""
MIN_CORNER_EFFECT = 1e-13
"""Effect relative to sqrt(E[f^2]) below which a corner is ignored."""
ROUNDING_ERRORS = (2e-15, 1e-13)  # rounding errors relative to probabilities, and relative to their square roots
LINES_KEY = (0, 2)  # cache key of the line segments of a piecewise linear function

Road = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]
"""Computes pairs given by two indices and covariances; writes NaN if it has no value, and counts those."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A piecewise linear function, written as a line at zero plus the jump and the change of slope at each corner
    (kink).
    """

    level: float
    slope: float
    distance: Float[np.ndarray, " corners"]
    jump: Float[np.ndarray, "corners 2"]
    bend: Float[np.ndarray, "corners 2"]


def lines(f: Sampler, root: Float[Tensor, " n"]) -> Lines | None:
    """Returns a function as a line plus corners (kinks and jumps); None if the function is not piecewise linear.

    Cost: finding the pieces, once.

    >>> found = lines(Sampler(torch.nn.Hardtanh()), torch.ones(1, dtype=torch.float64))
    >>> found.slope, found.distance.round(12).tolist(), found.bend.round(12).tolist()    # 1 beyond it, and -1
    (1.0, [1.0], [[-1.0, 1.0]])
    """
    positive = root[root > 0]
    if not len(positive):
        return None
    pieces = f.pieces(float(positive.min()), RADII[0] * float(positive.max()))
    if LINES_KEY not in pieces.memory:
        straight = not np.any(polynomials(f, pieces)[1][:, 2:])
        pieces.memory[LINES_KEY] = _lines(f, pieces) if straight else None
    found: Lines | None = pieces.memory[LINES_KEY]
    return found


def road(
    f: Sampler, g: Sampler, root_a: Float[Tensor, " n"], root_b: Float[Tensor, " m"],
    second: tuple[np.ndarray, np.ndarray], *, certified: float, aligned: float,
) -> Road:  # fmt: skip
    """Returns a method that computes E[f(u) g(v)] in closed form for two piecewise linear functions f and g.

    Pairs whose error (2) is not below ``certified`` get no value; correlations from ``aligned`` on are taken for 1.
    Hypotheses: both have ``lines``. Cost: see the module.

    >>> root, c, half = torch.ones(1, dtype=torch.float64), np.full(1, 0.5), np.full(1, 0.5)
    >>> f, zero, out = Sampler(torch.relu), np.zeros(1, np.int32), np.empty(1)
    >>> found = road(f, f, root, root, (half, half), certified=1e-10, aligned=1.0)
    >>> found(zero, zero, c, np.empty(1), out), round(float(out[0]), 10)
    (0, 0.3044988905)
    """
    first, other = lines(f, root_a), lines(g, root_b)
    assert first is not None and other is not None  # The caller has checked that both functions are piecewise linear.
    left = _side(f, first, root_a, second[0], certified)
    shared = f is g and torch.equal(root_a, root_b)
    right = left if shared else _side(g, other, root_b, second[1], certified)
    weights = _weights(first, other)

    def found(i: np.ndarray, j: np.ndarray, c: np.ndarray, rho: np.ndarray, out: np.ndarray) -> int:
        from gnomon.expectations.wedges import rules, wedges

        return int(wedges(i, j, c, left, right, weights, rules(), aligned, f is g, rho, out))

    return found


def _lines(f: Sampler, pieces: Pieces) -> Lines | None:
    """Returns the slope of each linear piece of a function and its values at both sides of each corner; None if not
    linear.
    """
    edges = torch.cat([pieces.cuts.new_tensor([-pieces.reach]), pieces.cuts, pieces.cuts.new_tensor([pieces.reach])])
    inside = INTERIOR_SHARE * edges.diff()
    low, high = edges[:-1] + inside, edges[1:] - inside
    at_low, at_high = f(low), f(high)
    slope = (at_high - at_low) / (high - low)
    start, end = at_low - slope * (low - edges[:-1]), at_high + slope * (edges[1:] - high)
    change = slope.diff()
    bend = torch.where(
        change.abs() > EQUAL_SLOPE_TOLERANCE * torch.maximum(slope[1:].abs(), slope[:-1].abs()), change, 0
    )
    gap = start[1:] - end[:-1]
    jump = torch.where(pieces.jump != 0, gap, 0)
    # Finds edges at which two lines meet, and moves each edge to the exact meeting point, which rounding had missed.
    meeting = (pieces.jump == 0) & (bend != 0) & (pieces.cuts != 0)
    cuts = pieces.cuts - torch.where(meeting, gap / torch.where(bend != 0, bend, 1), 0)
    center = int((pieces.cuts < 0).sum())  # index of the piece that contains zero or ends at zero
    level = end[center] if center < len(pieces.cuts) and pieces.cuts[center] == 0 else f(edges.new_zeros(1))[0]
    found: dict[float, np.ndarray] = {}
    for k, j, s in zip(cuts.tolist(), jump.tolist(), bend.tolist(), strict=True):
        if j or s:
            near = next((d for d in found if abs(abs(k) - d) <= SYMMETRY_TOLERANCE * d), abs(k))
            added = found.setdefault(near, np.zeros((2, 2)))
            added[:, 0 if k >= 0 else 1] += (j, s) if k >= 0 else (-j, s)
    if len(found) > MAX_CORNERS:
        return None
    both = np.array(list(found.values())).reshape(-1, 2, 2)
    return Lines(float(level), float(slope[center]), np.array(list(found)), both[:, 0], both[:, 1])


def _side(
    f: Sampler, made: Lines, root: Tensor, own: np.ndarray, certified: float
) -> tuple[Float[np.ndarray, "7 n"], Float[np.ndarray, "corners 4 n"]]:
    """Returns what the compiled loops in wedges.py need to know about one Gaussian variable and the function applied to
    it.

    Rows: root, level, slope times root, what corners add to E[f(u)] and to E[X f(u)], and m of (2) in both ways, scaled
    so that their product may be one. Rows of corners: distance in deviations, Q and N there, and whether it is felt.
    """
    s, size = root.numpy(), np.sqrt(own)
    still = s == 0
    h = np.maximum(made.distance[:, None] / np.where(still, 1.0, s), MIN_CORNER_DISTANCE)
    q, density = torch.erfc(torch.from_numpy(h * 0.5**0.5)).numpy() / 2, np.exp(-0.5 * h * h) * (2 * pi) ** -0.5
    jump, bend = (t.T[:, :, None] for t in (made.jump, made.bend))  # (side, corner, point)
    moving = np.where(still, 0.0, 1.0)
    mean = (jump * q + s * bend * (density - h * q)).sum((0, 1))
    first = (np.array([1.0, -1.0])[:, None, None] * (jump * density + s * bend * q)).sum((0, 1))
    level = np.where(still, float(at_zero(f)), made.level)
    terms = (np.abs(jump) + s * np.abs(bend) * (1 + h)).sum(0)
    felt = (np.abs(jump) + s * np.abs(bend)).sum(0) * np.sqrt(q) > MIN_CORNER_EFFECT * size
    line = np.abs(level) + np.abs(made.slope) * s
    sums = np.stack([line + moving * terms.sum(0), line + moving * (terms * np.sqrt(q)).sum(0)])
    share = np.sqrt(np.array(ROUNDING_ERRORS) / certified)[:, None] * sums
    relative = np.divide(share, size, out=np.where(share > 0, np.inf, 0.0), where=size > 0)
    numbers = np.stack([s, level, made.slope * s, moving * mean, moving * first, *relative])
    corners = np.stack([h, q, density, np.where(felt, moving, 0.0)], 1)
    return np.ascontiguousarray(numbers), np.ascontiguousarray(corners)


def _weights(f: Lines, g: Lines) -> Float[np.ndarray, "first second 2 4"]:
    """Returns weights of Gaussian moments for each pair of corners (kinks, jumps) of two piecewise linear functions."""
    other = g.jump[:, ::-1], g.bend[:, ::-1]
    parts = [[x @ y.T for x in (f.jump, f.bend) for y in pair] for pair in ((g.jump, g.bend), other)]
    return np.ascontiguousarray(np.array([[p[0], p[2], p[1], p[3]] for p in parts]).transpose(2, 3, 0, 1))
