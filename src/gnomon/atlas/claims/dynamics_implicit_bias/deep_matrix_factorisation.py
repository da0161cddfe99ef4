"""Gradient descent on a product of matrices from a small start finds a product of low rank, without any penalty.

The squared error on the seen entries of a rank-2 matrix says nothing about the others. Descent on the matrix itself
never moves them, and their relative error stays 1. On a product of two or three factors from a small start, singular
values grow one after the other, large ones first, and the unseen entries are filled in:

    error (3 factors) < error (2 factors) < 0.5 < error (1 factor) = 1                                      (1)
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
    """Returns the numbers of factors, from the smallest error on unseen entries to the largest; equation (1)."""
    return ("3 factors", "2 factors", "one half", "1 factor")


def error(w, seen, depth, size, steps, rng):
    """Trains a product of ``depth`` factors on the seen entries and returns the relative error on the others."""
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
    hidden = ~seen
    return np.sqrt((hidden * (product - w) ** 2).sum((1, 2)) / (hidden * w**2).sum((1, 2)))


def errors(size, sets, n, share, steps, seed):
    """Returns the relative errors with one, two and three factors on the same matrices."""
    rng = np.random.default_rng(seed)
    w, seen = problem(sets, n, 2, share, rng)
    found = {f"{k} factor" + "s" * (k > 1): error(w, seen, k, size, steps, rng) for k in (1, 2, 3)}
    return found | {"one half": np.full(sets, 0.5)}


observed = errors  # From a small start.
control = partial(errors, size=1.0)  # The factors start as large as the matrix.

CLAIM = Claim(
    id="deep-matrix-factorisation",
    question="Why does gradient descent on a product of matrices find low rank?",
    equation=r"\text{error}_{L=3} < \text{error}_{L=2} < \tfrac12 < \text{error}_{L=1} = 1",
    axes=("number of factors, compared with one half", "relative error on unseen entries"),
    source=Source("observed", "arora2019implicit"),
    premises=(Premise("the factors start small", lambda size: size <= 0.01), Premise("the matrix has low rank")),
    parameters={"sets": 12, "n": 20, "share": 0.6, "size": 1e-3, "steps": 800},
    full={"sets": 12, "n": 30, "size": 1e-4, "steps": 5000},
    judge=in_order(),
)
