"""Computes E[f(u) g(v)] for Gaussian u, v and elementwise f, g, with the cheapest method that is accurate.

For pairs that coincide, one integral. For others Mehler's series, and for piecewise linear functions, if a short
series is not enough, a closed form; each as soon as its certificate promises an error below
1e-10 sqrt(E[f(u)^2] E[g(v)^2]) (the closed form 1e-9, in the worst case that its roundings add up). If neither can
(no series that pays, no closed form without cancellation), the double integral. What belongs to one variance alone is
computed once per distinct variance. Threads share out the pairs.

Cost: per distinct variance 20 to 200 microseconds; per pair 0.05 to 0.3 microseconds for the series, 0.1 for each pair
of corners of the closed form and 4 for the double integral; some 50 ms once for each function.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import NotFiniteError
from gnomon.core.machine.threads import run_in_threads
from gnomon.expectations.arrays import SECONDS_PER_TERM, SeriesArrays, is_numpy_faster
from gnomon.expectations.line import Sampler, second_moment
from gnomon.expectations.linear import Road, lines, road
from gnomon.expectations.mehler import LEVELS, Coefficients, coefficients
from gnomon.expectations.pairs import ALIGNED_FROM, CovariancePairs, PairBlock, inverse_or_zero
from gnomon.expectations.smoothing import (
    SECONDS_PER_OCTAVE,
    SECONDS_PER_RIDGE,
    Tables,
    double_integrals,
    octaves,
    parity,
    polynomials,
    tables,
)  # fmt: skip

SERIES_TOLERANCE = 1e-10
"""Certified error of a series, relative to sqrt(E[f^2] E[g^2])."""
CLOSED_FORM_TOLERANCE = 1e-9
"""Certified error of closed forms of piecewise linear functions, which have only rounding errors."""
SECONDS_PER_INTEGRAL = 3e-6
"""Approximate seconds of one double integral."""
SECONDS_PER_COEFFICIENT = 4e-7
"""Approximate seconds of one coefficient for one variance."""
MIN_SHORT_SERIES_SHARE = 0.5
"""A short series is used if it is certified for this share of the pairs."""
TRIED_VARIANCES = 16
"""Number of variances from which this share is estimated."""
MAX_INTEGRAL_SHARE = 1e-3
"""Share of the pairs that a closed form may leave to double integrals."""
SAMPLED_PAIRS = 4096
"""Number of pairs from which the length of the series is chosen."""
BAD_ARGUMENT = "an argument is not finite", "Find the first layer with a covariance that is not finite"
BAD_RESULT = "an expectation is not finite", "Use a function that is finite on the whole line"
MAX_HELD_INTEGRALS = 2**17
"""Maximum number of double integrals with positions in memory."""
INTEGRALS_PER_TASK = 2**10
"""Number of double integrals in one task."""


def expectation(f: Sampler, g: Sampler, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Returns E[f(u) g(v)] for Gaussian (u, v) with variances a, b and covariance c; not differentiable.

    Hypotheses: f and g piecewise analytic, with finite second moments; float64; c^2 <= a b up to rounding.
    Cost: see the module.

    >>> one = torch.ones((), dtype=torch.float64)
    >>> expectation(Sampler(torch.sin), Sampler(torch.sin), one, one, one / 2)
    tensor(0.1917, dtype=torch.float64)
    """
    shape, device = np.broadcast_shapes(a.shape, b.shape, c.shape), c.device
    if 0 in shape:
        return torch.empty(shape, dtype=torch.float64, device=device)
    a, b, c = (t.detach().cpu() for t in (a, b, c))
    if not bool(a.isfinite().all() and b.isfinite().all()):
        raise _not_finite(*BAD_ARGUMENT)
    return torch.from_numpy(_Work.of(f, g, CovariancePairs.of(a, b, c)).values()).view(shape).to(device)


