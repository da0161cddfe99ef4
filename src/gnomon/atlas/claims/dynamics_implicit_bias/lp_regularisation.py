"""An L1 penalty sets coefficients exactly to zero; an L2 penalty only shrinks them.

For orthonormal columns Q, |y - Q a|^2 = |Q^T y - a|^2 + const, so the coefficients a_j separate. With c = Q^T y:

    p = 1: a_j = sign(c_j) max(|c_j| - r/2, 0),    p = 2: a_j = c_j / (1 + r)                                 (1)
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, degree, seed):
    """Returns monomials at random points of [-1, 1], and noisy values of a sine."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-1, 1, n))
    return np.vander(x, degree + 1, increasing=True), np.sin(4 * x) + 0.3 * rng.normal(size=n)


def predicted(n, degree, penalties, seed):
    """Returns the best coefficients with L1 and with L2 penalty, for each strength, then their numbers of zeros."""
    powers, y = problem(n, degree, seed)
    q, r = np.linalg.qr(powers)
    c = q.T @ y * np.sign(np.diag(r))  # makes every column point in the direction of its monomial
    rows = []
    for penalty in penalties:
        soft, shrunk = np.sign(c) * np.maximum(np.abs(c) - penalty / 2, 0), c / (1 + penalty)
        rows += [*soft, *shrunk, (np.abs(c) <= penalty / 2).sum(), 0]
    return rows


def descend(columns, y, penalties, sweeps):
    """Returns coefficients and zeros by coordinate descent, which optimizes each coefficient in turn."""
    rows = []
    for r in penalties:
        pair = []
        for p in (1, 2):
            a = np.zeros(columns.shape[1])
            for _ in range(sweeps):
                for j, column in enumerate(columns.T):
                    c, size = column @ (y - columns @ a) + column @ column * a[j], column @ column
                    a[j] = np.sign(c) * max(abs(c) - r / 2, 0) / size if p == 1 else c / (size + r)
            pair.append(a)
        rows += [*pair[0], *pair[1], (pair[0] == 0).sum(), (pair[1] == 0).sum()]
    return rows


def observed(n, degree, penalties, seed):
    """Returns coefficients and zeros for monomials that are made orthonormal by Gram-Schmidt."""
    powers, y = problem(n, degree, seed)
    columns = powers.copy()
    for j in range(degree + 1):
        for _ in range(2):
            columns[:, j] -= columns[:, :j] @ (columns[:, :j].T @ columns[:, j])
        columns[:, j] /= np.linalg.norm(columns[:, j])
    return descend(columns, y, penalties, 3)


def control(n, degree, penalties, seed):
    """Returns coefficients and zeros for normalized monomials that are not orthogonal, so the formula fails."""
    powers, y = problem(n, degree, seed)
    return descend(powers / np.linalg.norm(powers, axis=0), y, penalties, 50)


CLAIM = Claim(
    id="lp-regularisation",
    question="Why does an L1 penalty give exact zeros and an L2 penalty not?",
    equation=r"a_j = \mathrm{sign}(c_j) \max(|c_j| - r/2, 0) \quad (p = 1), \qquad a_j = c_j / (1 + r) \quad (p = 2)",
    axes=("coefficient (L1, then L2, then zeros), for three penalties", "coefficient; number of zeros"),
    source=Source("derived", "tibshirani1996regression"),
    premises=(Premise("the polynomials are orthonormal on the points"),),
    parameters={"n": 40, "degree": 6, "penalties": (0.1, 1.0, 3.0)},
    full={"n": 200, "degree": 10},
    judge=equals(rounding=1_000_000),  # tolerance: Gram-Schmidt on monomials, whose condition number is below 1e4
    remark="For p = 2 the penalty is the squared norm; the norm itself would set all coefficients to zero at once.",
)
