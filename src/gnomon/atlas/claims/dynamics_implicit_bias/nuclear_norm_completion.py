"""If enough entries of a rank-one matrix are known, it is the matrix of smallest nuclear norm with these entries.

    W = argmin |X|_*  with  X_ij = W_ij for the seen (i, j),    |X|_* the sum of the singular values            (1)

W is the true n x n matrix of rank r. This holds with high probability if no entry of the singular vectors is too large
and about c n r log n or more entries are seen. Douglas-Rachford splitting solves the convex program without knowing W
or its rank. Reference: [candes2009exact].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(sets, n, share, seed):
    """Returns matrices of rank one and norm 1 without large entries, and which of their entries are seen."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(0.5, 1.5, (2, sets, n)) * rng.choice([-1.0, 1.0], (2, sets, n))
    w = u[:, :, None] * v[:, None, :]
    return w / np.linalg.norm(w, axis=(1, 2), keepdims=True), rng.uniform(size=w.shape) < share


def predicted(sets):
    """Returns zeros, the distance between the true matrix and the one of smallest nuclear norm."""
    return np.zeros(sets)


def errors(sets, n, share, steps, seed):
    """Returns the distance between the true matrix and the one of smallest nuclear norm, for each matrix."""
    w, seen = problem(sets, n, share, seed)
    z = np.zeros_like(w)
    for _ in range(steps):
        x = np.where(seen, w, z)
        u, s, v = np.linalg.svd(2 * x - z, full_matrices=False)
        z = z + (u * np.maximum(s - 0.2, 0)[:, None, :]) @ v - x
    return np.linalg.norm(x - w, axis=(1, 2))


observed = errors  # The test observes most entries of the matrix.


def control(sets, n, few, steps, seed):
    """Returns the distances if too few entries are known to determine a matrix of rank one."""
    return errors(sets, n, few, steps, seed)


CLAIM = Claim(
    id="nuclear-norm-completion",
    question="Can a low-rank matrix be recovered from some of its entries?",
    equation=r"W = \arg\min \|X\|_* \ \text{with}\ X_{ij} = W_{ij}, \ (i, j) \in \Omega",
    axes=("matrix", "distance to the true matrix"),
    source=Source("theorem", "candes2009exact"),
    premises=(
        Premise(
            "enough entries are seen: at least 2.5 log n in each row", lambda n, share: share * n > 2.5 * np.log(n)
        ),
        Premise("no entry of the singular vectors is much larger than the others"),
    ),
    parameters={"sets": 5, "n": 15, "share": 0.65, "few": 0.1, "steps": 250},
    full={"sets": 20, "n": 30, "share": 0.5, "few": 0.05, "steps": 1500},
    judge=equals(within=1e-6, because="the splitting converges linearly and has enough steps"),
)
