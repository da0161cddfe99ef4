"""Dropout on the inputs of linear regression adds, on average, an L2 penalty weighted by each input's mean square.

A mask m_j / (1 - p) with P(m_j = 0) = p has mean 1 and variance p / (1 - p), independent for each input j, so

    E |y - (X * mask) w|^2 = |y - X w|^2 + p / (1 - p) sum_j w_j^2 |X_j|^2                                    (1)

X are the examples with columns X_j, y the targets and w the weights.
"""

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(n, d, seed):
    """Returns positive inputs, positive weights and targets; with these, inputs dropped together change the loss."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, (n, d)), rng.normal(size=n), rng.uniform(0.5, 1, d)


def predicted(n, d, p, seed):
    """Returns the expected squared error under dropout: the error plus the L2 penalty."""
    x, y, w = problem(n, d, seed)
    return ((y - x @ w) ** 2).sum() + p / (1 - p) * (w**2 * (x**2).sum(0)).sum()


def observed(n, d, p, draws, seed):
    """Returns the squared error with torch's dropout on each input, for each draw."""
    x, y, w = (torch.from_numpy(v) for v in problem(n, d, seed))
    dropped = functional.dropout(x.expand(draws, n, d), p, training=True)
    return ((y - dropped @ w) ** 2).sum(1)


def control(n, d, p, draws, seed):
    """Returns the squared error if one mask drops all inputs of an example together, for each draw."""
    x, y, w = (torch.from_numpy(v) for v in problem(n, d, seed))
    dropped = x * functional.dropout(torch.ones(draws, n, 1).double(), p, training=True)
    return ((y - dropped @ w) ** 2).sum(1)


CLAIM = Claim(
    id="dropout-mask",
    question="Which penalty does dropout add to linear regression?",
    equation=r"E \|y - (X \odot M) w\|^2 = \|y - X w\|^2 + \frac{p}{1 - p} \sum_j w_j^2 \|X_j\|^2",
    axes=("one data set", "expected squared error"),
    source=Source("derived", "srivastava2014dropout", "Section 9.1"),
    premises=(Premise("each input is dropped independently"), Premise("kept inputs are divided by 1 - p")),
    parameters={"n": 20, "d": 10, "p": 0.5, "draws": 4000},
    full={"n": 100, "draws": 20_000},
    judge=mean_equals(confidence=0.9999, resolution=0.05),
)
