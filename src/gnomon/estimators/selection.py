"""Chooses depth, number of untrained layers and ridge penalty by leave-one-out error, Bayesian evidence, or held-out
rows.

Let f_{-i} be the function fitted without row i, or without the rows of its fold. The scores to minimize are

    leave-one-out, folds    sum_i w_i |y_i - f_{-i}(x_i)|^2 / sum_i w_i                                (1)
    evidence                -log p(y) / N                                                               (2)

also for classifiers, whose targets are indicators of classes: (1) is then the Brier score of the outputs, which is
more informative on few rows than the error rate. Ridges are multiples of the mean diagonal of the kernel.

Leave-one-out and evidence use 1,500 rows at most, drawn once with a fixed seed: more rows hardly change the
choice but cost n^3. Folds of the caller are used unchanged. The Gram matrix of the best network is kept, so
that the fit need not compute it again.

Hypotheses: see `gnomon.linalg.ridge_modes`.
Reference: [rasmussen2006gaussian], chapter 5.
Cost: for every network its kernel and 9 n^3 operations, and n^2 for every ridge.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import check_cv
from torch import Tensor

from gnomon.core.errors import InputError, out_of_range_error
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.estimators.network import NetworkKernel
from gnomon.estimators.problem import KernelRegression
from gnomon.estimators.table import TableRows
from gnomon.linalg.ridge_modes import RidgeModes, ridge_modes

MAX_DEPTH = 5
"""Largest number of hidden layers to try."""
GRID = tuple(float(f"{m}e{p}") for p in range(-7, 2) for m in (1, 3.1622776601683795))[1:]  # half decades

Score = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Selection(Result):
    """Result: the network and ridge penalty chosen for an estimator, with their score and the scores of other networks.

    >>> print(Selection(2, 0, 0.01, 0.25, "leave-one-out", ((1, 0, 0.1, 0.3), (2, 0, 0.01, 0.25))))
    2 hidden layers, 0 of them fixed, ridge 0.01: the best of 2 networks by leave-one-out, with score 0.25.
    """

    depth: int
    fixed_layers: int
    ridge: float
    score: float
    criterion: str
    tried: tuple[tuple[int, int, float, float], ...]

    @property
    def verdict(self) -> str:
        """Names the chosen network and ridge penalty in one sentence."""
        head = f"{self.depth} hidden layers, {self.fixed_layers} of them fixed, ridge {self.ridge:.3g}"
        return f"{head}: the best of {len(self.tried)} networks by {self.criterion}, with score {self.score:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the best score of every network that was tried."""
        names = [f"{depth} hidden layers, {fixed} of them fixed" for depth, fixed, *_ in self.tried]
        bars = Bars("score", names, [score for *_, score in self.tried])
        return (Plot("Choice of the network", (bars,), Axis(f"score by {self.criterion}"), caption="Lower is better."),)


def select(
    candidates: Iterable[tuple[int, int]],
    kernel: Callable[..., NetworkKernel],
    rows: TableRows,
    *,
    ridges: tuple[float, ...],
    t: float,
    by: Any,
    labels: np.ndarray,
) -> tuple[Selection, KernelRegression]:
    """Returns the network and ridge penalty with the lowest score, and the kernel regression problem of that network.

    For equal scores, the first network and the larger ridge win. ``candidates`` are pairs of depth and fixed layers,
    which ``kernel(depth=..., fixed_layers=...)`` turns into kernels;
    ``by`` is "leave-one-out", "evidence", or anything that scikit-learn accepts as ``cv``; ``labels`` are the
    caller's targets,
    which a splitter may need. Networks are trained until time ``t``.
    """
    if t < inf and isinstance(by, str) and by == "evidence":
        fix = 'Pass select="leave-one-out", or omit t'
        raise InputError(f't is {t} and select is "evidence"', accepted="a network trained to the end", fix=fix)
    folds = None if isinstance(by, str) and by in ("leave-one-out", "evidence") else _folds(by, rows, labels)
    tried: list[tuple[int, int, float, float]] = []
    best: tuple[tuple[int, int, float, float], KernelRegression] | None = None
    for depth, fixed in candidates:
        regression = KernelRegression(kernel(depth=depth, fixed_layers=fixed), rows, t)
        score = _held_out_score(regression, folds) if folds is not None else _score(regression.examined(), by)
        ridge, value = min(((r, score(r)) for r in sorted(ridges, reverse=True)), key=lambda pair: pair[1])
        tried.append((depth, fixed, ridge, value))
        if best is None or value < best[0][3]:
            best = tried[-1], regression
    assert best is not None  # At least one candidate was tried, so there is a best one.
    return Selection(*best[0], by if isinstance(by, str) else "held-out rows", tuple(tried)), best[1]


def _score(regression: KernelRegression, by: str) -> Score:
    modes, rows = regression.modes, regression.rows
    if by == "evidence":
        return lambda ridge: -modes.log_evidence(ridge) / rows.total  # (2)
    return lambda ridge: float(rows.weights @ modes.left_out(ridge).square().sum(1)) / rows.total  # (1)


def _held_out_score(regression: KernelRegression, folds: list[tuple[Tensor, Tensor]]) -> Score:
    rows, matrix, scale = regression.rows, regression.gram, regression.scale
    gram, time = matrix / scale, regression.t * scale
    parts = []
    for train, test in folds:
        inside, outside = rows[train], rows[test]
        center = inside.weights @ inside.y / inside.total
        modes = ridge_modes(gram[train[:, None], train], inside.y - center, inside.weights, time=time / inside.total)
        cross = (gram[test[:, None], train] * inside.root) @ modes.vectors
        parts.append((modes, cross, outside.y - center, outside.weights))
    total = sum(float(weights.sum()) for *_, weights in parts)

    def error(modes: RidgeModes, cross: Tensor, y: Tensor, weights: Tensor, ridge: float) -> float:
        predicted = cross @ modes.eigen_coefficients(ridge)
        return float(weights @ (y - predicted).square().sum(1))

    return lambda ridge: sum(error(*part, ridge) for part in parts) / total  # (1)


def _folds(by: Any, rows: TableRows, labels: np.ndarray) -> list[tuple[Tensor, Tensor]]:
    if isinstance(by, str) or by is None:
        accepted = '"leave-one-out", "evidence", a number of folds, or a splitter of scikit-learn'
        raise out_of_range_error("select", accepted, by)
    pairs = list(check_cv(by).split(rows.x.numpy(), labels))
    most = max(int(np.max(part, initial=0)) for pair in pairs for part in pair)
    if most >= len(rows):
        what = f"the splits contain row {most}, but only {len(rows)} rows have a positive weight"
        raise InputError(
            what, accepted=("splits of the rows with positive weight"), fix="Drop the rows of zero weight first"
        )
    return [(torch.as_tensor(train), torch.as_tensor(test)) for train, test in pairs]
