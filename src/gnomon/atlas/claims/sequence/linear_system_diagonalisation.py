"""In the eigenvector basis of its matrix, the coordinates of a linear recurrence evolve independently.

    z' = A z + B x,  A = P L P^-1,  s = P^-1 z:   s' = L s + P^-1 B x                                         (1)

z is the state, x the input, and L the diagonal matrix of eigenvalues of A. Reference: [orvieto2023resurrecting].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(defect, times, seed):
    """Returns a stable matrix and inputs; with ``defect`` the matrix is a single Jordan block."""
    rng = np.random.default_rng(seed)
    a = 0.8 * np.eye(6) + 0.5 * np.eye(6, k=1) if defect else rng.normal(size=(6, 6)) / 4
    return a, rng.normal(size=(times, 6))


def states(a, x):
    """Returns the states of the linear recurrence with matrix a and inputs x, computed step by step."""
    z, found = np.zeros(6), []
    for row in x:
        z = a @ z + row
        found.append(z)
    return np.array(found)


def predicted(times, seed):
    """Returns 0, the difference between states computed with and without eigenvectors."""
    return 0.0


def difference(defect, times, seed):
    """Returns the largest difference between states computed by eigenvectors and states computed step by step."""
    a, x = problem(defect, times, seed)
    values, p = np.linalg.eig(a)
    s, found = np.zeros(6, dtype=complex), []
    for row in np.linalg.solve(p, x.T.astype(complex)).T:
        s = values * s + row
        found.append((p @ s).real)
    return float(np.abs(np.array(found) - states(a, x)).max())


observed = partial(difference, defect=False)  # A random matrix.
control = partial(difference, defect=True)  # Control: the matrix is a Jordan block, with only one eigenvector.

CLAIM = Claim(
    id="linear-system-diagonalisation",
    question="Why are linear recurrences written with diagonal matrices?",
    equation=r"\zeta_{t+1} = \Lambda \zeta_t + P^{-1} B x_t",
    axes=("one system", "largest difference of the states"),
    source=Source("theorem", "orvieto2023resurrecting"),
    premises=(Premise("the matrix has a basis of eigenvectors"),),
    parameters={"times": 20},
    judge=equals(within=1e-8, because="the condition of random eigenvectors of size 6"),
)
