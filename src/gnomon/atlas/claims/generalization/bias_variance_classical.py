"""The expected test error of a fit is squared bias plus variance plus noise.

    E (f_D(x) - y)^2 = (E f_D(x) - f(x))^2 + Var f_D(x) + s^2                                                      (1)

Polynomial fits to noisy samples of a sine at fixed places: f_D is linear in the labels, so both terms are exact.
Reference: [hastie2009elements], 7.3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

NOISE = 0.3


def problem(n, degree):
    """Places, the matrix from labels to fitted values at new places, and the sine at both."""
    x, z = np.linspace(0, 1, n), np.linspace(0.02, 0.98, 25)
    powers = [np.vander(2 * v - 1, degree + 1) for v in (x, z)]
    return powers[1] @ np.linalg.pinv(powers[0]), np.sin(2 * np.pi * x), np.sin(2 * np.pi * z)


def predicted(n, degrees):
    """Equation (1), a mean over new places, for each degree."""
    found = []
    for degree in degrees:
        fit, f, g = problem(n, degree)
        found.append(((fit @ f - g) ** 2).mean() + NOISE**2 * (fit**2).sum(1).mean() + NOISE**2)
    return found


def errors(n, degrees, repetitions, seed, fresh):
    """Squared errors of fits to new labels, for each degree."""
    rng = np.random.default_rng(seed)
    columns = []
    for degree in degrees:
        fit, f, g = problem(n, degree)
        targets = g + fresh * NOISE * rng.normal(size=(repetitions, len(g)))
        columns.append((((f + NOISE * rng.normal(size=(repetitions, n))) @ fit.T - targets) ** 2).mean(1))
    return np.stack(columns, 1)


observed = partial(errors, fresh=1.0)  # Fresh noise in the test labels.
control = partial(errors, fresh=0.0)  # Test labels without noise: the last term is missing.

CLAIM = Claim(
    id="bias-variance-classical",
    title="Test error is squared bias plus variance plus noise",
    equation=r"E(\hat f - y)^2 = \mathrm{bias}^2 + \mathrm{variance} + \sigma^2",
    source=Source("theorem", "hastie2009elements", "7.3"),
    premises=(Premise("test labels have noise of their own"),),
    parameters={"n": 20, "degrees": (0, 1, 3, 5, 9), "repetitions": 300},
    full={"repetitions": 3000},
    judge=mean_equals(confidence=0.9999),
)
