"""The nearest-neighbor estimate of mutual information is right for correlated Gaussians: -log(1 - rho^2) / 2.

    I(X; Y) = H(X) - H(X|Y) = -(1/2) log(1 - rho^2)                                                          (1)

I is the mutual information, H the entropy, rho the correlation.
"""

from functools import partial

import numpy as np

from gnomon import attribution
from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(rhos):
    """Returns the exact mutual information of two Gaussians, for each correlation rho."""
    return [-0.5 * float(np.log(1 - rho**2)) for rho in rhos]


def measure(rhos, n, repetitions, seed, spread):
    """Returns nearest-neighbor estimates of mutual information, per correlation; ``spread`` of x scales the noise."""
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(repetitions):
        x, z = draw.standard_normal((2, n))
        rows.append([attribution.mutual_information(x, r * x + np.sqrt(1 - r**2) * spread(x) * z) for r in rhos])
    return rows


observed = partial(measure, spread=np.ones_like)  # Constant noise.
control = partial(measure, spread=np.abs)  # Control: noise in proportion to |x| leaves Y correlated but not Gaussian.

CLAIM = Claim(
    id="mutual-information",
    question="How much information do two correlated Gaussians share?",
    equation=r"I(X;Y) = -\tfrac12\ln(1-\rho^2)",
    axes=("correlation rho", "mutual information (nats)", "rhos"),
    source=Source("theorem", "cover2006elements", "Example 8.5.1"),
    premises=(Premise("X and Y are jointly Gaussian"),),
    parameters={"rhos": (0.3, 0.6, 0.9), "n": 1000, "repetitions": 10},
    full={"n": 4000, "repetitions": 10},
    judge=mean_equals(confidence=0.999),
)
