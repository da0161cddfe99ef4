"""QR of a Gaussian matrix gives a uniform random rotation if the diagonal of R is made positive.

    E[tr Q] = 0,   E[(tr Q)^2] = 1,   E[Q_11^2] = 1/3,   E[(tr T Q)^2] = 1   for Q uniform over SO(3)                (1)

The last one holds for every fixed rotation T, because T Q is also uniform. Reference: [mezzadri2007generate].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.symmetry import random_orthogonal


def predicted():
    """Returns four moments of uniform random rotations, with 1 added so that none is zero."""
    return [1.0, 2.0, 4 / 3, 2.0]


def moments(q):
    """Returns 1 + trace, squared trace, squared first entry, squared trace after a quarter turn, for each rotation."""
    trace = np.trace(q, axis1=1, axis2=2)
    turned = q[:, 0, 1] - q[:, 1, 0] + q[:, 2, 2]
    return np.stack([1 + trace, 1 + trace**2, 1 + q[:, 0, 0] ** 2, 1 + turned**2], 1)


def observed(draws, seed):
    """Returns the moments for rotations from QR with the diagonal of R made positive."""
    return moments(random_orthogonal(3, draws, special=True, seed=seed).numpy())


def control(draws, seed):
    """Returns the moments for rotations from QR with the signs that the library happens to return."""
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(draws, 3, 3)))[0]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    return moments(q)


CLAIM = Claim(
    id="haar-measure",
    question="How can one draw a uniformly random rotation?",
    equation=r"E[(\mathrm{tr} Q)^2] = 1",
    axes=("trace, squared trace, squared entry, after a turn (each plus 1)", "moment"),
    source=Source("theorem", "mezzadri2007generate"),
    premises=(Premise("the diagonal of R is made positive"),),
    parameters={"draws": 4000},
    full={"draws": 40_000},
    judge=mean_equals(confidence=0.9999),
)
