"""Langevin dynamics with friction (energy x^2 / 2) keeps the mean squares of positions and velocities at one.

    dx = v dt,  dv = -grad E dt - B v dt + sqrt(2 B) dW:    law exp(-E(x) - v^2 / 2)     (1)

E is the energy, B the friction, and W Brownian motion. The law is Gaussian for E = x^2 / 2, as measured here.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

STEP_SIZE = 0.1


def predicted():
    """Returns the mean squares of position and velocity for the energy x^2 / 2: both are 1."""
    return [1.0, 1.0]


def squares(share, chains, draws, friction, seed):
    """Returns the time averages of x^2 and v^2 in each chain; ``share`` scales the variance of the noise."""
    rng = np.random.default_rng(seed)
    x, v, total = np.zeros(chains), np.zeros(chains), np.zeros((2, chains))
    kept = np.exp(-friction * STEP_SIZE)
    for t in range(100 + draws):
        v = v - STEP_SIZE / 2 * x
        x = x + STEP_SIZE / 2 * v
        v = kept * v + np.sqrt(share * (1 - kept**2)) * rng.normal(size=chains)
        x = x + STEP_SIZE / 2 * v
        v = v - STEP_SIZE / 2 * x
        total += (t >= 100) * np.stack([x**2, v**2])
    return (total / draws).T


observed = partial(squares, share=1.0)  # The noise has the variance that balances the friction.
control = partial(squares, share=0.5)  # Control: the noise has half of the variance that balances the friction.

CLAIM = Claim(
    id="langevin-dynamics",
    question="Which distribution does Langevin dynamics sample?",
    equation=r"dv = -\nabla E\,dt - Bv\,dt + \sqrt{2B}\,dW",
    axes=("position, then velocity", "mean square"),
    source=Source("derived"),
    premises=(Premise("noise of variance 2 B dt balances the friction"),),
    parameters={"chains": 200, "draws": 1000, "friction": 1.0},
    full={"chains": 500, "draws": 10_000},
    judge=mean_equals(confidence=0.999, within=STEP_SIZE**2, because="the square of the step of the integration"),
)
