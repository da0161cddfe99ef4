"""A 1-Lipschitz function that is known on a grid of n points in D dimensions has an error of order n^(-1/D).

A function with |f(x) - f(y)| <= |x - y| is known on a grid of n points in [0, 1]^D and is continued by the value at the
nearest grid point. The error is at most the distance to that point, half the diagonal of a cell. The distance to the
grid is itself such a function, so

    worst error = sqrt(D) / 2 n^{-1/D},    error^D ~ n^{-1}  in every dimension                          (1)
Reference: [bach2017breaking], section 1, for the curse of Lipschitz functions.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is

DIMENSIONS = (1, 2, 3)


def predicted():
    """Returns -1, the exponent of the number of samples n in (largest error)^D, for D variables."""
    return -1.0


def powers(sizes, functions, points, seed, function):
    """Returns (largest error)^D for each number of samples, with one row for each function and dimension D."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in DIMENSIONS:
        for _ in range(functions):
            center, height = rng.random((10, d)), 0.5 * rng.random(10)
            x, errors = rng.random((points, d)), []
            for n in sizes:
                side = round(n ** (1 / d))
                nearest = (np.floor(x * side) + 0.5) / side
                gap = np.abs(function(x, center, height) - function(nearest, center, height))
                errors.append(gap.max() ** d)
            rows.append(errors)
    return sizes, rows


def cones(x, center, height):
    """Returns the smallest of ten cones of slope one, a 1-Lipschitz function."""
    return (np.linalg.norm(x[:, None] - center, axis=2) + height).min(1)


def waves(x, center, height):
    """Returns waves around ten centers with slopes of up to 1000, so not 1-Lipschitz."""
    return np.sin(1000 * np.linalg.norm(x[:, None] - center, axis=2) + height).mean(1)


observed = partial(powers, function=cones)  # Cones.
control = partial(powers, function=waves)  # Steep waves.

CLAIM = Claim(
    id="lipschitz-covering-rate",
    question="How many samples does it take to learn a function of D variables?",
    equation=r"\sup |f - \hat f_n| \sim n^{-1/D}",
    axes=("number of samples n", "(largest error)^D"),
    source=Source("theorem", "bach2017breaking"),
    premises=(Premise("the function is 1-Lipschitz"), Premise("the samples form a grid")),
    parameters={"sizes": (64, 729, 4096), "functions": 4, "points": 3000},
    full={"sizes": (64, 729, 4096, 15625), "functions": 20, "points": 10_000},
    judge=rate_is(confidence=0.9999, label="samples"),
    remark="Random samples instead of a grid pay a factor (log n)^(1/D), because they leave larger holes.",
)
