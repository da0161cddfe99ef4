"""Run backward with the score, the noising equation returns samples of the data.

dx = (-beta x / 2 - beta grad log q_t(x)) dt + sqrt(beta) dW, backward in time     (1)
"""

from functools import partial

import numpy as np
import torch

from gnomon.data import mixture
from gnomon.lab import Claim, Premise, Source, distributed_as

RATE = 8.0


def problem():
    """Two Gaussians, one three times as frequent."""
    return mixture([[-1.0], [1.0]], std=0.3, weights=[1, 3])


def predicted():
    """The distribution function of the data."""
    from scipy.stats import norm

    p = problem()
    return lambda t: sum(
        float(w) * norm.cdf(np.asarray(t), float(m), 0.3) for w, m in zip(p.weights, p.means, strict=True)
    )


def returned(steps, samples, seed, weight):
    """Noise carried back by steps of Euler and Maruyama, beta constant and the score exact."""
    p, generator = problem(), torch.Generator().manual_seed(seed)
    x, dt = torch.randn(samples, 1, generator=generator, dtype=torch.float64), 1 / steps
    for i in range(steps):
        kept = np.exp(-RATE * (1 - i * dt))
        slope = p.noised(kept**0.5, (1 - kept) ** 0.5).score(x)
        noise = torch.randn(samples, 1, generator=generator, dtype=torch.float64)
        x = x + (RATE * x / 2 + weight * RATE * slope) * dt + (RATE * dt) ** 0.5 * noise
    return x[:, 0]


observed = partial(returned, weight=1.0)  # With beta.
control = partial(returned, weight=0.5)  # With beta / 2, as in the equation without noise.

CLAIM = Claim(
    id="diffusion-reverse-sde",
    title="Run backward with the score, the noising equation returns samples of the data",
    equation=r"dx = (-\tfrac12\beta x - \beta\nabla\log q_t(x))\,dt + \sqrt\beta\,d\bar W",
    source=Source("theorem", "anderson1982reverse"),
    premises=(
        Premise("the score has the weight beta"),
        Premise("small steps", lambda steps: steps >= 200),
    ),
    parameters={"steps": 300, "samples": 800},
    full={"steps": 4000, "samples": 20_000},
    judge=distributed_as(confidence=0.999, resolution=0.1),
)
