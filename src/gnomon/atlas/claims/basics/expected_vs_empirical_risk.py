"""The error rate of a fixed classifier on n new points has mean p, its true error, and variance p (1 - p) / n.

If the classifier was fixed before the n points were drawn, mistakes are independent and happen with probability p:

    E[R_n] = p,    n Var(R_n) = p (1 - p)                                                                (1)

R_n is the error rate on n points. Here the classes are Gaussians N(+-m e, I) and the classifier is the sign of <w, x>
with |w| = 1, so p = Phi(-m <w, e>). If the data helped to choose the classifier, the error rate is biased.
Reference: [vapnik1971uniform].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

CLASS_MEAN = 1.0  # m
TILT_ANGLE = 0.5  # angle between the chosen direction w and the direction e of the class means, in radians


def predicted():
    """Returns the true error rate p and the variance p (1 - p), which is n times the error rate's variance."""
    from scipy.stats import norm

    p = norm.cdf(-CLASS_MEAN * np.cos(TILT_ANGLE))
    return [p, p * (1 - p)]


def errors(n, repetitions, seed, candidates):
    """Returns the better candidate's mean error over two samples, and n / 2 times their squared difference."""
    rng = np.random.default_rng(seed)
    y = rng.choice((-1.0, 1.0), size=(2 * repetitions, n))
    z = rng.normal(size=(2, 2 * repetitions, n))
    z[0] += CLASS_MEAN * y
    rates = np.min([((np.cos(t) * z[0] + np.sin(t) * z[1]) * y <= 0).mean(1) for t in candidates], axis=0)
    first, second = rates.reshape(2, repetitions)
    return np.stack([(first + second) / 2, n * (first - second) ** 2 / 2], 1)


observed = partial(errors, candidates=[TILT_ANGLE])  # One fixed classifier.
# Control: the better of two classifiers, chosen on the same data, is no longer a fixed classifier.
control = partial(errors, candidates=[TILT_ANGLE, -TILT_ANGLE])

CLAIM = Claim(
    id="expected-vs-empirical-risk",
    question="When is the error on a sample an honest estimate of the true error?",
    equation=r"E[R_n] = R, \quad \mathrm{Var}(R_n) = \mathrm{Var}(\ell) / n",
    axes=("error rate, then n x variance", "error rate; n x variance"),
    source=Source("theorem", "vapnik1971uniform"),
    premises=(Premise("the classifier is fixed before the data are drawn"),),
    parameters={"n": 50, "repetitions": 2000},
    full={"n": 200, "repetitions": 20_000},
    judge=mean_equals(confidence=0.9999),
)
