"""Run backward in time with the score (gradient of log density), the noising equation samples the data.

    dx = (-beta x / 2 - beta grad log q_t(x)) dt + sqrt(beta) dW, backward in time     (1)

beta is the noise rate, q_t the density of noised data at time t, grad log q_t its score, W Brownian motion.
"""

from functools import partial

import numpy as np
import torch

from gnomon.data import gaussian_mixture
from gnomon.lab import Claim, Premise, Source, distributed_as

BETA = 8.0


def problem():
    """Returns a mixture of two Gaussians, one three times as frequent."""
    return gaussian_mixture([[-1.0], [1.0]], std=0.3, weights=[1, 3])


def predicted():
    """Returns the cumulative distribution function of the data."""
    from scipy.stats import norm

    p = problem()
    return lambda t: sum(float(w) * norm.cdf(t, float(m), 0.3) for w, m in zip(p.weights, p.means, strict=True))


def run_backward(steps, samples, seed, weight):
    """Returns samples of the reverse diffusion: noise carried backward by Euler steps with the exact score."""
    p, generator = problem(), torch.Generator().manual_seed(seed)
    x, dt = torch.randn(samples, 1, generator=generator, dtype=torch.float64), 1 / steps
    for i in range(steps):
        kept = np.exp(-BETA * (1 - i * dt))
        slope = p.noised(kept**0.5, (1 - kept) ** 0.5).score(x)
        noise = torch.randn(samples, 1, generator=generator, dtype=torch.float64)
        x = x + (BETA * x / 2 + weight * BETA * slope) * dt + (BETA * dt) ** 0.5 * noise
    return x[:, 0]


observed = partial(run_backward, weight=1.0)  # In the test the score is multiplied by beta.
control = partial(run_backward, weight=0.5)  # Control: the score is multiplied by beta / 2, as in the reverse ODE.

CLAIM = Claim(
    id="diffusion-reverse-sde",
    question="How does a diffusion model turn noise back into data?",
    equation=r"dx = (-\tfrac12\beta x - \beta\nabla\log q_t(x))\,dt + \sqrt\beta\,d\bar W",
    axes=("value of the sample x", "share of samples below x"),
    source=Source("theorem", "anderson1982reverse"),
    premises=(Premise("the score is multiplied by beta"), Premise("the steps are small", lambda steps: steps >= 200)),
    parameters={"steps": 300, "samples": 800},
    full={"steps": 4000, "samples": 20_000},
    judge=distributed_as(confidence=0.999, resolution=0.1),
)
