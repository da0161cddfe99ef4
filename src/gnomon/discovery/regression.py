"""Sparse regression: the supports that thresholding and elimination pass through, and the criterion that chooses one.

Columns have unit norm, and y unit norm as well.

    ridge, then drop |w_j| < tol and repeat:  w = argmin |A w - y|^2 + ridge |w|^2                               (1)
    drop the term whose absence costs least:  cost_j = |w_j|^2 / (G^-1)_jj,    G = A^* A                         (2)
    criterion(S) = m log(RSS(S) / |y|^2 + floor^2) + |S| log m,    m independent rows                            (3)

(3) is the Bayesian information criterion with a floor: misfits below ``floor`` times the target are numerical, and no
term is paid for them.
Hypotheses: few terms; m rows with independent errors of one size.
Reference: [rudy2017data], (1); [schwarz1978estimating], (3) without its floor.
Cost: (2) inverts a matrix of the library's size once for each term.

>>> A = np.eye(4)[:, :3]
>>> choice(Moments.of(A, np.array([1.0, 0.5, 0.0, 0.0]), 100.0), Selection()).support
(0, 1)
"""

from dataclasses import dataclass

import numpy as np

from gnomon.core.checks import integer, number
from gnomon.core.record import Record

__all__ = ["Candidate", "Selection", "bic_path", "stridge"]


LEAST = 2.718
"""Independent rows at least in (3), so that a term costs something."""
TINY = 1e-12
"""Ridge that keeps the inverse of a drawn Gram matrix finite."""


@dataclass(frozen=True, slots=True)
class Selection(Record):
    """How terms are chosen: thresholds and ridge of (1), floor of (3), replicates of the bootstrap and their seed.

    >>> Selection(floor=0.01).replicates
    50
    """

    floor: float = 2e-3
    ridge: float = 1e-6
    thresholds: int = 24
    replicates: int = 50
    seed: int = 0

    def checked(self, call: str) -> "Selection":
        """The same, refused where a number is out of range."""
        number("floor", self.floor, call=call, above=0)
        number("ridge", self.ridge, call=call, above=-1e-300)
        integer("thresholds", self.thresholds, call=call)
        integer("replicates", self.replicates, call=call, least=0)
        return self


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """A support that was met on the way: its terms by number, its relative misfit, its criterion (3).

    >>> Candidate((0, 2), 0.01, -8.0).support
    (0, 2)
    """

    support: tuple[int, ...]
    misfit: float
    criterion: float


