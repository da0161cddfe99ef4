"""A Markov chain that is in detailed balance with a distribution q does not change q.

    q(i) P(i, j) = q(j) P(j, i)  for all i, j    =>    q P = q     (1)

P(i, j) is the probability to move from state i to state j.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(states, seed):
    """Returns a random distribution over the states."""
    return torch.rand(states, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(0)


def predicted(states, seed):
    """Returns the distribution q itself, which the chain must leave unchanged."""
    return problem(states, seed)


def step(states, seed, accept):
    """Returns the distribution after one Metropolis-Hastings step from q with a random symmetric proposal."""
    q, generator = problem(states, seed), torch.Generator().manual_seed(seed + 1)
    proposal = torch.rand(states, states, generator=generator, dtype=torch.float64)
    proposal = (proposal + proposal.T) / (2 * states)
    moves = proposal * accept(q)
    moves = moves - moves.diagonal().diag()
    return q @ (moves + (1 - moves.sum(1)).diag())


observed = partial(step, accept=lambda q: (q[None, :] / q[:, None]).clamp(max=1))  # Accepts with min(1, q(j) / q(i)).
control = partial(step, accept=lambda q: torch.ones_like(q[None, :] / q[:, None]))  # Always accepted.

CLAIM = Claim(
    id="detailed-balance",
    question="Why does Metropolis-Hastings sample from the right distribution?",
    equation=r"q_i P_{ij} = q_j P_{ji} \;\Rightarrow\; qP = q",
    axes=("state", "probability after one step"),
    source=Source("derived"),
    premises=(Premise("the chain is in detailed balance with the distribution"),),
    parameters={"states": 12},
    full={"states": 300},
    judge=equals(rounding=100),  # tolerance 100 x machine precision: sums of `states` terms make rounding errors
    remark="It is the only stationary distribution if the chain reaches every state and has no period.",
)
