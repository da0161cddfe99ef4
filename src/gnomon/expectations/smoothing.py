"""Represents functions smoothed by a Gaussian as polynomials in position and variance, and integrates these functions.

Given u, the variable v is Gaussian of mean m = rho u sqrt(b / a) and variance w = b (1 - rho^2), so that with

    h(m, w) = E[g(m + sqrt(w) z)]                                                                          (1)
    E[f(u) g(v)] = integral of N(x) f(sqrt(a) x) h(sqrt(b) rho x, w)                                       (2)

f and h are piecewise polynomials of degree 15. Where f and g are both even or both odd, so is their product in (2), and
half of the line is enough. h is cut where g is, and each three deviations of the smoothing within
nine of every cut with a neighboring piece of g that is narrower than that. It solves the heat equation, hence is
analytic in
w > 0, and on an octave of w a polynomial of degree 11. An octave is made when a pair first needs it, and remembered.

Accuracy: pieces are halved until they fit to 1e-9 of the local size, which is measured; what is left of (2) is the rule
of Gauss on products of these polynomials.
Hypotheses: as in pieces.
Cost: some 5 ms per octave of w, and 3 microseconds per pair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import erfc, pi, sqrt

import numpy as np
import torch
from torch import Tensor

from gnomon.expectations import piecewise_arrays
from gnomon.expectations.arrays import is_numpy_faster
from gnomon.expectations.functions import Elementwise
from gnomon.expectations.legendre import misfit, powers, samples
from gnomon.expectations.line import RADII
from gnomon.expectations.pieces import ZERO_COEFFICIENT_SHARE, Pieces

MAX_DEVIATIONS = 8.0
"""Standard deviations up to which variables are integrated."""
PANEL_WIDTH = 1.6
"""Width of a panel of the density, in standard deviations."""
FINE_PANEL = 0.25  # interval width for functions that grow so fast that the tails of the density matter
LAYER = torch.tensor([-9.0, -6.0, -3.0, 3.0, 6.0, 9.0], dtype=torch.float64)
MAX_POLYNOMIAL_SPAN = 3.0
"""Maximum span of one polynomial, in standard deviations of the smoothing."""
MIN_INTERVAL_WIDTH = 0.125
"""Minimum interval width in standard deviations of the smoothing; a misfit on narrower ones is rounding noise."""
SECONDS_PER_RIDGE = 3e-5
"""Approximate seconds of one double integral in numpy."""
SECONDS_PER_OCTAVE = 0.08
"""Approximate seconds to smooth a function for one octave of variances, in numpy."""
VARIANCE_TERMS = 12
"""Number of coefficients in the variance."""
NODES_PER_INTERVAL = 8
"""Number of nodes of the Gauss rule between two edges, as in loops.py."""
# Weight of function values k standard deviations away: sqrt(P(|z| > k)), relative to k = 2.
WEIGHTS_BY_DISTANCE = [(k, (erfc(k / sqrt(2)) / erfc(sqrt(2))) ** 0.5) for k in range(2, 9)]
UNSMOOTHED_KEY = (0, 0)  # cache key of the function itself, without any smoothing
PARITY_KEY = (0, 1)  # cache key of the function's parity: 1 if even, -1 if odd, 0 if neither
SYMMETRY_TOLERANCE = 2.0**-50
"""Allowed difference between f(-x) and f(x) or -f(x), relative to the largest |f|."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A function and its versions smoothed by Gaussians, as arrays of polynomials; the function itself is last."""

    octaves: np.ndarray
    at: np.ndarray
    edges: np.ndarray
    coefficients: np.ndarray

    def level(self, variance: np.ndarray) -> np.ndarray:
        """Returns for each variance the index of its smoothed function in the tables; the last index for zero
        variance.
        """
        found = np.searchsorted(self.octaves, octaves(variance))
        return np.where(variance > 0, found, len(self.octaves))


def octaves(variance: np.ndarray) -> np.ndarray:
    """Returns for each variance the integer k with 2^k <= variance < 2^(k + 1); 0 for zero variance.

    >>> octaves(np.array([1.0, 3.0, 0.3, 0.0]))
    array([ 0,  1, -2,  0])
    """
    return np.floor(np.log2(np.where(variance > 0, variance, 1.0))).astype(np.int64)


