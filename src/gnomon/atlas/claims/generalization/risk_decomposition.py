"""The excess error is at most the optimization error plus twice the largest gap of training and true error.

    E R(f_n) - min R <= E[2 max |R_n - R|] + E[R_n(f_n) - min R_n]                                                 (1)

R is the true and R_n the training risk on n examples, f_n what training returns. min R_n - min R is at most zero on
average. Reference: [vapnik1971uniform].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(members, seed):
    """Returns the true error of each member of a finite class of functions."""
    return np.random.default_rng(seed).uniform(0.1, 0.6, members)


def predicted(members, sizes, repetitions, seed):
    """Returns the bound on the excess error for each sample size, estimated on separate samples."""
    rng, risk = np.random.default_rng(seed + 1), problem(members, seed)
    found = []
    for n in sizes:
        empirical = rng.binomial(n, risk, size=(repetitions, members)) / n
        chosen = np.minimum(empirical[:, : members // 2].min(1), 1)  # optimization only searches half of the class
        found.append((2 * np.abs(empirical - risk).max(1)).mean() + (chosen - empirical.min(1)).mean())
    return found


def excess(shift, members, sizes, repetitions, seed):
    """Returns the expected excess error per sample size; ``shift`` trains on another distribution."""
    rng, risk = np.random.default_rng(seed + 2), problem(members, seed)
    found = []
    for n in sizes:
        source = 0.7 - risk if shift else risk
        empirical = rng.binomial(n, source, size=(repetitions, members)) / n
        found.append(risk[empirical[:, : members // 2].argmin(1)].mean() - risk.min())
    return found


observed = partial(excess, shift=False)  # Training and test data have the same distribution.
control = partial(excess, shift=True)  # Control: training and test data have different distributions.

CLAIM = Claim(
    id="risk-decomposition",
    question="Where does excess risk come from?",
    equation=r"E R(\hat f) - \inf R \le E[2\sup|\hat R - R|] + E[\hat R(\hat f) - \inf \hat R]",
    axes=("number of examples n", "excess risk", "sizes"),
    source=Source("theorem", "vapnik1971uniform"),
    premises=(Premise("training sample and true risk have the same distribution"),),
    parameters={"members": 200, "sizes": (50, 200, 1000), "repetitions": 200},
    judge=bounded_by("above"),
    loose_because="the class deviates far more than the chosen member: 0.04 to 0.2 of the bound is reached.",
)
