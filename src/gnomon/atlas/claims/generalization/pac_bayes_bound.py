"""The true error of a random classifier is below the PAC-Bayes bound, except for a share delta of samples.

    R <= r + sqrt((KL + ln(2 sqrt(n) / delta)) / (2 n))                                                            (1)

R is the true error, r the training error on n examples, KL the divergence of the posterior from the prior. All
20,000 classifiers guess, so R = 1/2 is exact. The prior is uniform, the posterior proportional to exp(-3 n r).
Reference: [mcallester1999pac], [maurer2004note].
"""

from functools import partial

import numpy as np

from gnomon.bounds import mcallester_bound, seeger_bound
from gnomon.lab import Claim, Premise, Source, at_most

DELTA = 0.05
CLASSIFIERS = 20_000


def predicted():
    """Returns delta twice: the largest share of samples that may break each bound."""
    return [DELTA, DELTA]


def bounds_broken(cheat, n, repetitions, seed):
    """Returns for each sample whether the true error exceeds the PAC-Bayes bound, and the tighter inverse-kl bound."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repetitions):
        r = rng.binomial(n, 0.5, size=CLASSIFIERS) / n
        q = np.exp(-3 * n * (r - r.min()))
        q /= q.sum()
        kl = 0.0 if cheat else float((q * np.log(np.maximum(q, 1e-300) * len(q))).sum())
        found.append([float(f(float(q @ r), max(kl, 0.0), n, DELTA) < 0.5) for f in (mcallester_bound, seeger_bound)])
    return found


observed = partial(bounds_broken, cheat=False)  # A uniform prior.
control = partial(bounds_broken, cheat=True)  # Control: the posterior is also the prior, so the KL term is 0.

CLAIM = Claim(
    id="pac-bayes-bound",
    question="How often does a PAC-Bayes bound fail?",
    equation=r"R \le r + \sqrt{(\mathrm{KL} + \ln(2\sqrt n/\delta))/2n}",
    axes=("McAllester's bound, then Seeger's", "share of samples that break the bound"),
    source=Source("theorem", "maurer2004note", "Theorem 5"),
    premises=(Premise("the prior was fixed without the examples"),),
    parameters={"n": 100, "repetitions": 300},
    full={"repetitions": 5000},
    judge=at_most(confidence=0.99),
    remark="Also printed with 2 / n under the root: valid, and twice as loose.",
    loose_because="it holds for all posteriors at once, and the one used here breaks it in no sample.",
)