@dataclass(frozen=True, slots=True, eq=False)
class Moments(Record):
    """All that the regression needs of its rows: G = A^* A, A^* y, |y|^2 for normalized columns, and m.

    Supports, not coefficients, are found from these: coefficients come from the rows themselves.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: float
    independent: float

    @classmethod
    def of(cls, columns: np.ndarray, target: np.ndarray, independent: float) -> "Moments":
        norms = np.linalg.norm(columns, axis=0)
        scaled = columns / np.where(norms > 0, norms, 1.0)
        cross = scaled.conj().T @ target
        return cls(scaled.conj().T @ scaled, cross, float(np.vdot(target, target).real), independent)

    def weights(self, support: tuple[int, ...], ridge: float = 0.0) -> np.ndarray:
        """Ridge coefficients of the terms of a support, in units of the normalized columns."""
        chosen = list(support)
        inner = self.gram[np.ix_(chosen, chosen)] + ridge * np.eye(len(chosen))
        return np.linalg.lstsq(inner, self.cross[chosen], rcond=1e-14)[0]

    def candidate(self, support: tuple[int, ...], floor: float) -> Candidate:
        """A support with its misfit and the criterion (3)."""
        explained = float(np.vdot(self.cross[list(support)], self.weights(support)).real) if support else 0.0
        misfit = max(1 - explained / self.square, 0.0) if self.square > 0 else 0.0
        m = max(self.independent, LEAST)
        return Candidate(
            support, misfit**0.5, m * float(np.log(misfit + floor**2)) + len(support) * float(np.log(m))
        )  # (3)


def stridge(moments: Moments, tolerance: float, ridge: float) -> tuple[int, ...]:
    """The support that sequential thresholded ridge (1) ends at; the tolerance is a share of the target's norm.

    Hypotheses: columns of unit norm.
    Reference: [rudy2017data], Algorithm 1.
    Cost: a linear system of the library's size for each round.

    >>> stridge(Moments.of(np.eye(3), np.array([1.0, 0.01, 0.0]), 3.0), 0.1, 0.0)
    (0,)
    """
    support = tuple(range(len(moments.cross)))
    size = moments.square**0.5
    while support:
        kept = np.abs(moments.weights(support, ridge)) >= tolerance * size  # (1)
        if kept.all():
            break
        support = tuple(j for j, keep in zip(support, kept, strict=True) if keep)
    return support


def bic_path(columns: np.ndarray, target: np.ndarray, selection: Selection | None = None) -> tuple[Candidate, ...]:
    """The best candidate (3) of each size among all supports that (1) and (2) pass through, from large to small.

    Hypotheses: as in the module; every row counts as independent.
    Reference: [schwarz1978estimating].
    Cost: one inverse for each term.

    >>> [c.support for c in bic_path(np.eye(3), np.array([1.0, 0.5, 0.0]))]
    [(0, 1, 2), (0, 1), (0,), ()]
    """
    return path(Moments.of(columns, target, float(len(target))), selection or Selection())


def path(moments: Moments, selection: Selection) -> tuple[Candidate, ...]:
    """As `bic_path`, from moments."""
    supports = set(_eliminated(moments))
    if selection.thresholds > 1:
        supports |= {stridge(moments, float(t), selection.ridge) for t in np.geomspace(1e-4, 1, selection.thresholds)}
    best: dict[int, Candidate] = {}
    for support in supports:
        candidate = moments.candidate(support, selection.floor)
        if len(support) not in best or candidate.criterion < best[len(support)].criterion:
            best[len(support)] = candidate
    return tuple(best[size] for size in sorted(best, reverse=True))


def choice(moments: Moments, selection: Selection) -> Candidate:
    """The best candidate of the path, then of its neighbors: one term more, one less, or one exchanged."""
    best = min(path(moments, selection), key=lambda candidate: candidate.criterion)
    while True:
        around = [
            moments.candidate(support, selection.floor) for support in _neighbors(best.support, len(moments.cross))
        ]
        nearest = min(around, key=lambda candidate: candidate.criterion, default=best)
        if nearest.criterion >= best.criterion - 1e-9:
            return best
        best = nearest


def fast_choice(moments: Moments, floor: float) -> tuple[int, ...]:
    """The best support that elimination (2) passes through, with one inverse that shrinks by a rank at each step."""
    alive = list(range(len(moments.cross)))
    inverse = np.linalg.inv(moments.gram + TINY * np.eye(len(alive)))
    weights = inverse @ moments.cross
    left = moments.square - float(np.vdot(moments.cross, weights).real)
    m = max(moments.independent, LEAST)
    best, lowest = tuple(alive), np.inf
    while True:
        criterion = m * np.log(max(left, 0.0) / moments.square + floor**2) + len(alive) * np.log(m)  # (3)
        if criterion < lowest:
            best, lowest = tuple(alive), criterion
        if not alive:
            return best
        cost = np.abs(weights) ** 2 / np.maximum(np.diag(inverse).real, 1e-300)
        j = int(cost.argmin())
        left += float(cost[j])
        column = inverse[:, j] / inverse[j, j]
        keep = [i for i in range(len(alive)) if i != j]
        weights = (weights - column * weights[j])[keep]
        inverse = (inverse - np.outer(column, inverse[j]))[np.ix_(keep, keep)]
        alive.pop(j)


def _eliminated(moments: Moments) -> list[tuple[int, ...]]:
    """The supports of (2), from all terms to none."""
    support = list(range(len(moments.cross)))
    found = [tuple(support)]
    while support:
        inverse = np.linalg.pinv(moments.gram[np.ix_(support, support)], rcond=1e-14, hermitian=True)
        weights = inverse @ moments.cross[support]
        cost = np.abs(weights) ** 2 / np.maximum(np.diag(inverse).real, 1e-300)  # (2)
        support.pop(int(cost.argmin()))
        found.append(tuple(support))
    return found


def _neighbors(support: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    outside = [j for j in range(size) if j not in support]
    less = [tuple(i for i in support if i != j) for j in support]
    more = [tuple(sorted((*support, j))) for j in outside]
    return less + more + [tuple(sorted((*rest, j))) for rest in less for j in outside]
