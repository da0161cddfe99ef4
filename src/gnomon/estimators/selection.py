"""Depth, fixed layers and ridge by leave-one-out, by evidence, or by held-out rows; one decomposition per network.

With f_{-i} the function fitted without row i, or without the rows of its fold, the scores to be lowest are

    leave-one-out, folds    sum_i w_i |y_i - f_{-i}(x_i)|^2 / sum_i w_i                                (1)
    evidence                -log p(y) / N                                                               (2)

also for classifiers, whose targets are indicators of classes: (1) is then the Brier score of the outputs, which tells
more about a few rows than their error rate. Ridges are multiples of the mean diagonal of the kernel.

Leave-one-out and evidence look at 1,500 rows at most, drawn once with a fixed seed: more of them hardly change the
choice, and cost n^3. Folds that the caller names are used as they are.

Hypotheses: those of `gnomon.linalg.shortcut`.
Reference: [rasmussen2006gaussian], chapter 5.
Cost: for every network its kernel and 9 n^3 operations, and n^2 for every ridge.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.model_selection import check_cv
from torch import Tensor

from gnomon.core.errors import InputError, lesson
from gnomon.core.record import Record
from gnomon.estimators.network import NetworkKernel
from gnomon.estimators.rows import Rows
from gnomon.linalg.shortcut import Spectrum, spectrum

EXAMINED = 1_500  # rows
DEEPEST = 5
GRID = tuple(float(f"{m}e{p}") for p in range(-7, 2) for m in (1, 3.1622776601683795))[1:]  # half decades

Score = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Selection(Record):
    """What was chosen, its score, and the best score of every other network: (depth, fixed layers, ridge, score).

    >>> print(Selection(2, 0, 0.01, 0.25, "leave-one-out", ((1, 0, 0.1, 0.3), (2, 0, 0.01, 0.25))))
    2 hidden layers, 0 fixed, ridge 0.01: the best of 2 networks by leave-one-out, with score 0.25.
    """

    depth: int
    fixed_layers: int
    ridge: float
    score: float
    criterion: str
    tried: tuple[tuple[int, int, float, float], ...]

    def __str__(self) -> str:
        head = f"{self.depth} hidden layers, {self.fixed_layers} fixed, ridge {self.ridge:.3g}"
        return f"{head}: the best of {len(self.tried)} networks by {self.criterion}, with score {self.score:.3g}."


def select(
    networks: Iterable[tuple[int, int]],
    kernel: Callable[[int, int], NetworkKernel],
    rows: Rows,
    *,
    ridges: tuple[float, ...],
    t: float,
    by: Any,
    labels: np.ndarray,
    call: str,
) -> Selection:
    """The network and the ridge of lowest score; the first of equals, and the larger ridge.

    ``by`` is "leave-one-out", "evidence", or what scikit-learn takes as ``cv``; ``labels`` are the caller's targets,
    which a splitter may want to see. Networks are trained until time ``t``.
    """
    if t < inf and isinstance(by, str) and by == "evidence":
        cure = 'Pass select="leave-one-out", or leave t out'
        raise InputError(lesson(call, f't is {t} and select is "evidence"', "a network trained to the end", cure))
    folds = None if isinstance(by, str) and by in ("leave-one-out", "evidence") else _folds(by, rows, labels, call)
    seen = rows if folds is not None else rows[examined(len(rows.x))]
    tried = []
    for depth, fixed in networks:
        gram = kernel(depth, fixed)(seen.x)
        scale = seen.mean(gram.diagonal())
        gram /= scale
        score = _held_out(gram, seen, folds, t * scale) if folds is not None else _whole(gram, seen, by, t * scale)
        tried.append((depth, fixed, *min(((r, score(r)) for r in sorted(ridges, reverse=True)), key=lambda p: p[1])))
    best = min(tried, key=lambda one: one[3])
    criterion = by if isinstance(by, str) else "held-out rows"
    return Selection(*best, criterion, tuple(tried))


def examined(n: int) -> Tensor:
    """The numbers of the rows to look at: all, or a fixed draw of them."""
    return (
        torch.arange(n) if n <= EXAMINED else torch.randperm(n, generator=torch.Generator().manual_seed(0))[:EXAMINED]
    )


def given(ridge: Any, call: str) -> float:
    """A ridge that the caller names, as a number."""
    if isinstance(ridge, bool) or not isinstance(ridge, int | float) or not isfinite(ridge) or ridge < 0:
        cure = 'Pass a number, zero or more, in units of the mean diagonal of the kernel, or "auto"'
        raise InputError(lesson(call, f"ridge is {ridge!r}", "a finite ridge", cure))
    return float(ridge)


def _whole(gram: Float[Tensor, "n n"], rows: Rows, by: str, time: float) -> Score:
    found = spectrum(gram, rows.y, rows.weights, time=time / rows.total)
    if by == "evidence":
        return lambda ridge: -found.log_evidence(ridge) / rows.total  # (2)
    return lambda ridge: float(rows.weights @ found.left_out(ridge).square().sum(1)) / rows.total  # (1)


def _held_out(gram: Float[Tensor, "n n"], rows: Rows, folds: list[tuple[Tensor, Tensor]], time: float) -> Score:
    parts = []
    for train, test in folds:
        inside, outside = rows[train], rows[test]
        center = inside.weights @ inside.y / inside.total
        found = spectrum(gram[train[:, None], train], inside.y - center, inside.weights, time=time / inside.total)
        cross = (gram[test[:, None], train] * inside.root) @ found.vectors
        parts.append((found, cross, outside.y - center, outside.weights))
    total = sum(float(weights.sum()) for *_, weights in parts)

    def error(found: Spectrum, cross: Tensor, y: Tensor, weights: Tensor, ridge: float) -> float:
        predicted = cross @ found.projected(ridge)
        return float(weights @ (y - predicted).square().sum(1))

    return lambda ridge: sum(error(*part, ridge) for part in parts) / total  # (1)


def _folds(by: Any, rows: Rows, labels: np.ndarray, call: str) -> list[tuple[Tensor, Tensor]]:
    if isinstance(by, str) or by is None:
        cure = 'Pass "leave-one-out", "evidence", a number of folds, or a splitter of scikit-learn'
        raise InputError(lesson(call, f"select is {by!r}", "a known criterion", cure))
    pairs = list(check_cv(by).split(rows.x.numpy(), labels))
    most = max(int(np.max(part, initial=0)) for pair in pairs for part in pair)
    if most >= len(rows.x):
        found = f"the splits name row {most}, and {len(rows.x)} rows have a positive weight"
        raise InputError(lesson(call, found, "splits of the rows that count", "Drop the rows of zero weight first"))
    return [(torch.as_tensor(train), torch.as_tensor(test)) for train, test in pairs]
