"""The error of minimum-norm least squares peaks at as many features as examples and falls again beyond the peak.

    p < n - 1:  s^2 p / (n - p - 1),      p > n + 1:  r^2 (1 - n / p) + s^2 n / (p - n - 1)                         (1)

p is the number of features, n of examples, s^2 the noise variance and r^2 the squared norm of the target. Sizes stay
away from the peak, at which the mean risk has infinite variance. Each design is solved for several targets to reduce
the noise of the mean. Reference: [hastie2022surprises], Theorem 1 at finite size.
"""

from functools import partial

import numpy as np

from gnomon.bounds.double_descent import isotropic_risk
from gnomon.lab import Claim, Premise, Source, mean_equals

NOISE_VARIANCE = 0.5


def predicted(n, sizes):
    """Returns the expected risk of minimum-norm least squares for each number of features."""
    return [isotropic_risk(n, p, noise=NOISE_VARIANCE, signal=1.0) for p in sizes]


def risks(n, sizes, repetitions, seed, away, targets=8):
    """Returns the squared distance between solution and target weights; ``away`` adds a vector of the null space."""
    rng = np.random.default_rng(seed)
    columns = []
    for p in sizes:
        x, w = rng.normal(size=(repetitions, n, p)), rng.normal(size=(repetitions, p, targets))
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        inverse = minimum_norm_inverse(x)
        found = inverse @ (x @ w + NOISE_VARIANCE**0.5 * rng.normal(size=(repetitions, n, targets)))
        if away and p > n:
            free = rng.normal(size=w.shape)
            free -= inverse @ (x @ free)
            found = found + free / np.linalg.norm(free, axis=1, keepdims=True)
        columns.append(((found - w) ** 2).sum(1).mean(1))
    return np.stack(columns, 1)


def minimum_norm_inverse(x):
    """Returns the pseudoinverses of full-rank matrices, computed by the normal equations of the smaller side."""
    t = x.swapaxes(1, 2)
    return np.linalg.solve(t @ x, t) if x.shape[1] >= x.shape[2] else t @ np.linalg.inv(x @ t)


observed = partial(risks, away=False, targets=8)  # The test uses the interpolating model of smallest norm.
control = partial(risks, away=True, targets=8)  # Another interpolating solution.

CLAIM = Claim(
    id="double-descent-model-wise",
    question="Why does test error fall again beyond the interpolation threshold?",
    equation=r"\sigma^2\frac{p}{n-p-1}, \quad r^2(1-\frac np) + \sigma^2\frac{n}{p-n-1}",
    axes=("number of features p", "test risk", "sizes"),
    source=Source("theorem", "hastie2022surprises"),
    premises=(Premise("the solution of smallest norm is taken"), Premise("the inputs are isotropic and Gaussian")),
    parameters={"n": 40, "sizes": (8, 20, 30, 54, 80, 160), "repetitions": 300},
    full={"n": 100, "sizes": (20, 50, 80, 90, 110, 125, 200, 400, 800), "repetitions": 200},
    grid={"n": (12, 16, 24, 36, 40, 45, 66)},
    judge=mean_equals(confidence=0.9999),
)
