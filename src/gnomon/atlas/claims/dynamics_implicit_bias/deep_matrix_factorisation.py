"""Gradient descent on a product of matrices, started small, finds a matrix of low rank without any penalty.

The squared error on the seen entries of a rank-2 matrix says nothing about the others. Descent on the matrix itself
never moves them, and their relative error stays 1. On a product of two or three factors from a small start, singular
values grow one after the other, large ones first, and the unseen entries are filled in:

    error (3 factors) < error (2 factors) < 0.5 < error (1 factor) = 1,
    effective rank (3 or 2 factors) < n / 4 < effective rank (1 factor)                                       (1)

The effective rank is the exponential of the entropy of the singular values divided by their sum.
Reference: [arora2019implicit].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def problem(sets, n, rank, share, rng):
    """Returns matrices of a given rank with largest singular value about 1, and which of their entries are seen."""
    w = rng.normal(size=(sets, n, rank)) @ rng.normal(size=(sets, rank, n)) / n
    return w, rng.uniform(size=w.shape) < share


def predicted():
    """Returns the names of errors, ranks and fixed levels, from the smallest to the largest."""
    first = "error, 3 factors", "error, 2 factors", "1/2", "error, 1 factor"
    return *first, "rank, 3 or 2 factors", "n / 4", "rank, 1 factor"


def error(w, seen, depth, size, steps, rng):
    """Returns the relative error on the unseen entries, after training a product of ``depth`` factors on the others."""
    return relative_error(train_product(w, seen, depth, size, steps, rng), w, ~seen)


def relative_error(product, w, hidden):
    """Returns the relative error of a product on the hidden entries of w, for each matrix."""
    return np.sqrt((hidden * (product - w) ** 2).sum((1, 2)) / (hidden * w**2).sum((1, 2)))


def effective_rank(product):
    """Returns the exponential of the entropy of the singular values, for each matrix."""
    s = np.linalg.svd(product, compute_uv=False)
    s = s / s.sum(1, keepdims=True)
    return np.exp(-(s * np.log(np.maximum(s, 1e-300))).sum(1))


def train_product(w, seen, depth, size, steps, rng):
    """Returns the product of ``depth`` factors after gradient descent with momentum on the seen entries."""
    n = w.shape[1]
    factors = [size ** (1 / depth) * np.broadcast_to(np.eye(n), w.shape) for _ in range(depth)]
    factors = [f + 0.01 * size ** (1 / depth) * rng.normal(size=f.shape) for f in factors]
    speed = [np.zeros_like(f) for f in factors]
    for _ in range(steps):
        after = [np.broadcast_to(np.eye(n), w.shape)]
        for f in factors[:0:-1]:
            after.insert(0, f @ after[0])
        before = np.broadcast_to(np.eye(n), w.shape)
        rest = seen * (factors[0] @ after[0] - w)
        for k, f in enumerate(factors):
            slope = before.mT @ rest @ after[k].mT
            speed[k] = 0.9 * speed[k] - 0.05 * slope
            before = before @ f
        factors = [f + s for f, s in zip(factors, speed, strict=True)]
    product = factors[0]
    for f in factors[1:]:
        product = product @ f
    return product


def errors(size, sets, n, share, steps, seed):
    """Returns errors and effective ranks with one, two and three factors on the same matrices, and fixed levels."""
    rng = np.random.default_rng(seed)
    w, seen = problem(sets, n, 2, share, rng)
    products = [train_product(w, seen, depth, size, steps, rng) for depth in (1, 2, 3)]
    wrong, ranks = [relative_error(p, w, ~seen) for p in products], [effective_rank(p) for p in products]
    numbers = wrong[2], wrong[1], np.full(sets, 0.5), wrong[0], np.maximum(*ranks[1:]), np.full(sets, n / 4), ranks[0]
    return dict(zip(predicted(), numbers, strict=True))


observed = errors  # The test starts from small factors.
control = partial(errors, size=1.0)  # Control: the factors start as large as the true matrix.

CLAIM = Claim(
    id="deep-matrix-factorisation",
    question="Why does gradient descent on a product of matrices find low rank?",
    equation=r"\text{error}_{L=3} < \text{error}_{L=2} < \tfrac12 < \text{error}_{L=1}, \ r_{L > 1} < \tfrac n4",
    axes=("error on unseen entries, then effective rank, with fixed levels", "relative error; effective rank"),
    source=Source("observed", "arora2019implicit"),
    premises=(Premise("the factors start small", lambda size: size <= 0.01), Premise("the matrix has low rank")),
    parameters={"sets": 12, "n": 20, "share": 0.6, "size": 1e-3, "steps": 800},
    full={"sets": 12, "n": 30, "size": 1e-4, "steps": 5000},
    judge=in_order(),
)
