"""With as many features as examples, the only model that fits all labels amplifies their noise.

For n rows X of n features the only w with X w = X w* + s e is w* + s X^-1 e, so

    risk = s^2 |X^-1 e|^2,    risk / (n s^2) ~ F(n, 1) for normal rows and noise                                   (1)

w* is the target, e the noise and s^2 its variance. |e|^2 / |X^-1 e|^2 is chi-square with one degree of freedom, so the
ratio follows an F distribution. Its median is above 2 and its mean is infinite. Reference: [hastie2022surprises].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, distributed_as


def predicted(n):
    """Returns the F distribution, which the error divided by n times the noise variance follows."""
    from scipy.stats import f  # slow to import

    return f(n, 1)


def risks(missing, noises, n, repetitions, seed):
    """Returns the errors of solved square systems divided by n s^2 (noise variance s^2), per repetition and noise."""
    rng = np.random.default_rng(seed)
    shape = (repetitions, len(noises), n)
    x, target = rng.normal(size=(*shape, n)), rng.normal(size=shape) / n**0.5
    noise = np.sqrt(noises)[:, None] * rng.normal(size=shape) + missing * rng.normal(size=shape)
    found = np.linalg.solve(x, ((x @ target[..., None])[..., 0] + noise)[..., None])[..., 0]
    return ((found - target) ** 2).sum(-1) / (n * np.array(noises))


observed = partial(risks, missing=0.0)  # The target is an exact function of the features.
control = partial(risks, missing=1.0)  # Control: features miss part of the target, which acts as noise of variance one.

CLAIM = Claim(
    id="interpolation-single-solution",
    question="Why is interpolation worst at the threshold?",
    equation=r"\text{risk} = \sigma^2 \|X^{-1} e\|^2 \sim n \sigma^2 F(n, 1)",
    axes=("risk / (n s^2)", "share below"),
    source=Source("derived", "hastie2022surprises"),
    premises=(Premise("the target is a function of the features"),),
    parameters={"noises": (0.001, 0.01, 0.1, 1.0), "n": 30, "repetitions": 600},
    full={"n": 100, "repetitions": 1000},
    judge=distributed_as(resolution=0.05),
)
