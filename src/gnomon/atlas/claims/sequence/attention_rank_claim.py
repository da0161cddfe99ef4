"""Softmax lifts the rank: T x T logits of vectors of size d have rank d, and the attention weights have rank T.

    rank(Q K^T) = d,    rank(softmax(Q K^T)) = T   for almost all Q, K                                        (1)

That the rank of attention is at most d is sometimes said of the weights, which is false.
Reference: [dong2021attention].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times, size):
    """Ranks of logits and of weights."""
    return np.array([float(size), float(times)])


def ranks(softmax, times, size, seed):
    """Of logits and of weights, which may be the logits over their sums."""
    q, k = 2 * np.random.default_rng(seed).normal(size=(2, times, size))
    logits = q @ k.T
    weights = np.exp(logits) if softmax else logits
    weights = weights / weights.sum(1, keepdims=True)
    return np.array([float(np.linalg.matrix_rank(m, tol=1e-13)) for m in (logits / 10, weights)])


observed = partial(ranks, softmax=True)  # Softmax.
control = partial(ranks, softmax=False)  # Linear attention.

CLAIM = Claim(
    id="attention-rank-claim",
    title="Logits of attention have rank d, and its weights, after softmax, have full rank",
    equation=r"\mathrm{rank}(Q K^\top) = d, \quad \mathrm{rank}(\mathrm{softmax}(Q K^\top)) = T",
    source=Source("derived"),
    premises=(Premise("weights are the softmax of the logits"),),
    parameters={"times": 20, "size": 2},
    judge=equals(rounding=0),
)
