"""The shortest solution of an underdetermined system A x = y is A^T (A A^T)^-1 y.

Any solution is x = x_s + z with A z = 0, and x_s = A^T u is orthogonal to z. So |x|^2 = |x_s|^2 + |z|^2 and

    x_s = A^T (A A^T)^-1 y,    |x|^2 = |x_s|^2 + |x - x_s|^2                                               (1)
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(rows, columns, seed):
    """Returns a wide matrix A and one solution x of the system A x = y."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=columns)


def predicted(rows, columns, seed):
    """Returns the shortest solution by the formula, then the squared norm of another solution by Pythagoras."""
    a, x = problem(rows, columns, seed)
    short = a.T @ np.linalg.solve(a @ a.T, a @ x)
    return [*short, short @ short + (x - short) @ (x - short)]


def observed(rows, columns, seed):
    """Returns the shortest solution by LAPACK's least squares, then the squared norm of the other solution."""
    a, x = problem(rows, columns, seed)
    return [*np.linalg.lstsq(a, a @ x, rcond=None)[0], x @ x]


def control(rows, columns, seed):
    """Returns a solution that uses only the first unknowns, which is not the shortest one."""
    a, x = problem(rows, columns, seed)
    return [*np.linalg.solve(a[:, :rows], a @ x), *np.zeros(columns - rows), x @ x]


CLAIM = Claim(
    id="min-norm-closed-form",
    question="What is the shortest solution of an underdetermined system?",
    equation=r"x_s = A^T (A A^T)^{-1} y, \quad \|x\|^2 = \|x_s\|^2 + \|x - x_s\|^2",
    axes=("coordinate of the solution, then squared norm", "coordinate; squared norm"),
    source=Source("derived"),
    premises=(
        Premise("the shortest of all solutions is taken"),
        Premise("more unknowns than equations", lambda rows, columns: columns > rows),
    ),
    parameters={"rows": 10, "columns": 40},
    full={"rows": 100, "columns": 400},
    judge=equals(rounding=100_000),  # tolerance: sums of up to 400 terms; condition numbers of A A^T are below 100
    remark="Often printed for more rows than columns, for which A A^T has no inverse.",
)
