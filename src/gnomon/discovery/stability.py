"""What a choice of terms is worth: blocks of rows are drawn again and again, and the choice is repeated.

    inclusion_j = share of replicates whose chosen support holds term j                                         (1)
    interval_j  = c_j -+ 1.96 std over replicates of c_j on the chosen support                                  (2)

Hypotheses: blocks independent of each other. (2) knows nothing of a bias from noise inside nonlinear terms.
Reference: [meinshausen2010stability], (1).
Cost: one product per block for the moments; then small matrices only.

>>> rows = np.random.default_rng(0).standard_normal((200, 3))
>>> system = System(rows, 2 * rows[:, 0], np.arange(200) // 10, 200.0)
>>> resampled(system, (0,), Selection(replicates=20))[0].tolist()
[1.0, 0.0, 0.0]
"""

import numpy as np

from gnomon.discovery.forms.base import System
from gnomon.discovery.regression import Moments, Selection, fast_choice


def resampled(system: System, support: tuple[int, ...], selection: Selection) -> tuple[np.ndarray, np.ndarray]:
    """Inclusion probabilities (1) of all terms, and standard deviations of the coefficients on a support, for (2)."""
    terms = system.columns.shape[1]
    if not selection.replicates:
        return np.full(terms, np.nan), np.full(len(support), np.nan)
    norms = np.linalg.norm(system.columns, axis=0)
    norms = np.where(norms > 0, norms, 1.0)
    gram, cross, square = _by_block(system.columns / norms, system.target, system.blocks, system.count)
    draw = np.random.default_rng(abs(selection.seed))
    inclusion, found = np.zeros(terms), []
    for _ in range(selection.replicates):
        times = np.bincount(draw.integers(system.count, size=system.count), minlength=system.count).astype(float)
        moments = Moments(
            np.tensordot(times, gram, 1), np.tensordot(times, cross, 1), float(times @ square), system.independent
        )
        if moments.square <= 0:
            continue
        inclusion[list(fast_choice(_normalized(moments), selection.floor))] += 1  # (1)
        found.append(moments.weights(support) / norms[list(support)])
    spread = np.std(found, axis=0) if found and support else np.zeros(len(support))  # (2)
    return inclusion / selection.replicates, spread


def _by_block(columns: np.ndarray, target: np.ndarray, blocks: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    order = np.argsort(blocks, kind="stable")
    columns, target = columns[order], target[order]
    ends = np.asarray(np.searchsorted(blocks[order], np.arange(count + 1)))
    pieces = [(columns[a:b], target[a:b]) for a, b in zip(ends.tolist()[:-1], ends.tolist()[1:], strict=True)]
    gram = np.stack([a.conj().T @ a for a, _ in pieces])
    cross = np.stack([a.conj().T @ y for a, y in pieces])
    return gram, cross, np.array([np.vdot(y, y).real for _, y in pieces])


def _normalized(moments: Moments) -> Moments:
    scale = np.sqrt(np.maximum(np.diag(moments.gram).real, 1e-300))
    return Moments(moments.gram / np.outer(scale, scale), moments.cross / scale, moments.square, moments.independent)
