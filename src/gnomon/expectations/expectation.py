"""E[f(u) g(v)] for elementwise f and g, by the cheapest road that is accurate.

For pairs that coincide, one integral. For others, of piecewise linear functions, a closed form; else Mehler's series;
each as soon as its certificate promises an error below 1e-10 sqrt(E[f(u)^2] E[g(v)^2]) (the closed form 1e-9,
in the worst case that its roundings add up). Where neither can (no series
that pays, no closed form without cancellation), the double integral. What belongs to one variance alone is computed
once per distinct variance. Threads share out the pairs.

Cost: per distinct variance 20 to 200 microseconds; per pair 0.05 to 0.3 microseconds for the series, 0.1 for each pair
of corners of the closed form and 4 for the double integral; some 50 ms once for each function.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import NotFiniteError, lesson
from gnomon.core.machine.threads import share_out
from gnomon.expectations.line import Sampler
from gnomon.expectations.linear import Road, road
from gnomon.expectations.mehler import LEVELS, Coefficients, coefficients
from gnomon.expectations.polar import ALIGNED
from gnomon.expectations.smoothing import Tables, double_integrals, octaves, parity, polynomials, tables

ALIGNED_FROM = 1 - ALIGNED * float(np.finfo(np.float64).eps)  # correlations that are taken for one
CERTIFIED = 1e-10  # of sqrt(E[f^2] E[g^2])
CLOSED = 1e-9  # the same for closed forms of piecewise linear functions, whose rounding is all the error they have
NEAR = 3e-6  # seconds of a double integral
TERM = 4e-7  # seconds of a coefficient of one variance
SLOW, PART = 0.7, 0.3  # correlations from which a short series ends, and how many pairs make the closed form worth it
FEW = 1e-3  # of the pairs may be left to double integrals by the closed form
SAMPLE = 4096  # pairs that are looked at to choose the length of the series
AT_ONCE = 2**17  # pairs whose indices are held
COLUMNS = 64  # of a matrix, whose pairs with all rows are taken together
TASK, INTEGRALS = 2**13, 2**10  # pairs of a task


def expectation(f: Sampler, g: Sampler, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """E[f(u) g(v)] for (u, v) ~ N(0, [[a, c], [c, b]]), of the shape that a, b and c broadcast to; no gradient.

    Hypotheses: f and g piecewise analytic, with finite second moments; float64; c^2 <= a b up to rounding.
    Cost: see the module.

    >>> one = torch.ones((), dtype=torch.float64)
    >>> expectation(Sampler(torch.sin), Sampler(torch.sin), one, one, one / 2)
    tensor(0.1917, dtype=torch.float64)
    """
    shape, device = torch.broadcast_shapes(a.shape, b.shape, c.shape), c.device
    result = torch.empty(shape, dtype=torch.float64)
    if not result.numel():
        return result.to(device)
    a, b, c = (t.detach().cpu() for t in (a, b, c))
    if not all(_finite(t) for t in (a, b, c)):
        raise _not_finite("an argument is not finite", "Look for the first layer whose covariance is not")
    pairs = _Pairs(*_distinct(a), *_distinct(b), c.expand(shape))
    work = _Work.of(f, g, pairs)
    mirrored = f is g and pairs.mirrored()
    for where in _blocks(shape, mirrored):
        found = work.values(where)
        result[where] = found
        if mirrored:
            result.T[where] = found
    if not _finite(result):
        raise _not_finite("an expectation is not finite", "Use a function that is finite on the whole line")
    return result.to(device)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Distinct standard deviations, which of them each entry of a and of b has, and the covariances of all pairs."""

    root_a: Float[Tensor, " n"]
    index_a: Tensor
    root_b: Float[Tensor, " m"]
    index_b: Tensor
    covariance: Tensor

    def at(self, where: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Indices and covariances of some pairs."""
        i, j = (t.expand(self.covariance.shape)[where] for t in (self.index_a, self.index_b))
        return i.reshape(-1).numpy(), j.reshape(-1).numpy(), self.covariance[where].reshape(-1).numpy()

    def some(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Indices and absolute correlations of pairs all over."""
        count = self.covariance.numel()
        place = torch.linspace(0, count - 1, min(SAMPLE, count), dtype=torch.float64).long()
        i, j, c = self.at(torch.unravel_index(place, self.covariance.shape) if self.covariance.dim() else ...)
        return i, j, np.minimum(np.abs(c * _inverse(self.root_a)[i] * _inverse(self.root_b)[j]), 1.0)

    def mirrored(self) -> bool:
        """Whether the pairs are those of points among themselves."""
        n = len(self.covariance) if self.covariance.dim() == 2 else 0
        if self.index_a.shape != (n, 1) or self.index_b.shape != (1, n):
            return False
        same = torch.equal(self.index_a, self.index_b.T) and torch.equal(self.root_a, self.root_b)
        return same and torch.equal(self.covariance, self.covariance.T)


def _blocks(shape: torch.Size, mirrored: bool) -> Iterator[Any]:
    """Runs of rows; of a matrix, of few columns, whose coefficients stay in a cache; of a mirror image, one half."""
    if not shape:
        yield ...
        return
    if len(shape) > 2 or len(shape) == 1:
        many = max(1, AT_ONCE // (shape.numel() // shape[0]))
        yield from (slice(start, start + many) for start in range(0, shape[0], many))
        return
    for left in range(0, shape[1], COLUMNS):
        for top in range(left if mirrored else 0, shape[0], AT_ONCE // COLUMNS):
            yield slice(top, top + AT_ONCE // COLUMNS), slice(left, left + COLUMNS)


def _distinct(variance: Tensor) -> tuple[Tensor, Tensor]:
    values, index = variance.clamp(min=0).unique(return_inverse=True)
    return values.sqrt(), index.view(variance.shape).to(torch.int32)


@dataclass(frozen=True, slots=True)
class _Work:
    """Functions, pairs, the road that most of them take, and E[f(u)^2] as ``second_moment`` gives it."""

    f: Sampler
    g: Sampler
    pairs: _Pairs
    road: Road
    own: np.ndarray

    @classmethod
    def of(cls, f: Sampler, g: Sampler, pairs: _Pairs) -> "_Work":
        """By the closed form of piecewise linear functions where it pays, else by the series."""
        closed = road(f, g, pairs.root_a, pairs.root_b, certified=CLOSED, aligned=ALIGNED_FROM)
        if closed is not None and _pays(closed[0], pairs):
            return cls(f, g, pairs, *closed)
        return cls(f, g, pairs, *_series(f, g, pairs))

    def values(self, where: Any) -> Tensor:
        """The road, and then double integrals where it gives no value."""
        i, j, c = self.pairs.at(where)
        out, rho = np.empty(c.shape), np.empty(c.shape)

        def summed(task: slice, room: None) -> int:
            return self.road(i[task], j[task], c[task], rho[task], out[task])

        if sum(share_out(summed, _tasks(len(c), TASK), lambda: None, None)):
            near = np.flatnonzero(np.isnan(out))
            out[near] = self._integrals(i[near], j[near], rho[near])
        return torch.from_numpy(out).view(self.pairs.covariance[where].shape)

    def _integrals(self, i: np.ndarray, j: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """Double integrals; single ones where u = v."""
        out = np.empty(rho.shape)
        a, b = self.pairs.root_a.numpy()[i], self.pairs.root_b.numpy()[j]
        same = (rho == 1) & (a == b) & (self.f is self.g)
        out[same] = self.own[i[same]]
        rest = np.flatnonzero(~same)
        if not len(rest):
            return out
        a, b, rho = a[rest], b[rest], rho[rest]
        if self.f is self.g:
            a, b = np.minimum(a, b), np.maximum(a, b)  # one road for (u, v) and (v, u)
        polynomial, table, radius, even = _tables(self.f, self.g, a, b, rho)
        found = np.empty(len(rest))

        def integrated(task: slice, room: None) -> None:
            found[task] = double_integrals(polynomial, table, radius, a[task], b[task], rho[task], even=even)

        share_out(integrated, _tasks(len(rest), INTEGRALS), lambda: None, None)
        out[rest] = found
        return out


def _pays(closed: Road, pairs: _Pairs) -> bool:
    """Whether a closed form is certified nearly everywhere, and a short series is not for a good part of the pairs."""
    i, j, rho = pairs.some()
    if float((rho > SLOW).mean()) < PART:
        return False
    covariance = rho * pairs.root_a.numpy()[i] * pairs.root_b.numpy()[j]
    left = closed(i, j, covariance, np.empty(len(i)), np.empty(len(i)))
    return left <= int((rho >= ALIGNED_FROM).sum()) + FEW * len(i)


def _series(f: Sampler, g: Sampler, pairs: _Pairs) -> tuple[Road, np.ndarray]:
    """Mehler's series, as long as pays: a longer one must save more double integrals than it costs; and E[f^2]."""
    i, j, rho = pairs.some()
    shared = f is g and torch.equal(pairs.root_a, pairs.root_b)
    count = len(pairs.root_a) + (0 if shared else len(pairs.root_b))

    def made(terms: int) -> tuple[Coefficients, Coefficients]:
        first = coefficients(f, pairs.root_a, terms)
        return first, first if shared else coefficients(g, pairs.root_b, terms)

    few = made(LEVELS[0])
    tail = few[0].tail[i, -1] * few[1].tail[j, -1]

    def price(terms: int) -> float:
        left = (rho < ALIGNED_FROM) & (rho**terms * tail > CERTIFIED)
        more = terms * count * TERM if terms > LEVELS[0] else 0.0
        return more + float(left.mean()) * pairs.covariance.numel() * NEAR

    best = min(LEVELS, key=price)
    of_f, of_g = few if best == LEVELS[0] else made(best)
    a, b = _inverse(pairs.root_a), _inverse(pairs.root_b)

    def summed(i: np.ndarray, j: np.ndarray, c: np.ndarray, rho: np.ndarray, out: np.ndarray) -> int:
        from gnomon.expectations.loops import sums

        return int(sums(i, j, c, a, b, of_f.alpha, of_g.alpha, of_f.tail, of_g.tail, CERTIFIED, ALIGNED_FROM, rho, out))

    return summed, few[0].second  # from the panels of ``second_moment``: equal to the last digit


def _tasks(count: int, size: int) -> list[slice]:
    return [slice(k, k + size) for k in range(0, count, size)]


def _inverse(root: Tensor) -> np.ndarray:
    """1 / root, and 0 for 0."""
    return torch.where(root > 0, 1 / root, 0).numpy()


def _finite(t: Tensor) -> bool:
    """Whether all numbers are finite, without a copy."""
    least, most = torch.aminmax(t)
    return bool(torch.isfinite(least) & torch.isfinite(most))


def _tables(
    f: Sampler, g: Sampler, a: np.ndarray, b: np.ndarray, rho: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], Tables, int, bool]:
    """What double integrals need: the polynomials of f, the smoothings of g, how far variables run, their parity."""
    tops = [[2.0**k for k in np.unique(np.frexp(root)[1]).tolist()] for root in (a, b)]
    radius = max(s.radius(top) for s, side in zip((f, g), tops, strict=True) for top in side)
    of_f, of_g = (s.pieces(side[0], radius * side[-1]) for s, side in zip((f, g), tops, strict=True))
    if f is g:  # the second call may have widened what the first has found
        of_f = of_g
    variance = b * b * ((1 - rho) * (1 + rho))
    even = parity(f, of_f) * parity(g, of_g) == 1
    return polynomials(f, of_f), tables(g, of_g, radius, octaves(variance[variance > 0])), radius, even


def _not_finite(found: str, cure: str) -> NotFiniteError:
    return NotFiniteError(lesson("Quadrature.dual(a, b, c)", found, "covariances are finite numbers", cure))
