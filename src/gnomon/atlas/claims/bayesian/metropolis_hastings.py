"""Metropolis-Hastings samples a distribution known up to a factor, also if steps up and down are proposed unequally.

    accept i -> j with probability min(1, p(j) R(j, i) / (p(i) R(i, j)))     (1)

p is the distribution and R(i, j) the probability to propose j from i.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals

WEIGHTS = torch.tensor([1.0, 4.0, 2.0, 3.0, 5.0], dtype=torch.float64)
PROPOSE_UP = 0.8


def predicted():
    """Returns the probability of each state: the unnormalized weights divided by their sum."""
    return WEIGHTS / WEIGHTS.sum()


def shares(chains, steps, seed, back, forth):
    """Returns the share of time that each chain spends in each of five states; steps up are proposed more often."""
    generator = torch.Generator().manual_seed(seed)
    state, seen = torch.randint(5, (chains,), generator=generator), torch.zeros(chains, 5, dtype=torch.float64)
    for t in range(steps):
        up = torch.rand(chains, generator=generator) < PROPOSE_UP
        new = (state + torch.where(up, 1, -1)) % 5
        ratio = WEIGHTS[new] / WEIGHTS[state] * torch.where(up, back / forth, forth / back)
        state = torch.where(torch.rand(chains, generator=generator) < ratio, new, state)
        if t >= steps // 4:
            seen[torch.arange(chains), state] += 1
    return seen / seen.sum(1, keepdim=True)


observed = partial(shares, back=1 - PROPOSE_UP, forth=PROPOSE_UP)  # The acceptance includes the ratio of proposals.
control = partial(shares, back=1.0, forth=1.0)  # Without it.

CLAIM = Claim(
    id="metropolis-hastings",
    question="How can one sample from a distribution known only up to a factor?",
    equation=r"\alpha(j|i) = \min\{1,\; p_j R_{ji} / (p_i R_{ij})\}",
    axes=("state", "share of time"),
    source=Source("theorem", "hastings1970monte"),
    premises=(Premise("the acceptance includes the ratio of proposals"),),
    parameters={"chains": 400, "steps": 400},
    full={"chains": 2000, "steps": 4000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
)
