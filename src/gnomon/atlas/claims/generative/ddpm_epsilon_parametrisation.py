"""The mean of a diffusion model's reverse step can be computed from the example or from the added noise.

    m = (x_k - beta_k e / sqrt(1 - a_k)) / sqrt(1 - beta_k),    x_0 = (x_k - sqrt(1 - a_k) e) / sqrt(a_k)     (1)

m is the mean, x_k the noised example, x_0 the example, e the noise, beta_k the noise variance of step k, and a_k the
product of all 1 - beta_j up to k.
"""

from functools import partial

import torch

from gnomon.generative.diffusion.schedule import linear_schedule
from gnomon.lab import Claim, Premise, Source, equals


def problem(steps, seed):
    """Returns a noise schedule, an example and noise."""
    generator = torch.Generator().manual_seed(seed)
    return linear_schedule(steps), *torch.randn(2, 3, generator=generator, dtype=torch.float64)


def predicted(steps, seed):
    """Returns the mean of each reverse step, computed from the added noise."""
    schedule, x0, e = problem(steps, seed)
    rows, kept = [], torch.ones(()).double()
    for beta in schedule.betas:
        kept = kept * (1 - beta)
        xk = kept.sqrt() * x0 + (1 - kept).sqrt() * e
        rows.append((xk - beta * e / (1 - kept).sqrt()) / (1 - beta).sqrt())
    return torch.stack(rows)


def means(steps, seed, size):
    """Returns the mean of each reverse step, computed from the example, with noise scaled by ``size``."""
    schedule, x0, e = problem(steps, seed)
    kept = schedule.kept[1:, None]
    noised = kept.sqrt() * x0 + (1 - kept).sqrt() * size * e
    return torch.stack([schedule.posterior_mean(k + 1, x0, xk) for k, xk in enumerate(noised)])


observed = partial(means, size=1.0)  # The same noise.
control = partial(means, size=1.1)  # Control: the noise in the formula is 10 % too large.

CLAIM = Claim(
    id="ddpm-epsilon-parametrisation",
    question="Should a diffusion model predict the example or the noise?",
    equation=r"\mu = \frac{1}{\sqrt{\alpha_t}}\left(x_t - \frac{\beta_t}{\sqrt{1 - \bar\alpha_t}}\epsilon\right)",
    axes=("coordinate, for every step", "mean of the reverse step"),
    source=Source("theorem", "ho2020denoising", "equation 10"),
    premises=(Premise("x_k is the example with this noise added"),),
    parameters={"steps": 50},
    full={"steps": 1000},
    judge=equals(rounding=1e6),  # tolerance: in the first steps 1 - a loses four digits, and its root is a divisor
)
