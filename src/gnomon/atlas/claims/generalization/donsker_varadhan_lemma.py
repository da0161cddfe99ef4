"""The mean of X under a distribution q is at most KL(q | p) plus the log of the mean of e^X under p.

    E_q[X] <= KL(q | p) + ln E_p[e^X],    equality for q proportional to p e^X                                     (1)

q and p are distributions and X a random variable. Reference: [catoni2007pac].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(points, cases, seed):
    """Returns random numbers X and distributions p, q; in every other case q is proportional to p e^X."""
    rng = np.random.default_rng(seed)
    x = 1 + np.abs(rng.normal(size=(cases, points)))
    p, q = rng.dirichlet(np.ones(points), size=(2, cases))
    tilt = p * np.exp(x)
    q[::2] = (tilt / tilt.sum(1, keepdims=True))[::2]
    return x, p, q


def predicted(points, cases, seed):
    """Returns the bound KL(q | p) + ln E_p[e^X] on the mean of X under q, for each pair of distributions."""
    x, p, q = problem(points, cases, seed)
    return (q * np.log(q / p)).sum(1) + np.log((p * np.exp(x)).sum(1))


def mean_under_q(own, points, cases, seed):
    """Returns the mean of X under q; q has the share ``own`` at a further point with X = 10 and p = 0."""
    x, _, q = problem(points, cases, seed)
    x, q = np.c_[x, np.full(cases, 10.0)], np.c_[(1 - own) * q, np.full(cases, own)]
    return (q * x).sum(1)


observed = partial(mean_under_q, own=0.0)  # The same support.
control = partial(mean_under_q, own=0.5)  # Control: q gives probability 1/2 to a point at which p is zero.

CLAIM = Claim(
    id="donsker-varadhan-lemma",
    question="What does it cost to change the distribution of an average?",
    equation=r"E_q X \le \mathrm{KL}(q|p) + \log E_p e^X",
    axes=("pair of distributions", "mean of X under q"),
    source=Source("theorem", "catoni2007pac"),
    premises=(Premise("both distributions have the same support"),),
    parameters={"points": 6, "cases": 100},
    judge=bounded_by("above", tight=1 - 1e-9),
)
