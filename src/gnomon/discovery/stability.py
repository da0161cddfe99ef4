"""Measures how reliably the terms of an equation are chosen, by repeating the choice on bootstrap samples.

    inclusion_j = share of replicates whose chosen support holds term j                                         (1)
    interval_j  = c_j -+ 1.96 std over replicates of c_j on the chosen support                                  (2)

Hypotheses: blocks independent of each other. (2) knows nothing of a bias from noise inside nonlinear terms.
Reference: [meinshausen2010stability], (1).
Cost: one product per block for the moments; then small matrices only.

>>> rows = np.random.default_rng(0).standard_normal((200, 3))
>>> system = RegressionSystem(rows, 2 * rows[:, 0], np.arange(200) // 10, 200.0)
>>> resample_terms(system, (0,), TermSelection(draws=20))[0].tolist()
[1.0, 0.0, 0.0]
"""

import numpy as np

from gnomon.discovery.elimination import term_elimination_order
from gnomon.discovery.forms.base import RegressionSystem
from gnomon.discovery.regression import MIN_INDEPENDENT_ROWS, TermSelection


def resample_terms(
    system: RegressionSystem, support: tuple[int, ...], selection: TermSelection
) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each term the fraction of bootstrap samples that choose it, and standard deviations of the
    coefficients.
    """
    terms = system.columns.shape[1]
    if not selection.draws:
        return np.full(terms, np.nan), np.full(len(support), np.nan)
    norms, count = np.linalg.norm(system.columns, axis=0), system.count
    norms = np.where(norms > 0, norms, 1.0)
    gram, cross, square = _by_block(system.columns / norms, system.target, system.blocks, count)
    draw = np.random.default_rng(abs(selection.seed))
    drawn = draw.integers(count, size=(selection.draws, count))
    times = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(float)
    squares = times @ square
    times, squares = times[squares > 0], squares[squares > 0]
    grams = (times @ gram.reshape(count, -1)).reshape(-1, terms, terms)
    crosses = times @ cross
    inclusion = _choose(grams, crosses, squares, system.independent, selection.floor).sum(0)  # (1)
    spread = _spread(grams, crosses, list(support)) / norms[list(support)]  # (2)
    return inclusion / selection.draws, spread


def _choose(
    grams: np.ndarray, crosses: np.ndarray, squares: np.ndarray, independent: float, floor: float
) -> np.ndarray:
    """Returns which terms elimination and the criterion choose on each bootstrap sample, as booleans
    (samples, terms).
    """
    scale = np.sqrt(np.maximum(np.einsum("rii->ri", grams).real, 1e-300))
    grams = grams / (scale[:, :, None] * scale[:, None, :])
    order, cost = term_elimination_order(grams, crosses / scale)
    after = np.cumsum(cost[:, ::-1], 1)[:, ::-1]  # squares explained by the terms left after each removal
    explained = np.concatenate([after, np.zeros((len(after), 1))], 1)
    p, m = order.shape[1], max(independent, MIN_INDEPENDENT_ROWS)
    misfit = np.maximum(1 - explained / squares[:, None], 0.0)
    best = (m * np.log(misfit + floor**2) + np.arange(p, -1, -1) * np.log(m)).argmin(1)
    kept = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(kept, order, np.arange(p) >= best[:, None], 1)
    return kept


def _spread(grams: np.ndarray, crosses: np.ndarray, support: list[int]) -> np.ndarray:
    if not support or not len(grams):
        return np.zeros(len(support))
    inner = np.linalg.pinv(grams[:, support][:, :, support], rcond=1e-14, hermitian=True)
    return np.std((inner @ crosses[:, support, None])[:, :, 0], axis=0)


def _by_block(columns: np.ndarray, target: np.ndarray, blocks: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    order = np.argsort(blocks, kind="stable")
    columns, target = columns[order], target[order]
    ends = np.asarray(np.searchsorted(blocks[order], np.arange(count + 1)))
    pieces = [(columns[a:b], target[a:b]) for a, b in zip(ends.tolist()[:-1], ends.tolist()[1:], strict=True)]
    gram = np.stack([a.conj().T @ a for a, _ in pieces])
    cross = np.stack([a.conj().T @ y for a, y in pieces])
    return gram, cross, np.array([np.vdot(y, y).real for _, y in pieces])
