"""The 0-1 loss of labels y and decisions f in {-1, +1} is (1 - y f) / 2, so an error rate is an inner product.

    1{f != y} = (1 - y f) / 2,    error rate = (1 - <y, f> / n) / 2                                      (1)

y is the label and f the decision.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, seed):
    """Returns labels and decisions in {0, 1}: all four pairs, then random ones."""
    rng = np.random.default_rng(seed)
    return np.concatenate([[[0, 0, 1, 1], [0, 1, 0, 1]], rng.integers(2, size=(2, n))], 1)


def predicted(n, seed):
    """Returns whether each label and decision differ, then the share of mistakes."""
    y, f = problem(n, seed)
    return [*(y != f), np.mean(y != f)]


def products(y, f):
    """Returns (1 - y f) / 2 for each pair of label y and decision f, then its mean over all pairs."""
    return [*(1 - y * f) / 2, (1 - y @ f / len(y)) / 2]


def observed(n, seed):
    """Returns the losses (1 - y f) / 2 and their mean for labels and decisions coded as -1 and +1."""
    return products(*(2 * problem(n, seed) - 1))


def control(n, seed):
    """Returns (1 - y f) / 2 and its mean for labels and decisions coded as 0 and 1, a wrong coding."""
    return products(*problem(n, seed))


CLAIM = Claim(
    id="loss-zero-one",
    question="How can the error rate be written as an inner product?",
    equation=r"1\{f \ne y\} = (1 - y f) / 2",
    axes=("pair of label and decision, then error rate", "0-1 loss"),
    source=Source("definition"),
    premises=(Premise("labels and decisions are -1 and +1"),),
    parameters={"n": 100},
    full={"n": 100_000},
    judge=equals(rounding=4),
)
