"""Where features are as many as rows there is one interpolating model, which amplifies the noise of the labels.

For n rows of n features the only w with X w = X w* + s e is w* + s X^-1 e, so that

    risk = s^2 |X^-1 e|^2,    which goes with the variance s^2 and vanishes with it                                (1)

Reference: [hastie2022surprises].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Slope one in the variance of the noise, equation (1)."""
    return 1.0


def risks(missing, noises, n, repetitions, seed):
    """Squared distances to the target of solved square systems, rows and labels drawn anew for each noise."""
    rng = np.random.default_rng(seed)
    shape = (repetitions, len(noises), n)
    x, target = rng.normal(size=(*shape, n)), rng.normal(size=shape) / n**0.5
    noise = np.sqrt(noises)[:, None] * rng.normal(size=shape) + missing * rng.normal(size=shape)
    found = np.linalg.solve(x, ((x @ target[..., None])[..., 0] + noise)[..., None])[..., 0]
    return noises, ((found - target) ** 2).sum(-1)


observed = partial(risks, missing=0.0)  # The target is a function of the features.
# A part of the target, of variance one, is not among the features: it acts as noise that stays.
control = partial(risks, missing=1.0)

CLAIM = Claim(
    id="interpolation-single-solution",
    title="At the threshold the only interpolating model amplifies the noise of labels",
    equation=r"\text{risk} = \sigma^2 \|X^{-1} e\|^2",
    source=Source("derived", "hastie2022surprises"),
    premises=(Premise("the target is a function of the features"),),
    parameters={"noises": (0.001, 0.01, 0.1, 1.0), "n": 30, "repetitions": 600},
    full={"n": 100, "repetitions": 1000},
    judge=rate_is(confidence=0.999, label="variance of the noise"),
)
