"""The largest weight noise s that a quadratic minimum with Hessian H tolerates is given by s^2 = 2 tol / tr H.

    largest s with E L(w + s e) <= L(w) + tol:   s^2 = 2 tol / tr H    for a quadratic loss                          (1)

L is the loss, w the minimum, e standard Gaussian noise, tol the allowed increase, H the Hessian.
Reference: [dziugaite2017computing].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed):
    """Returns a random positive matrix, the Hessian of the loss."""
    a = np.random.default_rng(seed).normal(size=(d, d))
    return a @ a.T / d


def predicted(d, tolerance, seed):
    """Returns the largest tolerated noise level s = sqrt(2 tolerance / tr H)."""
    return float(np.sqrt(2 * tolerance / np.trace(problem(d, seed))))


def radius(power, d, tolerance, draws, seed):
    """Returns the largest noise level at which the mean loss stays within the tolerance, by bisection."""
    h = problem(d, seed)
    rng = np.random.default_rng(seed + 1)
    noise = np.concatenate([np.linalg.qr(rng.normal(size=(d, d)))[0] * np.sqrt(d) for _ in range(draws)])
    sizes = ((noise @ h) * noise).sum(1) / 2
    low, high = 0.0, 10.0
    for _ in range(60):
        s = (low + high) / 2
        low, high = (s, high) if ((s**2 * sizes) ** power).mean() <= tolerance else (low, s)
    return high


observed = partial(radius, power=1.0)  # A quadratic loss.
control = partial(radius, power=2.0)  # Control: the loss grows with the fourth power of the distance.

CLAIM = Claim(
    id="flatness-generalisation-link",
    question="How is flatness measured by noise on the weights?",
    equation=r"\sigma^2 = 2\,\mathrm{tol}/\mathrm{tr} H",
    axes=("one loss", "largest noise level"),
    source=Source("derived", "dziugaite2017computing"),
    premises=(Premise("the loss is quadratic around the minimum"),),
    parameters={"d": 12, "tolerance": 0.01, "draws": 20},
    judge=equals(within=1e-10, because="the mean over an orthogonal set of noise is the trace, to rounding"),
)
