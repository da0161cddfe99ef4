"""The risk of least squares of least norm falls, explodes where features are as many as rows, and falls again.

    p < n - 1:  s^2 p / (n - p - 1),      p > n + 1:  r^2 (1 - n / p) + s^2 n / (p - n - 1)                         (1)

The sizes go up to where the mean of the measurement still has a variance on both sides of the peak.

Reference: [hastie2022surprises], Theorem 1 at finite size.
"""

import numpy as np

from gnomon.bounds.double_descent import isotropic_risk
from gnomon.lab import Claim, Premise, Source, mean_equals

LEAST = "of all solutions the one of least norm is taken"
NOISE = 0.5


def predicted(n, sizes):
    """Equation (1)."""
    return [isotropic_risk(n, p, noise=NOISE, signal=1.0) for p in sizes]


def risks(n, sizes, repetitions, seed, away):
    """Squared distances of solutions to the target; ``away`` adds a unit vector of the null space."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(repetitions):
        row = []
        for p in sizes:
            w = rng.normal(size=p)
            w /= np.linalg.norm(w)
            x = rng.normal(size=(n, p))
            inverse = np.linalg.pinv(x)
            found = inverse @ (x @ w + NOISE**0.5 * rng.normal(size=n))
            if away and p > n:
                free = rng.normal(size=p)
                free -= inverse @ (x @ free)
                found = found + free / np.linalg.norm(free)
            row.append(((found - w) ** 2).sum())
        rows.append(row)
    return rows


def observed(n, sizes, repetitions, seed):
    """The solution of least norm."""
    return risks(n, sizes, repetitions, seed, False)


def control(n, sizes, repetitions, seed):
    """Another interpolating solution."""
    return risks(n, sizes, repetitions, seed, True)


CLAIM = Claim(
    id="double-descent-model-wise",
    title="Test error peaks where parameters are as many as examples, and falls again beyond",
    equation=r"\sigma^2\frac{p}{n-p-1}, \quad r^2(1-\frac np) + \sigma^2\frac{n}{p-n-1}",
    source=Source("theorem", "hastie2022surprises"),
    premises=(Premise(LEAST), Premise("isotropic Gaussian rows")),
    breaks=LEAST,
    parameters={"n": 40, "sizes": (8, 20, 30, 54, 80, 160), "repetitions": 300},
    full={"n": 100, "sizes": (20, 50, 80, 90, 110, 125, 200, 400, 800), "repetitions": 200},
    judge=mean_equals(confidence=0.9999),
)
