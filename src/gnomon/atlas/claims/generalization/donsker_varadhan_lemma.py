"""An expectation under one law is at most the divergence from another plus a log moment there.

    E_q[X] <= KL(q | p) + ln E_p[e^X],    equality for q proportional to p e^X                                     (1)

Reference: [catoni2007pac].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(points, cases, seed):
    """Random laws and numbers; in every other case q is the tilted law."""
    rng = np.random.default_rng(seed)
    x = 1 + np.abs(rng.normal(size=(cases, points)))
    p, q = rng.dirichlet(np.ones(points), size=(2, cases))
    tilt = p * np.exp(x)
    q[::2] = (tilt / tilt.sum(1, keepdims=True))[::2]
    return x, p, q


def predicted(points, cases, seed):
    """The right side of (1)."""
    x, p, q = problem(points, cases, seed)
    return (q * np.log(q / p)).sum(1) + np.log((p * np.exp(x)).sum(1))


def observed(points, cases, seed):
    """The left side."""
    x, _, q = problem(points, cases, seed)
    return (q * x).sum(1)


def control(points, cases, seed):
    """The left side, with one more point that only q has."""
    x, _, q = problem(points, cases, seed)
    return 0.5 * (q * x).sum(1) + 0.5 * 10


CLAIM = Claim(
    id="donsker-varadhan-lemma",
    title="Changing the law of an average costs the divergence",
    equation=r"E_q X \le \mathrm{KL}(q|p) + \log E_p e^X",
    source=Source("theorem", "catoni2007pac"),
    premises=(Premise("both laws live on the same points"),),
    parameters={"points": 6, "cases": 100},
    judge=bounded_by("above", tight=1 - 1e-9),
)
