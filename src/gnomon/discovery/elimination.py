"""Removes regression terms one by one (backward elimination), for many regressions with the same terms at once.

With G^-1 = T T^* and w = G^-1 b, the term whose absence costs least goes first, and the rest is projected:

    cost_j = |w_j|^2 / |t_j|^2,    T <- T - (T q^*) q,    w <- w - (T q^*) w_j / |t_j|,    q = t_j / |t_j|       (1)

with t_j the rows of T. T is not changed: q is made orthogonal to those before it. Working on T, whose condition is the
square root of the condition of G, loses half as many digits as working on G^-1.
Hypotheses: columns of unit norm; `RIDGE_PER_TERM` times the number of terms is added to G, so that T is finite.
Reference: [golub2013matrix], section 6.5, for removing a column.
Cost: p^3 for p terms and each regression.

>>> order, cost = term_elimination_order(np.eye(2)[None], np.array([[1.0, 0.5]]))
>>> order.tolist(), cost.round(9).tolist()
([[1, 0]], [[0.25, 1.0]])
"""

import numpy as np

__all__ = ["term_elimination_order"]

RIDGE_PER_TERM = 1e-13
"""Ridge penalty for each term, far below the square of any misfit that matters."""
MIN_ROW_SHARE = 1e-13
"""Smallest share of a row's square that rounding leaves."""


def term_elimination_order(gram: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the order in which backward elimination removes terms, and how much explained variance each removal
    loses.

    Hypotheses: see the module.
    Reference: [golub2013matrix].
    Cost: see the module.

    >>> term_elimination_order(np.eye(1)[None], np.ones((1, 1)))[1].round(9).tolist()
    [[1.0]]
    """
    count, p = cross.shape
    lower = np.linalg.cholesky(gram + RIDGE_PER_TERM * p * np.eye(p))
    root = np.ascontiguousarray(np.linalg.inv(lower).conj().swapaxes(1, 2))
    weights = (root @ (root.conj().swapaxes(1, 2) @ cross[:, :, None]))[:, :, 0]
    every, gone = np.arange(count), np.zeros((count, p), dtype=bool)
    order, costs = np.zeros((count, p), dtype=np.int64), np.zeros((count, p))
    size = (np.abs(root) ** 2).sum(2)
    least, basis = MIN_ROW_SHARE * size, np.zeros_like(root)
    for k in range(p):
        cost = np.where(gone, np.inf, np.abs(weights) ** 2 / np.maximum(size, least))
        j = cost.argmin(1)
        order[:, k], costs[:, k], gone[every, j] = j, cost[every, j], True
        row = root[every, j][:, None]
        for _ in range(2):  # Two passes, because the second one removes the rounding error of the first one.
            row = row - (row @ basis[:, :k].conj().swapaxes(1, 2)) @ basis[:, :k]
        length = np.maximum(np.linalg.norm(row, axis=2), 1e-300)
        basis[:, k] = row[:, 0] / length
        along = (root @ basis[:, k].conj()[:, :, None])[:, :, 0]
        weights = weights - along * (weights[every, j][:, None] / length)
        size = size - np.abs(along) ** 2  # (1)
    return order, costs