def tables(g: Elementwise, pieces: Pieces, radius: int, wanted: np.ndarray) -> Tables:
    """Returns versions of a function g smoothed by Gaussians, one for each factor of two of variances in ``wanted``.

    Cost: see the module; none for octaves that are known.

    >>> from gnomon.expectations.pieces import find
    >>> tables(torch.relu, find(torch.relu, 1.0, 16.0), 10, np.array([-3, 0])).at[:, 2]
    array([...])
    """
    wanted = np.unique(wanted)
    own = polynomials(g, pieces)
    for k in wanted.tolist():
        if (radius, k) not in pieces.memory:
            pieces.memory[radius, k] = _octave(pieces, radius, k)
    still = np.zeros((len(own[1]), VARIANCE_TERMS, own[1].shape[1]))
    still[:, 0] = own[1]
    rows = [*(pieces.memory[radius, k] for k in wanted.tolist()), (own[0], still)]
    counts = [len(c) for _, c in rows]
    first = np.cumsum([0, *counts[:-1]])
    at = np.stack([first + np.arange(len(rows)), first, counts], 1).astype(np.int64)
    return Tables(wanted, at, np.concatenate([e for e, _ in rows]), np.concatenate([c for _, c in rows]))


def polynomials(g: Elementwise, pieces: Pieces) -> tuple[np.ndarray, np.ndarray]:
    """Returns the edges and polynomial coefficients of the function itself, without smoothing.

    >>> from gnomon.expectations.pieces import find
    >>> polynomials(torch.abs, find(torch.abs, 1.0, 16.0))[1].shape[1]
    16
    """
    if UNSMOOTHED_KEY not in pieces.memory:
        edges, coefficients = pieces.polynomials(g)
        pieces.memory[UNSMOOTHED_KEY] = edges.numpy(), np.ascontiguousarray(coefficients.numpy())
    own: tuple[np.ndarray, np.ndarray] = pieces.memory[UNSMOOTHED_KEY]
    return own


def parity(g: Elementwise, pieces: Pieces) -> int:
    """Returns 1 if the function is even, -1 if odd, 0 if neither, checked at 16 points of each piece.

    >>> from gnomon.expectations.pieces import find
    >>> [parity(g, find(g, 1.0, 16.0)) for g in (torch.abs, torch.tanh, torch.relu)]
    [1, -1, 0]
    """
    if PARITY_KEY not in pieces.memory:
        edges = torch.from_numpy(polynomials(g, pieces)[0])
        points = samples(edges[:-1], edges[1:])
        here, there, size = g(points), g(-points), pieces.size.at(edges[:-1], edges[1:])[:, None]
        even, odd = (bool(((here - s * there).abs() <= SYMMETRY_TOLERANCE * size).all()) for s in (1, -1))
        pieces.memory[PARITY_KEY] = 1 if even else -1 if odd else 0
    found: int = pieces.memory[PARITY_KEY]
    return found


def double_integrals(
    f: tuple[np.ndarray, np.ndarray], g: Tables, radius: int, root_a: np.ndarray, root_b: np.ndarray, rho: np.ndarray,
    *, even: bool = False,
) -> np.ndarray:  # fmt: skip
    """Returns E[f(u) g(v)] for pairs of standard deviations and correlations, by integrating polynomials.

    See equation (2) of the module docstring.
    ``even`` says that f and g are both even or both odd.
    Hypotheses and cost: see the module.

    >>> from gnomon.expectations.pieces import find
    >>> one = np.ones(1)
    >>> pieces = find(torch.relu, 1.0, 16.0)
    >>> g = tables(torch.relu, pieces, 10, np.array([-1]))
    >>> round(float(double_integrals(polynomials(torch.relu, pieces), g, 10, one, one, 0 * one + 0.5)[0]), 9)
    0.304498891
    """
    level = g.level(root_b * root_b * ((1 - rho) * (1 + rho)))
    start, width, density = _density(radius)
    out, panel = np.empty(rho.shape), len(density) // 2 if even else 0
    common = root_a, root_b, rho, level, *f, g.at, g.edges, g.coefficients, density, start, width, panel, _rule()
    if is_numpy_faster(len(rho) * SECONDS_PER_RIDGE):
        piecewise_arrays.expectations_by_conditioning(*common, out)
    else:
        from gnomon.expectations.loops import ridges

        ridges(*common, np.empty((int(g.at[:, 2].max()), f[1].shape[1])), out)
    return out


def _octave(pieces: Pieces, radius: int, octave: int) -> tuple[np.ndarray, np.ndarray]:
    """Fits polynomials to a function smoothed by Gaussians, for variances within one factor of two."""
    deviation = 2.0 ** (octave / 2)
    edges = _resolve(pieces, deviation, lambda m: _smooth(pieces, radius, m, deviation))
    places = samples(edges[:-1], edges[1:])
    turns = (torch.arange(VARIANCE_TERMS, dtype=torch.float64) + 0.5) * (pi / VARIANCE_TERMS)
    variances = 2.0**octave * (1.5 + 0.5 * turns.cos())
    values = torch.stack([_smooth(pieces, radius, places, float(v) ** 0.5) for v in variances], 1)
    basis = torch.cos(torch.arange(VARIANCE_TERMS, dtype=torch.float64)[:, None] * turns) * (2 / VARIANCE_TERMS)
    basis[0] /= 2
    return edges.numpy(), np.ascontiguousarray(powers(basis @ values).numpy())


