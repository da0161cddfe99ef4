"""Gradient descent on the log of the loss reaches the largest margin at rate 1/t instead of 1/ln t (time t).

Gradient steps on ln L have a length that does not vanish: |w| grows like t. The gap to the largest margin g*, at most
ln n / |w| along the flow, falls like 1/t:

    g* - min_i m_i(w_t) / |w_t| = O(1 / t)                                                                    (1)

m_i are the margins of the n examples.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def problem(sets, n, seed):
    """Returns examples times labels with two support vectors that make the largest margin 1/2."""
    rng = np.random.default_rng(seed)
    z = np.stack([rng.uniform(1, 2, (sets, n)), rng.normal(size=(sets, n))], 2)
    z[:, :2, 0], z[:, 0, 1], z[:, 1, 1] = 0.5, rng.uniform(0.8, 1.2, sets), -rng.uniform(0.3, 0.5, sets)
    return z


def predicted():
    """Returns -1, the exponent of the number of steps in the gap to the largest margin."""
    return -1.0


def gaps(sets, n, times, seed, divide):
    """Returns the gap to the largest margin after each number of steps; ``divide`` uses the log of the loss."""
    z = problem(sets, n, seed)
    w, rows, rate = np.zeros((sets, 2, 1)), [], 0.5 / (z**2).sum(2).max(1)[:, None, None]
    for t in range(1, times[-1] + 1):
        m = z @ w
        weights = np.exp(m.min(1, keepdims=True) - m if divide else -m)
        w = w + rate * z.mT @ weights / (weights.sum(1, keepdims=True) if divide else n)
        if t in times:
            rows.append(0.5 - (z @ w).min((1, 2)) / np.linalg.norm(w, axis=(1, 2)))
    return times, np.stack(rows, 1)


observed = partial(gaps, divide=True)  # The test follows the gradient of the log of the loss L.
control = partial(gaps, divide=False)  # Control: descent follows the gradient of the loss L itself.

CLAIM = Claim(
    id="max-margin-accelerated",
    question="How can gradient descent reach the maximum margin faster?",
    equation=r"\gamma^* - \gamma(w_t) = O(1 / t)",
    axes=("number of steps t", "gap to the largest margin"),
    source=Source("theorem", "ji2021characterizing"),
    premises=(
        Premise("the gradient is divided by the loss"),
        Premise("a plane through the origin separates the classes"),
    ),
    parameters={"sets": 12, "n": 10, "times": (1000, 2000, 4000, 8000)},
    full={"sets": 20, "n": 30, "times": (4000, 8000, 16_000, 32_000, 64_000)},
    judge=rate_is(confidence=0.999, within=0.1, because="the influence of other points fades slowly", label="steps"),
)
