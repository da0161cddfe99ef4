"""Before the softmax, attention scores have rank d, the size of the keys; after the softmax they have full rank.

    rank(Q K^T) = d,    rank(softmax(Q K^T)) = T   for almost all Q, K                                        (1)

Q and K are queries and keys of size d for T positions. Some texts say that the weights have rank at most d, which is
false. Reference: [dong2021attention].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times, size):
    """Returns the ranks of the attention scores before and after the softmax."""
    return np.array([float(size), float(times)])


def ranks(softmax, times, size, seed):
    """Returns the ranks of scores before and after normalization; without softmax, scores are divided by their sums."""
    q, k = 2 * np.random.default_rng(seed).normal(size=(2, times, size))
    logits = q @ k.T
    weights = np.exp(logits) if softmax else logits
    weights = weights / weights.sum(1, keepdims=True)
    return np.array([float(np.linalg.matrix_rank(m, tol=1e-13)) for m in (logits / 10, weights)])


observed = partial(ranks, softmax=True)  # Softmax.
control = partial(ranks, softmax=False)  # Linear attention.

CLAIM = Claim(
    id="attention-rank-claim",
    question="Is the rank of an attention matrix limited by the head size?",
    equation=r"\mathrm{rank}(Q K^\top) = d, \quad \mathrm{rank}(\mathrm{softmax}(Q K^\top)) = T",
    axes=("logits, then attention weights", "rank"),
    source=Source("derived"),
    premises=(
        Premise("the weights are the softmax of the logits"),
        Premise(
            "the head size is at least 2 (for 1, rounding hides the rank) and at most T",
            lambda times, size: 2 <= size <= times,
        ),
    ),
    parameters={"times": 20, "size": 2},
    judge=equals(rounding=0),
)
