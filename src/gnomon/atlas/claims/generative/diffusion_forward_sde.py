"""The forward diffusion dx = -beta x / 2 dt + sqrt(beta) dW shrinks an example by exp(-(1/2) integral of beta).

    dx = -beta x / 2 dt + sqrt(beta) dW:    mean e^(-B/2) x_0,  variance 1 - e^(-B),  B = int beta dt     (1)

beta(t) is the noise rate, W Brownian motion, x_0 the start.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals

FIRST_BETA = 0.1
LAST_BETA = 4.0
START = 2.0


def predicted():
    """Returns the mean and the mean square of the noised values at the last time."""
    total = torch.tensor((FIRST_BETA + LAST_BETA) / 2, dtype=torch.float64)
    mean = (-total / 2).exp() * START
    return torch.stack([mean, mean**2 + 1 - (-total).exp()])


def ends(steps, paths, seed, drift):
    """Returns x and x^2 at the end of simulated paths of the forward diffusion, with beta linear in time."""
    generator = torch.Generator().manual_seed(seed)
    x, dt = torch.full((paths,), START, dtype=torch.float64), 1 / steps
    for i in range(steps):
        beta = FIRST_BETA + (LAST_BETA - FIRST_BETA) * (i + 0.5) * dt
        noise = torch.randn(paths, generator=generator, dtype=torch.float64)
        x = x - drift * beta * x * dt + (beta * dt) ** 0.5 * noise
    return torch.stack([x, x.square()], 1)


observed = partial(ends, drift=0.5)  # The test's drift is -beta x / 2.
control = partial(ends, drift=1.0)  # Drift beta.

CLAIM = Claim(
    id="diffusion-forward-sde",
    question="How fast does the forward process of a diffusion forget the example?",
    equation=r"dx = -\tfrac12\beta_t x\,dt + \sqrt{\beta_t}\,dW \Rightarrow E x_t = e^{-\frac12\int\beta}x_0",
    axes=("mean, then second moment", "moment at the end"),
    source=Source("theorem", "song2021score", "Appendix B"),
    premises=(Premise("the drift is -beta x / 2"), Premise("the steps are small", lambda steps: steps >= 100)),
    parameters={"steps": 200, "paths": 4000},
    full={"steps": 2000, "paths": 100_000},
    judge=mean_equals(confidence=0.999, resolution=0.1, within=0.01, because="steps of length 1 / 200"),
)