@dataclass(frozen=True, slots=True)
class _Work:
    """One computation of E[f(u) g(v)]: the functions, the pairs of variances, and the method for most pairs.

    ``arrays`` is the series in torch, instead of ``road``, if compiled loops do not pay.
    """

    f: Sampler
    g: Sampler
    pairs: CovariancePairs
    road: Road | None
    own: np.ndarray
    arrays: SeriesArrays | None = None

    @classmethod
    def of(cls, f: Sampler, g: Sampler, pairs: CovariancePairs) -> "_Work":
        """Chooses the method for E[f(u) g(v)]: a power series, or a closed form for piecewise linear functions."""
        if is_numpy_faster(0.0):
            series = _Series.of(f, g, pairs, LEVELS)
            if is_numpy_faster(series.seconds):
                return cls(f, g, pairs, None, series.second[0], series.arrays(pairs))
        if lines(f, pairs.root_a) is None or lines(g, pairs.root_b) is None:
            series = _Series.of(f, g, pairs, LEVELS[1:], loops=True)
            return cls(f, g, pairs, series.road(), series.second[0])
        short = _short_is_enough(f, g, pairs)
        if short:
            series = _Series.of(f, g, pairs, LEVELS[1:2], loops=True)
            second = series.second
        else:
            second = second_moment(f, pairs.root_a).numpy(), second_moment(g, pairs.root_b).numpy()
        closed = road(f, g, pairs.root_a, pairs.root_b, second, certified=CLOSED_FORM_TOLERANCE, aligned=ALIGNED_FROM)
        if not _certain(closed, pairs):
            return cls(f, g, pairs, _Series.of(f, g, pairs, LEVELS[1:], loops=True).road(), second[0])
        return cls(f, g, pairs, _one_after_the_other(series.road(), closed) if short else closed, second[0])

    def values(self) -> np.ndarray:
        """Returns E[f(u) g(v)] of all pairs by the chosen method, or by double integrals if that method fails."""
        blocks, result = self.pairs.blocks(symmetric=self.f is self.g), np.empty(self.pairs.covariance.shape)

        def summed(k: int, room: None) -> int:
            if not np.isfinite(self.pairs.covariance[blocks[k].where]).all():
                raise _not_finite(*BAD_ARGUMENT)
            out, left = self._sums(blocks[k])
            if np.isfinite(out).sum() != len(out) - left:
                raise _not_finite(*BAD_RESULT)
            blocks[k].write(out, result)
            return k if left else -1

        order = sorted(run_in_threads(summed, range(len(blocks)), lambda: None, None))
        self._complete([blocks[k] for k in order if k >= 0], result)
        return result

    def _sums(self, block: PairBlock) -> tuple[np.ndarray, int]:
        """Returns E[f(u) g(v)] of a block of pairs by the chosen method, and the number of pairs for which it fails
        (NaN).
        """
        if self.arrays is not None:
            return self.arrays.values(self.pairs.covariance, block.where)
        assert self.road is not None  # The method `of` sets either `arrays` or `road`.
        i, j, c = self.pairs.at(block.where)
        out = np.empty(c.shape)
        return out, self.road(i, j, c, np.empty(c.shape), out)

    def _complete(self, blocks: list[PairBlock], result: np.ndarray) -> None:
        """Computes E[f(u) g(v)] by double integrals for all pairs that have no value yet."""
        held: list[tuple[np.ndarray, ...]] = []
        for k, block in enumerate(blocks):
            held.append(block.missing(result))
            if sum(len(places[0]) for places in held) >= MAX_HELD_INTEGRALS or k + 1 == len(blocks):
                places = tuple(np.concatenate(p) for p in zip(*held, strict=True))
                held = []
                values = self._integrals(*self.pairs.missing(places))
                if not np.isfinite(values).all():
                    raise _not_finite(*BAD_RESULT)
                result[places] = values
                if block.mirror:
                    result.T[places] = values

    def _integrals(self, i: np.ndarray, j: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """Returns E[f(u) g(v)] by double integrals; by single integrals if u = v."""
        out = np.empty(rho.shape)
        a, b = self.pairs.root_a.numpy()[i], self.pairs.root_b.numpy()[j]
        same = (rho == 1) & (a == b) & (self.f is self.g)
        out[same] = self.own[i[same]]
        rest = np.flatnonzero(~same)
        if not len(rest):
            return out
        a, b, rho = a[rest], b[rest], rho[rest]
        if self.f is self.g:
            a, b = np.minimum(a, b), np.maximum(a, b)  # Sorted, so that (u, v) and (v, u) give the same result.
        polynomial, table, radius, even = _tables(self.f, self.g, a, b, rho)
        found = np.empty(len(rest))

        def integrated(task: slice, room: None) -> None:
            found[task] = double_integrals(polynomial, table, radius, a[task], b[task], rho[task], even=even)

        run_in_threads(integrated, _tasks(len(rest), INTEGRALS_PER_TASK), lambda: None, None)
        out[rest] = found
        return out


def _short_is_enough(f: Sampler, g: Sampler, pairs: CovariancePairs) -> bool:
    """Returns whether the shortest power series for E[f(u) g(v)] is accurate for enough pairs, judged by a few
    variances.
    """
    tails = []
    for function, root in ((f, pairs.root_a), (g, pairs.root_b)):
        some = root[torch.linspace(0, len(root) - 1, min(TRIED_VARIANCES, len(root))).long()]
        tails.append(float(coefficients(function, some, LEVELS[1]).tail[:, -1].max()))
    return (
        float((pairs.some(SAMPLED_PAIRS)[2] ** LEVELS[1] * tails[0] * tails[1] <= SERIES_TOLERANCE).mean())
        >= MIN_SHORT_SERIES_SHARE
    )


def _certain(closed: Road, pairs: CovariancePairs) -> bool:
    """Returns whether the closed form for piecewise linear functions is accurate enough for nearly all pairs."""
    i, j, rho = pairs.some(SAMPLED_PAIRS)
    covariance = rho * pairs.root_a.numpy()[i] * pairs.root_b.numpy()[j]
    left = closed(i, j, covariance, np.empty(len(i)), np.empty(len(i)))
    return left <= int((rho >= ALIGNED_FROM).sum()) + MAX_INTEGRAL_SHARE * len(i)


def _one_after_the_other(first: Road, second: Road) -> Road:
    """Combines two methods for E[f(u) g(v)]: the second one computes the pairs for which the first gives NaN."""

    def found(i: np.ndarray, j: np.ndarray, c: np.ndarray, rho: np.ndarray, out: np.ndarray) -> int:
        if not first(i, j, c, rho, out):
            return 0
        near = np.flatnonzero(np.isnan(out))
        values = np.empty(len(near))
        left = second(i[near], j[near], c[near], np.empty(len(near)), values)
        out[near] = values
        return left

    return found


@dataclass(frozen=True, slots=True)
class _Series:
    """The power series for E[f(u) g(v)] with the number of terms that costs least: coefficients, and estimated
    seconds.
    """

    sides: tuple[Coefficients, Coefficients]
    inverses: tuple[np.ndarray, np.ndarray]
    second: tuple[np.ndarray, np.ndarray]
    seconds: float

    @classmethod
    def of(
        cls, f: Sampler, g: Sampler, pairs: CovariancePairs, levels: tuple[int, ...], *, loops: bool = False
    ) -> "_Series":
        i, j, rho = pairs.some(SAMPLED_PAIRS)
        shared = f is g and torch.equal(pairs.root_a, pairs.root_b)
        count = len(pairs.root_a) + (0 if shared else len(pairs.root_b))

        def made(terms: int) -> tuple[Coefficients, Coefficients]:
            first = coefficients(f, pairs.root_a, terms)
            return first, first if shared else coefficients(g, pairs.root_b, terms)

        few, size = made(levels[0]), pairs.covariance.size
        tail = few[0].tail[i, -1] * few[1].tail[j, -1]

        def price(terms: int) -> float:
            left = (rho < ALIGNED_FROM) & (rho**terms * tail > SERIES_TOLERANCE)
            more = terms * count * SECONDS_PER_COEFFICIENT if terms > levels[0] else 0.0
            if loops:
                return more + float(left.mean()) * size * SECONDS_PER_INTEGRAL
            scale = pairs.root_b.numpy()[j[left]]
            smoothed = len(np.unique(octaves(scale * scale * (1 - rho[left]) * (1 + rho[left]))))
            integrals = float(left.mean()) * size * SECONDS_PER_RIDGE + smoothed * SECONDS_PER_OCTAVE
            return more + min(terms, levels[1]) * size * SECONDS_PER_TERM + integrals

        best = min(levels, key=price)
        found = few if best == levels[0] else made(best)
        inverses = inverse_or_zero(pairs.root_a), inverse_or_zero(pairs.root_b)
        # Takes the same integration intervals as `second_moment`, so that both give identical results.
        return cls(found, inverses, (few[0].second, few[1].second), price(best))

    def road(self) -> Road:
        """Returns the power series for E[f(u) g(v)] as a compiled loop."""
        (of_f, of_g), (a, b) = self.sides, self.inverses

        def summed(i: np.ndarray, j: np.ndarray, c: np.ndarray, rho: np.ndarray, out: np.ndarray) -> int:
            from gnomon.expectations.loops import sums

            rest = SERIES_TOLERANCE, ALIGNED_FROM, rho, out
            return int(sums(i, j, c, a, b, of_f.alpha, of_g.alpha, of_f.tail, of_g.tail, *rest))

        return summed

    def arrays(self, pairs: CovariancePairs) -> SeriesArrays:
        """Returns the power series for E[f(u) g(v)] as torch arrays."""
        indices = pairs.index_a, pairs.index_b
        sides = zip(indices, self.inverses, self.sides, strict=True)
        return SeriesArrays(
            tuple((index, inverse, np.ascontiguousarray(s.alpha.T), s.tail) for index, inverse, s in sides),
            SERIES_TOLERANCE,
            ALIGNED_FROM,
        )


def _tasks(count: int, size: int) -> list[slice]:
    return [slice(k, k + size) for k in range(0, count, size)]


def _tables(
    f: Sampler, g: Sampler, a: np.ndarray, b: np.ndarray, rho: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], Tables, int, bool]:
    """Returns the tables for double integrals of E[f(u) g(v)]: f and smoothed versions of g as piecewise
    polynomials.
    """
    tops = [[2.0**k for k in np.unique(np.frexp(root)[1]).tolist()] for root in (a, b)]
    radius = max(s.radius(top) for s, side in zip((f, g), tops, strict=True) for top in side)
    of_f, of_g = (s.pieces(side[0], radius * side[-1]) for s, side in zip((f, g), tops, strict=True))
    if f is g:  # If both functions are one object, the second call may extend the first one's cached result.
        of_f = of_g
    variance = b * b * ((1 - rho) * (1 + rho))
    even = parity(f, of_f) * parity(g, of_g) == 1
    return polynomials(f, of_f), tables(g, of_g, radius, octaves(variance[variance > 0])), radius, even


def _not_finite(found: str, fix: str) -> NotFiniteError:
    return NotFiniteError(found, accepted="finite covariances", fix=fix)
