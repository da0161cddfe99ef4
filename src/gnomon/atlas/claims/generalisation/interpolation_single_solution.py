"""The height of the peak is the noise of the labels: near p = n the risk is proportional to it.

    risk(p = n - 2) = s^2 (n - 2)                                                                                  (1)

Reference: [hastie2022surprises].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is

SPECIFIED = "the target is a function of the features"


def predicted():
    """Slope one in the variance of the noise, equation (1)."""
    return 1.0


def risks(missing, noises, n, repetitions, seed):
    """Risks at p = n - 2, for the same rows and several noises; a part of the target may not be among the features."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(repetitions):
        x, e, other = rng.normal(size=(n, n - 2)), rng.normal(size=n), rng.normal(size=n)
        inverse = np.linalg.pinv(x)
        rows.append([((inverse @ (s**0.5 * e + missing * other)) ** 2).sum() for s in noises])
    return noises, rows


def observed(noises, n, repetitions, seed):
    """The noise alone."""
    return risks(0.0, noises, n, repetitions, seed)


def control(noises, n, repetitions, seed):
    """A part of the target is not among the features: it acts as noise that stays."""
    return risks(1.0, noises, n, repetitions, seed)


CLAIM = Claim(
    id="interpolation-single-solution",
    title="At the threshold the only interpolating model amplifies the noise of labels",
    equation=r"\text{risk} \propto \sigma^2",
    source=Source("theorem", "hastie2022surprises"),
    premises=(Premise(SPECIFIED),),
    breaks=SPECIFIED,
    parameters={"noises": (0.01, 0.03, 0.1, 0.3), "n": 30, "repetitions": 10},
    judge=rate_is(within=0.01, because="rounding in the pseudoinverse", label="variance of the noise"),
    predicted=predicted,
    observed=observed,
    control=control,
)
