"""The variance-preserving equation forgets its start at a known rate.

dx = -beta x / 2 dt + sqrt(beta) dW:    mean e^(-B/2) x_0,  variance 1 - e^(-B),  B = int beta dt     (1)
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals

FIRST, LAST, X0 = 0.1, 4.0, 2.0


def predicted():
    """The mean and the second moment at the end; equation (1)."""
    total = torch.tensor((FIRST + LAST) / 2, dtype=torch.float64)
    mean = (-total / 2).exp() * X0
    return torch.stack([mean, mean**2 + 1 - (-total).exp()])


def ends(steps, paths, seed, drift):
    """x and x^2 at the end of paths by Euler and Maruyama, beta growing evenly in time."""
    generator = torch.Generator().manual_seed(seed)
    x, dt = torch.full((paths,), X0, dtype=torch.float64), 1 / steps
    for i in range(steps):
        beta = FIRST + (LAST - FIRST) * (i + 0.5) * dt
        noise = torch.randn(paths, generator=generator, dtype=torch.float64)
        x = x - drift * beta * x * dt + (beta * dt) ** 0.5 * noise
    return torch.stack([x, x.square()], 1)


observed = partial(ends, drift=0.5)  # Half of beta.
control = partial(ends, drift=1.0)  # All of beta.

CLAIM = Claim(
    id="diffusion-forward-sde",
    title="The variance-preserving equation forgets its start at a known rate",
    equation=r"dx = -\tfrac12\beta_t x\,dt + \sqrt{\beta_t}\,dW \Rightarrow E x_t = e^{-\frac12\int\beta}x_0",
    source=Source("theorem", "song2021score", "Appendix B"),
    premises=(
        Premise("the drift is -beta x / 2"),
        Premise("small steps", lambda steps: steps >= 100),
    ),
    parameters={"steps": 200, "paths": 4000},
    full={"steps": 2000, "paths": 100_000},
    judge=mean_equals(confidence=0.999, resolution=0.1, within=0.01, because="steps of length 1 / 200"),
)
