"""Underdamped Langevin dynamics has positions of the density exp(-E) and velocities of variance one.

dx = v dt,  dv = -grad E dt - B v dt + sqrt(2 B) dW:    law exp(-E(x) - v^2 / 2)     (1)
"""

import torch

from gnomon.bayes import Langevin, sample
from gnomon.lab import Claim, Premise, Source, mean_equals

BALANCED = "noise of variance 2 B dt balances the friction"


def predicted():
    """Mean squares of the position in a harmonic well; equation (1)."""
    return 1.0


def observed(chains, draws, friction, seed):
    """The mean square of each chain of the package's sampler."""
    method = Langevin(0.3, friction)
    start = torch.randn(chains, 1, generator=torch.Generator().manual_seed(seed))
    run = sample(
        lambda x: -x.square().sum() / 2, start, method=method, chains=chains, draws=draws, warmup=50, seed=seed
    )
    return run.values.square().mean((1, 2))


def control(chains, draws, friction, seed):
    """Noise of variance B dt, half of what balances."""
    generator = torch.Generator().manual_seed(seed)
    x, v, total, step = torch.zeros(chains).double(), torch.zeros(chains).double(), 0.0, 0.02
    for t in range(50 + 15 * draws // 4):
        v = (
            v
            - step * x
            - step * friction * v
            + (friction * step) ** 0.5 * torch.randn(chains, generator=generator).double()
        )
        x = x + step * v
        total = total + x.square() * (t >= 50 + 5 * draws // 4)
    return total / (15 * draws // 4 - 5 * draws // 4)


CLAIM = Claim(
    id="langevin-dynamics",
    title="Underdamped Langevin dynamics has positions of the density exp(-E) and velocities of variance one",
    equation=r"dv = -\nabla E\,dt - Bv\,dt + \sqrt{2B}\,dW",
    source=Source("derived"),
    premises=(Premise(BALANCED),),
    breaks=BALANCED,
    parameters={"chains": 200, "draws": 400, "friction": 1.0},
    full={"draws": 4000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
    predicted=predicted,
    observed=observed,
    control=control,
)
