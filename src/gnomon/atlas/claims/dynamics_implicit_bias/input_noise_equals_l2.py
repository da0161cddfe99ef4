"""Noise on the inputs acts like a penalty: on a linear unit's weights, and on a network's input gradient.

With noise e on the input x, E e = 0 and Cov e = diag(s_i^2), the error against target t gains <w, e>, of mean zero:

    E (<w, x + e> - t)^2 = (<w, x> - t)^2 + sum_i w_i^2 s_i^2                                                 (1)

For a smooth network f and noise of one size s, at targets that it fits,

    E (f(x + e) - f(x))^2 = s^2 |grad f(x)|^2 + O(s^4)                                                        (2)
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

NETWORK_NOISE_STD = 0.03
"""Small, because the next order of (2) is its square."""


def problem(n, d, seed):
    """Returns examples, targets, positive weights, and the noise of each input."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(0.5, 1, d), np.linspace(0.5, 1.5, d)


def predicted(n, d, seed):
    """Returns the linear unit's expected loss with input noise, then the network's mean squared input gradient."""
    x, t, w, s = problem(n, d, seed)
    slopes = (1 - np.tanh(x * w) ** 2) * w  # gradient of f(x) = sum_i tanh(w_i x_i) with respect to x
    return [((x @ w - t) ** 2).mean() + (w**2 * s**2).sum(), (slopes**2).sum(1).mean()]


def losses(n, d, draws, seed, shared):
    """Returns the mean losses of the linear unit and of the network for each draw of noise."""
    x, t, w, s = problem(n, d, seed)
    e = np.random.default_rng([seed, 1]).normal(size=(draws, n, 1 if shared else d)) * s
    linear = (((x + e) @ w - t) ** 2).mean(1)
    moved = np.tanh((x + NETWORK_NOISE_STD * e / s) * w).sum(-1) - np.tanh(x * w).sum(-1)
    return np.stack([linear, (moved**2).mean(1) / NETWORK_NOISE_STD**2], 1)


observed = partial(losses, shared=False)  # The test adds independent noise to each input.
control = partial(losses, shared=True)  # Control: all inputs get the same noise, so the penalty differs.

CLAIM = Claim(
    id="input-noise-equals-l2",
    question="Which penalty does noise on the inputs add?",
    equation=r"E (w^T (x + \varepsilon) - t)^2 = (w^T x - t)^2 + \sum_i w_i^2 \sigma_i^2",
    axes=("linear unit, then network", "expected squared error; squared error / s^2"),
    source=Source("derived", "bishop1995training"),
    premises=(Premise("the noise of different inputs is independent"),),
    parameters={"n": 50, "d": 6, "draws": 2000},
    full={"n": 200, "d": 20, "draws": 20_000},
    judge=mean_equals(confidence=0.9999, resolution=0.05),
)
