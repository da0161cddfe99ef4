"""For a random direction e, e.A e estimates the trace of a matrix A without bias, with a known variance.

    E e.A e = tr A,    Var e.A e = 2 |S|_F^2 for Gaussian e,  S = (A + A^T) / 2     (1)

A is a matrix, e a random direction and |.|_F the Frobenius norm.
"""

from functools import partial

import torch

from gnomon.generative.divergence import HutchinsonTrace
from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(d, seed):
    """Returns a random matrix A, whose trace is estimated."""
    return torch.randn(d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + torch.eye(d).double()


def predicted(d, seed):
    """Returns the trace, then the mean square of its estimate: squared trace plus variance."""
    a = problem(d, seed)
    s = (a + a.T) / 2
    return torch.stack([a.trace(), a.trace() ** 2 + 2 * s.square().sum()])


def products(d, n, seed, size):
    """Returns the estimates e.A e and their squares, for single directions e scaled by ``size``."""
    rule, a, x = HutchinsonTrace(1, "gaussian", seed), problem(d, seed), torch.zeros(n, d, dtype=torch.float64)
    values = rule(lambda y: y @ a.T, x, size * rule.directions(x))[1]
    return torch.stack([values, values.square()], 1)


observed = partial(products, size=1.0)  # Standard directions.
control = partial(products, size=1.1)  # 10 % longer.

CLAIM = Claim(
    id="ffjord",
    question="Can a trace be estimated without computing it?",
    equation=r"E\,\epsilon^\top A\epsilon = \mathrm{tr} A,\quad \mathrm{Var} = 2\|\mathrm{sym} A\|_F^2",
    axes=("mean, then mean square of the estimate", "trace; squared trace"),
    source=Source("theorem", "hutchinson1989stochastic"),
    premises=(Premise("directions are standard Gaussian"),),
    parameters={"d": 6, "n": 40_000},
    full={"n": 1_000_000},
    judge=mean_equals(confidence=0.999, resolution=0.1),
)
