"""The error on fresh data is an unbiased estimate of the risk; on data that helped to choose the classifier it is not.

For a classifier that was fixed before the n points were drawn, mistakes are independent and happen with probability p:

    E[R_n] = p,    n Var(R_n) = p (1 - p)                                                                (1)

Here the classes are Gaussians N(+-m e, I) and the rule is the sign of <w, x> with |w| = 1, so p = Phi(-m <w, e>).
Reference: [vapnik1971uniform].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

MEAN, TILT = 1.0, 0.5


def predicted():
    """The risk and the scaled variance, equation (1)."""
    from scipy.stats import norm

    p = norm.cdf(-MEAN * np.cos(TILT))
    return [p, p * (1 - p)]


def errors(n, repetitions, seed, candidates):
    """Error rates of the best of some classifiers on each sample; twice, and half the squared difference times n."""
    rng = np.random.default_rng(seed)
    y = rng.choice((-1.0, 1.0), size=(2 * repetitions, n))
    z = rng.normal(size=(2, 2 * repetitions, n))
    z[0] += MEAN * y
    rates = np.min([((np.cos(t) * z[0] + np.sin(t) * z[1]) * y <= 0).mean(1) for t in candidates], axis=0)
    first, second = rates.reshape(2, repetitions)
    return np.stack([(first + second) / 2, n * (first - second) ** 2 / 2], 1)


observed = partial(errors, candidates=[TILT])  # One classifier.
control = partial(errors, candidates=[TILT, -TILT])  # The better of two with the same risk, chosen on the same data.

CLAIM = Claim(
    id="expected-vs-empirical-risk",
    title="The error of a fixed classifier on fresh data estimates its risk without bias, with variance p (1 - p) / n",
    equation=r"E[R_n] = R, \quad \mathrm{Var}(R_n) = \mathrm{Var}(\ell) / n",
    source=Source("theorem", "vapnik1971uniform"),
    premises=(Premise("the classifier is fixed before the data are drawn"),),
    parameters={"n": 50, "repetitions": 2000},
    full={"n": 200, "repetitions": 20_000},
    judge=mean_equals(confidence=0.9999),
)
