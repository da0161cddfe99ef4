"""A noising step of a diffusion model keeps the expected squared norm of an example of mean square 1.

    E[|x_k|^2 | x_{k-1}] = (1 - beta) |x_{k-1}|^2 + beta d,      (1)

beta is the noise variance of the step and d the number of coordinates. The value is d if |x_{k-1}|^2 = d.
"""

from functools import partial

import torch

from gnomon.data import sphere_points
from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(d, beta):
    """Returns the number of coordinates d, then the expected squared norm for an example of twice the norm."""
    return torch.tensor([d, (1 - beta) * 4 * d + beta * d], dtype=torch.float64)


def squares(d, beta, n, seed, size):
    """Returns squared norms after one noising step, from a point of norm ``size`` sqrt(d) and from one twice as far."""
    generator = torch.Generator().manual_seed(seed)
    x = size * sphere_points(1, d, seed=0)
    noise = torch.randn(n, d, generator=generator, dtype=torch.float64)
    steps = [(1 - beta) ** 0.5 * scale * x + beta**0.5 * noise for scale in (1.0, 2.0)]
    return torch.stack([step.square().sum(1) for step in steps], 1)


observed = partial(squares, size=1.0)  # The test's example has mean square 1: its norm is sqrt(d).
control = partial(squares, size=1.3)  # Control: the example has norm 1.3 sqrt(d), mean square 1.69.

CLAIM = Claim(
    id="ddpm-energy-conservation",
    question="Why do noised examples keep their size?",
    equation=r"E[\|x_t\|^2 | x_{t-1}] = (1 - \beta_t)\|x_{t-1}\|^2 + \beta_t d",
    axes=("example on the sphere, then twice as large", "mean squared norm after one step"),
    source=Source("theorem", "ho2020denoising"),
    premises=(Premise("the mean square of a coordinate is 1"),),
    parameters={"d": 10, "beta": 0.2, "n": 4000},
    full={"n": 400_000},
    judge=mean_equals(confidence=0.999, resolution=0.1),
)
