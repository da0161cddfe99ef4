"""Selects few terms for a regression: candidate sets by thresholding and elimination, and a criterion (BIC).

Columns have unit norm, and y unit norm as well.

    ridge, then drop |w_j| < tol and repeat:  w = argmin |A w - y|^2 + ridge |w|^2                               (1)
    drop the term whose absence costs least:  cost_j = |w_j|^2 / (G^-1)_jj,    G = A^* A                         (2)
    criterion(S) = m log(RSS(S) / |y|^2 + floor^2) + |S| log m,    m independent rows                            (3)

(3) is the Bayesian information criterion with a floor: misfits below ``floor`` times the target are numerical, and no
term is paid for them.
Hypotheses: few terms; m rows with independent errors of one size.
Reference: [rudy2017data], (1); [schwarz1978estimating], (3) without its floor.
Cost: (2) as `term_elimination_order`.

>>> A = np.eye(4)[:, :3]
>>> choice(RegressionMoments.of(A, np.array([1.0, 0.5, 0.0, 0.0]), 100.0), TermSelection()).support
(0, 1)
"""

from dataclasses import dataclass

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.results.record import Record
from gnomon.discovery.elimination import term_elimination_order

__all__ = ["CandidateTerms", "TermSelection", "best_terms_by_count", "thresholded_ridge"]


MIN_INDEPENDENT_ROWS = 2.718
"""Minimum number of independent rows in (3), so that every term has a cost."""
MIN_SQUARED_DISTANCE = 1e-12
"""A column whose squared distance from the span of others is smaller counts as their linear combination."""


@dataclass(frozen=True, slots=True)
class TermSelection(Record):
    """Options of term selection: smallest relative error, ridge penalty, number of thresholds, bootstrap draws, seed.

    >>> TermSelection(floor=0.01).draws
    50
    """

    floor: float = 2e-3
    ridge: float = 1e-6
    thresholds: int = 24
    draws: int = 50
    seed: int = 0

    def checked(self) -> "TermSelection":
        """Returns the options of term selection after checking that every number is in range."""
        check_number("floor", self.floor, above=0)
        check_number("ridge", self.ridge, above=-1e-300)
        check_integer("thresholds", self.thresholds)
        check_integer("draws", self.draws, least=0)
        return self


@dataclass(frozen=True, slots=True)
class CandidateTerms(Record):
    """A candidate set of terms for an equation: their indices, the unexplained part, and the selection criterion.

    See equation (3) of the module docstring.

    >>> CandidateTerms((0, 2), 0.01, -8.0).support
    (0, 2)
    """

    support: tuple[int, ...]
    misfit: float
    criterion: float


