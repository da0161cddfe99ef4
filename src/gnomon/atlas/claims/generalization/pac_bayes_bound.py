"""The true error of a random classifier is below the PAC-Bayes bound, except in a share delta of samples.

    R <= r + sqrt((KL + ln(2 sqrt(n) / delta)) / (2 n))                                                            (1)

R is the true error, r the training error on n examples, KL the divergence of the posterior from the prior. Classifiers
are sign(x - t) with eleven values of t, a uniform prior and a posterior proportional to exp(-3 n r), so everything is
exact. Reference: [mcallester1999pac], [maurer2004note].
"""

from functools import partial

import numpy as np

from gnomon.bounds import mcallester_bound, seeger_bound
from gnomon.lab import Claim, Premise, Source, at_most

DELTA = 0.05
THRESHOLDS = np.linspace(0, 1, 11)


def predicted():
    """At most a share delta of samples breaks each bound."""
    return [DELTA, DELTA]


def bounds_broken(cheat, n, repetitions, seed):
    """Whether (1), and its inverse-kl form, are broken, for each sample."""
    rng = np.random.default_rng(seed)
    truth = 0.3 + 0.4 * np.abs(THRESHOLDS - 0.5)  # true errors, with mostly noisy labels
    found = []
    for _ in range(repetitions):
        r = rng.binomial(n, truth) / n
        q = np.exp(-3 * n * (r - r.min()))
        q /= q.sum()
        kl = 0.0 if cheat else float((q * np.log(np.maximum(q, 1e-300) * len(q))).sum())
        seen, true = float(q @ r), float(q @ truth)
        found.append([float(true > f(seen, max(kl, 0.0), n, DELTA)) for f in (mcallester_bound, seeger_bound)])
    return found


observed = partial(bounds_broken, cheat=False)  # A uniform prior.


def control(n, repetitions, seed):
    """The posterior is used as the prior, so no divergence is paid; many candidates and small samples."""
    from scipy.stats import binom  # slow to import

    u = np.random.default_rng(seed).uniform(size=repetitions)
    share = -np.expm1(np.log1p(-u) / 20_000)  # quantiles of the smallest error of 20,000 random classifiers
    least = binom.ppf(share, n, 0.5) / n
    return [[float(f(float(r), 0.0, n, DELTA) < 0.5) for f in (mcallester_bound, seeger_bound)] for r in least]


CLAIM = Claim(
    id="pac-bayes-bound",
    question="How often does a PAC-Bayes bound fail?",
    equation=r"R \le r + \sqrt{(\mathrm{KL} + \ln(2\sqrt n/\delta))/2n}",
    axes=("McAllester's bound, then Seeger's", "share of samples that break the bound"),
    source=Source("theorem", "maurer2004note", "Theorem 5"),
    premises=(Premise("the prior was fixed without the examples"),),
    parameters={"n": 100, "repetitions": 600},
    full={"repetitions": 5000},
    judge=at_most(confidence=0.99),
    remark="Also printed with 2 / n under the root: valid, and twice as loose.",
    loose_because="it holds for all posteriors at once, and a single one rarely breaks it: in 0 to 0.2 % of samples.",
)
