"""Training a product of matrices, which prefers low rank, helps only if the true matrix has low rank.

Gradient descent on a product of two matrices prefers products of low rank. For a true matrix of rank 2 the relative
error on unseen entries falls far below 1 (the error of predicting zero). For a matrix of full rank it does not, because
the seen entries say nothing about the others:

    error (rank 2) < 1/2 < 0.9 < error (full rank)                                                          (1)
Reference: [arora2019implicit], for the preference.
"""

from functools import partial

import numpy as np

from gnomon.atlas.claims.dynamics_implicit_bias.deep_matrix_factorisation import error
from gnomon.lab import Claim, Premise, Source, in_order


def problem(sets, n, rank, share, rng):
    """Returns matrices of a given rank with equal Frobenius norm, and which of their entries are seen."""
    w = rng.normal(size=(sets, n, rank)) @ rng.normal(size=(sets, rank, n))
    return 2**0.5 * w / np.linalg.norm(w, axis=(1, 2), keepdims=True), rng.uniform(size=w.shape) < share


def predicted():
    """Returns the names of both errors and two fixed levels, in increasing order."""
    return ("error at rank 2", "one half", "nine tenths", "error at full rank")


def errors(depth, sets, n, share, size, steps, seed):
    """Returns the relative errors on unseen entries for a matrix of rank 2 and one of full rank."""
    rng = np.random.default_rng(seed)
    low, full = (error(*problem(sets, n, rank, share, rng), depth, size, steps, rng) for rank in (2, n))
    marks = {"one half": np.full(sets, 0.5), "nine tenths": np.full(sets, 0.9)}
    return {"error at rank 2": low, "error at full rank": full} | marks


observed = partial(errors, depth=2)  # The test trains a product of two matrices that start small.
control = partial(errors, depth=1)  # Control: the matrix is trained directly, which does not prefer low rank.

CLAIM = Claim(
    id="bias-must-match-data",
    question="When does a preference for low rank help?",
    equation=r"\text{error}(\mathrm{rank}\ 2) < \tfrac12 < 0.9 < \text{error}(\mathrm{rank}\ n)",
    axes=("case, compared with fixed levels", "relative error on unseen entries"),
    source=Source("derived", "arora2019implicit"),
    premises=(
        Premise("training prefers low rank"),
        Premise("more than half of the entries are seen", lambda share: share > 0.5),
    ),
    parameters={"sets": 12, "n": 20, "share": 0.6, "size": 1e-3, "steps": 800},
    full={"n": 30, "size": 1e-4, "steps": 5000},
    judge=in_order(),
)
