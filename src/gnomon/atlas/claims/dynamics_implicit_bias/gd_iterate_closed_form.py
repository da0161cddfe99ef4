"""Gradient descent on least squares (A x = b) has a closed form; it converges for steps below 2 / s_max(A)^2.

x_{k+1} = (I - r A^T A) x_k + r A^T b unrolls to a power and a geometric sum. In the eigenvectors q_i of A^T A, with
eigenvalues l_i,

    <q_i, x_k> = (1 - r l_i)^k <q_i, x_0> + (1 - (1 - r l_i)^k) <q_i, A^T b> / l_i                             (1)

(For l_i = 0 the last term is zero.) s_max is the largest singular value of A; r = 0.5, 1.99 and 2.01 / s_max^2.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

RATES = (0.5, 1.99, 2.01)


def problem(rows, columns, seed):
    """Returns a random tall matrix A, a right side b and initial values x."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=rows), rng.normal(size=columns)


def predicted(rows, columns, steps, seed):
    """Returns the closed form of the iterate after k steps, for each step size."""
    a, b, start = problem(rows, columns, seed)
    values, q = np.linalg.eigh(a.T @ a)
    powers = [(1 - r * values / values[-1]) ** steps for r in RATES]
    return np.stack([q @ (p * (q.T @ start) + (1 - p) * (q.T @ (a.T @ b)) / values) for p in powers])


def iterate(rows, columns, steps, seed, momentum):
    """Runs gradient descent for k steps and returns the final point, for each step size."""
    a, b, start = problem(rows, columns, seed)
    rows = []
    for r in RATES:
        x = before = start
        for _ in range(steps):
            step = -r / np.linalg.norm(a, 2) ** 2 * (a.T @ (a @ x - b))
            x, before = x + step + momentum * (x - before), x
        rows.append(x)
    return np.stack(rows)


observed = partial(iterate, momentum=0.0)  # Without momentum.
control = partial(iterate, momentum=0.1)  # With momentum 0.1.

CLAIM = Claim(
    id="gd-iterate-closed-form",
    question="Where is gradient descent on least squares after k steps?",
    equation=r"x_k = (I - r A^T A)^k x_0 + r \sum_{l<k} (I - r A^T A)^l A^T b",
    axes=("coordinate of the iterate, for three step sizes", "value of the coordinate"),
    source=Source("derived"),
    premises=(Premise("momentum is zero"),),
    parameters={"rows": 30, "columns": 10, "steps": 100},
    full={"rows": 200, "columns": 50, "steps": 500},
    judge=equals(rounding=1_000_000),  # tolerance: 500 steps with sums of 200 terms accumulate rounding errors
    remark="At 1.99 the iterates shrink by 0.99 per step; at 2.01 they grow by 1.01 per step.",
)
