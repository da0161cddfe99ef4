"""The expected test error of a fit is squared bias plus variance plus noise.

    E (f_D(x) - y)^2 = (E f_D(x) - f(x))^2 + Var f_D(x) + s^2                                                      (1)

f_D is the fit to data D, f the true function, y a noisy test label, s^2 the noise variance. For polynomial fits at
fixed points f_D is linear in the labels, so both terms are exact. Reference: [hastie2009elements], 7.3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

NOISE_STD = 0.3


def problem(n, degree):
    """Returns the matrix that maps labels to fitted values at new points, and the true sine at all points."""
    x, z = np.linspace(0, 1, n), np.linspace(0.02, 0.98, 25)
    powers = [np.vander(2 * v - 1, degree + 1) for v in (x, z)]
    return powers[1] @ np.linalg.pinv(powers[0]), np.sin(2 * np.pi * x), np.sin(2 * np.pi * z)


def predicted(n, degrees):
    """Returns the expected test error for each polynomial degree, averaged over the new points."""
    found = []
    for degree in degrees:
        fit, f, g = problem(n, degree)
        found.append(((fit @ f - g) ** 2).mean() + NOISE_STD**2 * (fit**2).sum(1).mean() + NOISE_STD**2)
    return found


def errors(n, degrees, repetitions, seed, fresh):
    """Returns the test errors of polynomial fits, for each repetition and polynomial degree."""
    rng = np.random.default_rng(seed)
    columns = []
    for degree in degrees:
        fit, f, g = problem(n, degree)
        targets = g + fresh * NOISE_STD * rng.normal(size=(repetitions, len(g)))
        columns.append((((f + NOISE_STD * rng.normal(size=(repetitions, n))) @ fit.T - targets) ** 2).mean(1))
    return np.stack(columns, 1)


observed = partial(errors, fresh=1.0)  # Test labels have fresh noise, as the formula assumes.
control = partial(errors, fresh=0.0)  # Control: test labels have no noise, so the noise term is missing.

CLAIM = Claim(
    id="bias-variance-classical",
    question="What does test error consist of?",
    equation=r"E(\hat f - y)^2 = \mathrm{bias}^2 + \mathrm{variance} + \sigma^2",
    axes=("degree of the polynomial", "mean squared test error", "degrees"),
    source=Source("theorem", "hastie2009elements", "7.3"),
    premises=(Premise("test labels have their own noise"),),
    parameters={"n": 20, "degrees": (0, 1, 3, 5, 9), "repetitions": 300},
    full={"repetitions": 3000},
    judge=mean_equals(confidence=0.9999),
)
