"""The mutual information of two Gaussians is -log(1 - rho^2) / 2.

I(X; Y) = H(X) - H(X|Y) = -(1/2) log(1 - rho^2)                                                          (1)
"""

import numpy as np

from gnomon import attribution
from gnomon.lab import Claim, Premise, Source, equals

GAUSS = "X and Y are jointly Gaussian"


def predicted(rhos):
    """The closed form."""
    return [-0.5 * float(np.log(1 - rho**2)) for rho in rhos]


def measure(rhos, n, seed, curve):
    """The estimate from n pairs with these correlations, after a curve bends Y's dependence on X."""
    draw = np.random.default_rng(seed)
    found = []
    for rho in rhos:
        x, z = draw.standard_normal((2, n))
        bent = curve(x)
        y = rho * bent / bent.std() + np.sqrt(1 - rho**2) * z
        found.append(attribution.mutual_information(x, y))
    return found


def observed(rhos, n, seed):
    """A straight line."""
    return measure(rhos, n, seed, lambda x: x)


def control(rhos, n, seed):
    """A wave: Y is not Gaussian given X's law, and the correlation does not tell the information."""
    return measure(rhos, n, seed, lambda x: np.sin(4 * x))


CLAIM = Claim(
    id="mutual-information",
    title="Nearest neighbors estimate the mutual information of Gaussians",
    equation=r"I(X;Y) = -\tfrac12\ln(1-\rho^2)",
    source=Source("theorem", "cover2006elements", "Example 8.5.1"),
    premises=(Premise(GAUSS),),
    breaks=GAUSS,
    parameters={"rhos": (0.3, 0.6, 0.9), "n": 4000},
    full={"n": 20000},
    judge=equals(within=0.06, because="the estimator's standard deviation at 4000 samples is 0.02"),
    predicted=predicted,
    observed=observed,
    control=control,
)
