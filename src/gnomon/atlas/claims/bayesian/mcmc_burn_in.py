"""The squared error of the mean of a stationary chain is its variance divided by the effective sample size.

    E[(mean of n draws - truth)^2] = var / ESS     (1)

ESS is the effective sample size of the n draws.
"""

import torch

from gnomon.bayes import effective_sample_size
from gnomon.lab import Claim, Premise, Source, mean_equals


def chains(count, n, rho, start, seed):
    """Autoregressions x' = rho x + sqrt(1 - rho^2) z, with stationary distribution N(0, 1)."""
    z = torch.randn(n, count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x, rows = z[0] + start, []
    for t in range(n):
        x = rho * x + (1 - rho**2) ** 0.5 * z[t]
        rows.append(x)
    return torch.stack(rows, 1)[:, :, None]


def predicted():
    """The squared error divided by the predicted one; equation (1)."""
    return 1.0


def ratios(x):
    """Squared error of each chain's mean divided by the average of variance / ESS over the chains."""
    inverse_sizes = [float(1 / effective_sample_size(chain[None])) for chain in x]
    return x.mean(1)[:, 0].square() / (sum(inverse_sizes) / len(inverse_sizes))


def observed(count, n, rho, seed):
    """Chains that start in their stationary distribution."""
    return ratios(chains(count, n, rho, 0.0, seed))


def control(count, n, rho, seed):
    """Chains that start thirty standard deviations away, without discarding the burn-in."""
    return ratios(chains(count, n, rho, 30.0, seed))


CLAIM = Claim(
    id="mcmc-burn-in",
    question="How far is the mean of an MCMC chain from the truth?",
    equation=r"\mathbb E (\bar x_n - \mu)^2 = \sigma^2 / \mathrm{ESS}",
    axes=("chain", "squared error of the mean / (variance / ESS)"),
    source=Source("theorem", "geyer1992practical"),
    premises=(Premise("the chain is stationary: its burn-in is discarded"),),
    parameters={"count": 200, "n": 400, "rho": 0.8},
    full={"count": 1000, "n": 2000},
    judge=mean_equals(
        confidence=0.999,
        resolution=0.5,
        within=0.1,
        because="tau is estimated with a bias of order tau / n times its cutoff, below 10 % at n = 100 tau",
    ),
)
