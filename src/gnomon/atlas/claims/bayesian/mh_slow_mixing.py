"""Random-walk Metropolis with steps of scale s accepts a share (2 / pi) arctan(2 / s) for a Gaussian target.

    P(accept) = 2 / pi arctan(2 / s)   for the target N(0, 1) and proposals x + s z     (1)

The target is N(0, 1) and proposals are x + s z with standard normal z.
"""

import math
from functools import partial

import torch

from gnomon.bayes import Metropolis, sample_posterior
from gnomon.lab import Claim, Premise, Source, equals

PROPOSAL_SCALES = (0.2, 1.0, 2.4, 10.0)


def predicted():
    """Returns the predicted share of accepted proposals, for each proposal scale."""
    return [2 / math.pi * math.atan(2 / s) for s in PROPOSAL_SCALES]


def acceptance(log_density, draws, seed):
    """Returns the measured share of accepted proposals of 64 chains, for each proposal scale."""
    start = torch.randn(64, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    methods = [Metropolis(scale, adapt=False) for scale in PROPOSAL_SCALES]
    options = {"chains": 64, "draws": draws, "warmup": 10, "seed": seed}
    runs = (sample_posterior(log_density, start, method=m, **options) for m in methods)
    return [run.accepted for run in runs]


observed = partial(acceptance, log_density=lambda x: -x.square().sum() / 2)  # The target is the standard normal.
control = partial(acceptance, log_density=lambda x: -torch.log1p(x.square()).sum())  # Control: heavy tail, 1/(1 + x^2).

CLAIM = Claim(
    id="mh-slow-mixing",
    question="How often does a random walk accept its proposals?",
    equation=r"P(\text{accept}) = \tfrac{2}{\pi}\arctan(2/s)",
    axes=("scale of the proposal s (0.2, 1, 2.4, 10)", "acceptance probability"),
    source=Source("derived"),
    premises=(Premise("the target is Gaussian"),),
    parameters={"draws": 300},
    full={"draws": 3000},
    judge=equals(
        within=0.04,
        because="a mean over 64 chains of which at scale 0.2 about one draw in 200 is new: a standard error of 0.01",
    ),
)