def _smooth(pieces: Pieces, radius: int, m: Tensor, deviation: float) -> Tensor:
    """Returns a function smoothed by a Gaussian, E[g(m + deviation z)] for standard normal z, at positions m.

    See equation (1) of the module docstring.
    """
    edges, coefficients = pieces.memory[UNSMOOTHED_KEY]
    place, one = m.numpy().reshape(-1), np.eye(1, coefficients.shape[1])
    start, width, density = _density(radius)
    out = np.empty(place.shape)
    smooth_expectations = piecewise_arrays.smooth_expectations
    if not is_numpy_faster(0.0):
        from gnomon.expectations.loops import smooth_expectations
    smooth_expectations(
        place, np.full(place.shape, deviation), edges, coefficients, one, density, start, width, _rule(), out
    )
    return torch.from_numpy(out).view(m.shape)


def _resolve(pieces: Pieces, deviation: float, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Splits intervals until a polynomial fits the smoothed function on each of them; returns the edges."""
    edges = _edges(pieces, deviation)
    left, right = edges[:-1], edges[1:]
    kept = [edges]
    while len(left):
        size = _size(pieces, left, right, deviation)
        split = (misfit(function, left, right) > ZERO_COEFFICIENT_SHARE * size) & (
            right - left > MIN_INTERVAL_WIDTH * deviation
        )
        left, right = left[split], right[split]
        middle = (left + right) / 2
        kept.append(middle)
        left, right = torch.cat([left, middle]), torch.cat([middle, right])
    return torch.cat(kept).unique()


def _size(pieces: Pieces, left: Tensor, right: Tensor, deviation: float) -> Tensor:
    """Returns the scale of a smoothed function on each interval, relative to which errors are measured.

    v varies by ``deviation`` at least, so that sqrt(E[g(v)^2]) feels what g is k deviations away by the square root of
    the probability of going there. Without it, where g is zero, so would be the errors that are allowed.
    """
    sizes = [share * pieces.size.at(left, right, k * deviation) for k, share in WEIGHTS_BY_DISTANCE]
    return torch.stack(sizes).amax(0).clamp(min=_least(pieces))


def _least(pieces: Pieces) -> float:
    """Returns the smallest scale for errors: 1e-12 of |g| near the points at which the function g is not zero."""
    some = pieces.size.largest > 0
    if not bool(some.any()):
        return 0.0
    place = torch.searchsorted(pieces.size.distance, 1.2 * pieces.size.distance[some][0])
    return 1e-12 * float(pieces.size.largest[place.clamp(max=len(some) - 1)])


def _edges(pieces: Pieces, deviation: float) -> Tensor:
    """Returns the initial interval edges for polynomial fits to a smoothed function, which are refined later."""
    step, end = MAX_POLYNOMIAL_SPAN * deviation, pieces.reach
    thin = pieces.cuts[pieces.width <= step]
    layers = (thin[:, None] + deviation * LAYER).flatten()
    wanted = torch.cat([pieces.cuts, layers[layers.abs() < end]]).unique().tolist()
    kept, crowded = [-end], False
    for place in wanted:
        if crowded and place - kept[-1] > step:
            kept.append(kept[-1] + step)
        crowded = place - kept[-1] < 0.999 * step
        if not crowded:
            kept.append(place)
    if crowded and end - kept[-1] > step:  # Continues the edges beyond the last corner if the rest is too long.
        kept.append(kept[-1] + step)
    return torch.tensor([*kept, end], dtype=torch.float64)


@cache
def _density(radius: int) -> tuple[float, float, np.ndarray]:
    """Returns start, interval width and polynomials of the normal density, up to ``radius`` standard deviations."""
    end, width = (MAX_DEVIATIONS, PANEL_WIDTH) if radius <= RADII[0] else (float(radius), FINE_PANEL)
    edges = torch.arange(round(2 * end / width) + 1, dtype=torch.float64) * width - end
    values = torch.exp(samples(edges[:-1], edges[1:]).square() * -0.5) / (2 * pi) ** 0.5
    return -end, width, np.ascontiguousarray(powers(values).numpy())


@cache
def _rule() -> np.ndarray:
    """Returns nodes and weights of Gauss's quadrature rule for one interval."""
    return np.stack(np.polynomial.legendre.leggauss(NODES_PER_INTERVAL))
