"""The squared error of a Markov chain's mean is the variance divided by the effective sample size (ESS).

    E[(mean of n draws - truth)^2] = var / ESS     (1)

ESS is the effective sample size of the n draws.
"""

from functools import partial

import torch

from gnomon.bayes import effective_sample_size
from gnomon.lab import Claim, Premise, Source, mean_equals


def chains(count, n, rho, start, seed):
    """Returns Markov chains x' = rho x + sqrt(1 - rho^2) z with noise z, whose stationary distribution is N(0, 1)."""
    z = torch.randn(n + 1, count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x, rows = z[0] + start, []
    for t in range(n):
        x = rho * x + (1 - rho**2) ** 0.5 * z[t + 1]
        rows.append(x)
    return torch.stack(rows, 1)[:, :, None]


def predicted():
    """Returns 1, the squared error divided by variance / ESS."""
    return 1.0


def ratios(start, count, n, rho, seed):
    """Returns the squared error of each chain's mean divided by variance / ESS, with the ESS of 200 chains."""
    x = chains(count, n, rho, start, seed)
    return x.mean(1)[:, 0].square() * float(effective_sample_size(x[:200])) / 200


observed = partial(ratios, start=0.0)  # The test's chains start in their stationary distribution.
control = partial(ratios, start=30.0)  # Control: chains start 30 standard deviations away and keep their burn-in steps.

CLAIM = Claim(
    id="mcmc-burn-in",
    question="How far is the mean of an MCMC chain from the truth?",
    equation=r"\mathbb E (\bar x_n - \mu)^2 = \sigma^2 / \mathrm{ESS}",
    axes=("chain", "squared error of the mean / (variance / ESS)"),
    source=Source("theorem", "geyer1992practical"),
    premises=(Premise("the chain is stationary: its burn-in is discarded"),),
    parameters={"count": 6000, "n": 2000, "rho": 0.8},
    full={"n": 4000},
    judge=mean_equals(
        confidence=0.999, resolution=0.1, within=0.02, because="the ESS of 200 chains has a standard error of about 1 %"
    ),
)