@dataclass(frozen=True, slots=True, eq=False)
class RegressionMoments(Record):
    """Sums over the rows of a regression from which all fits follow: products of columns with each other and the
    target.

    Supports, not coefficients, are found from these: coefficients come from the rows themselves.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: float
    independent: float

    @classmethod
    def of(cls, columns: np.ndarray, target: np.ndarray, independent: float) -> "RegressionMoments":
        norms = np.linalg.norm(columns, axis=0)
        scaled = columns / np.where(norms > 0, norms, 1.0)
        cross = scaled.conj().T @ target
        return cls(scaled.conj().T @ scaled, cross, float(np.vdot(target, target).real), independent)

    def weights(self, support: tuple[int, ...], ridge: float = 0.0) -> np.ndarray:
        """Returns the ridge regression coefficients of a set of terms, for columns of norm one."""
        chosen = list(support)
        inner = self.gram[np.ix_(chosen, chosen)] + ridge * np.eye(len(chosen))
        if ridge > 0:
            return np.linalg.solve(inner, self.cross[chosen])
        return np.linalg.lstsq(inner, self.cross[chosen], rcond=1e-14)[0]

    def misfits_with(self, support: tuple[int, ...]) -> np.ndarray:
        """Returns, for every other term, the squared unexplained part if this term is added to a set of terms."""
        chosen = list(support)
        w = self.weights(support)
        inner, rows = self.gram[np.ix_(chosen, chosen)], self.gram[chosen]
        left = self.square - float(np.vdot(self.cross[chosen], w).real)
        solved = np.linalg.pinv(inner, rcond=1e-14, hermitian=True) @ rows if chosen else rows
        apart = np.diag(self.gram).real - np.sum(rows.conj() * solved, 0).real
        missed = np.abs(self.cross - rows.conj().T @ w) ** 2 if chosen else np.abs(self.cross) ** 2
        gain = np.where(apart > MIN_SQUARED_DISTANCE, missed / np.maximum(apart, MIN_SQUARED_DISTANCE), 0.0)
        found = np.maximum(left - gain, 0.0) / max(self.square, 1e-300)
        found[chosen] = np.inf
        return found

    def candidate(self, support: tuple[int, ...], floor: float) -> CandidateTerms:
        """Returns a set of terms together with its unexplained part and its selection criterion.

        See equation (3) of the module docstring.
        """
        explained = float(np.vdot(self.cross[list(support)], self.weights(support)).real) if support else 0.0
        misfit = max(1 - explained / self.square, 0.0) if self.square > 0 else 0.0
        m = max(self.independent, MIN_INDEPENDENT_ROWS)
        return CandidateTerms(
            support, misfit**0.5, m * float(np.log(misfit + floor**2)) + len(support) * float(np.log(m))
        )  # (3)


def thresholded_ridge(moments: RegressionMoments, tolerance: float, ridge: float) -> tuple[int, ...]:
    """Returns the terms that remain after repeated ridge regression and removal of small coefficients.

    See equation (1) of the module docstring.
    Hypotheses: columns of unit norm.
    Reference: [rudy2017data], Algorithm 1.
    Cost: a linear system of the library's size for each round.

    >>> thresholded_ridge(RegressionMoments.of(np.eye(3), np.array([1.0, 0.01, 0.0]), 3.0), 0.1, 0.0)
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


@add_call_to_errors
def best_terms_by_count(
    columns: np.ndarray, target: np.ndarray, selection: TermSelection | None = None
) -> tuple[CandidateTerms, ...]:
    """Returns, for each number of terms, the best set of terms found by thresholding and backward elimination.

    See equations (1) and (2) of the module docstring.
    Hypotheses: as in the module; every row counts as independent.
    Reference: [schwarz1978estimating].
    Cost: the cube of the number of terms.

    >>> [c.support for c in best_terms_by_count(np.eye(3), np.array([1.0, 0.5, 0.0]))]
    [(0, 1, 2), (0, 1), (0,), ()]
    """
    return path(RegressionMoments.of(columns, target, float(len(target))), selection or TermSelection())


def path(moments: RegressionMoments, selection: TermSelection) -> tuple[CandidateTerms, ...]:
    """Returns the best set of terms for each number of terms, computed from sums over the regression's rows."""
    order = term_elimination_order(moments.gram[None], moments.cross[None])[0][0].tolist()
    supports = {tuple(sorted(order[k:])) for k in range(len(order) + 1)}  # (2)
    if selection.thresholds > 1:
        supports |= {
            thresholded_ridge(moments, float(t), selection.ridge) for t in np.geomspace(1e-4, 1, selection.thresholds)
        }
    best: dict[int, CandidateTerms] = {}
    for support in supports:
        candidate = moments.candidate(support, selection.floor)
        if len(support) not in best or candidate.criterion < best[len(support)].criterion:
            best[len(support)] = candidate
    return tuple(best[size] for size in sorted(best, reverse=True))


def choice(
    moments: RegressionMoments, selection: TermSelection, known: tuple[CandidateTerms, ...] | None = None
) -> CandidateTerms:
    """Returns the set of terms with the best criterion, improved by adding, removing and exchanging single terms."""
    best = min(known or path(moments, selection), key=lambda candidate: candidate.criterion)
    while True:
        bases = [best.support, *(tuple(i for i in best.support if i != j) for j in best.support)]
        around = [moments.candidate(base, selection.floor) for base in bases[1:]]
        for base in bases:
            j = int(np.argmin(more := moments.misfits_with(base)))
            if np.isfinite(more[j]):
                around.append(moments.candidate(tuple(sorted((*base, j))), selection.floor))
        nearest = min(around, key=lambda candidate: candidate.criterion, default=best)
        if nearest.criterion >= best.criterion - 1e-9:
            return best
        best = nearest
