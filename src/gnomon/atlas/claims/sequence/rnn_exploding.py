"""The state of a linear recurrence with 1.1 times an orthogonal matrix grows by exactly 1.1 in every step.

    |U^T z| = 1.1^T |z|    for U = 1.1 Q                                                                      (1)

U is the recurrent matrix, Q orthogonal, z the initial state, T the number of steps. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times):
    """Returns 1, the norm of the state divided by 1.1^T, for each number of steps T."""
    return np.full(times, 1.0)


def growth(mixed, times, seed):
    """Returns the norms of the state divided by 1.1^T; ``mixed`` adds a matrix that is not orthogonal."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    u, z = 1.1 * q + mixed * rng.normal(size=(8, 8)), np.eye(8)[0]
    found = []
    for t in range(1, times + 1):
        z = u @ z
        found.append(np.linalg.norm(z) / 1.1**t)
    return np.array(found)


observed = partial(growth, mixed=0.0)  # The recurrent matrix is 1.1 times an orthogonal matrix.
control = partial(growth, mixed=0.05)  # Control: the recurrent matrix is not a multiple of an orthogonal matrix.

CLAIM = Claim(
    id="rnn-exploding",
    question="When does a recurrent state explode?",
    equation=r"\|U^T z\| = 1.1^T \|z\|",
    axes=("number of steps", "norm of the state / 1.1^T"),
    source=Source("theorem", "pascanu2013difficulty"),
    premises=(Premise("the matrix is a multiple of an orthogonal one"),),
    parameters={"times": 100},
    judge=equals(rounding=1e4),
)
