"""Many small noising steps of a diffusion model lead to the mean and variance of one step from a scaled example.

    x_k = sqrt(1 - beta_k) x_{k-1} + sqrt(beta_k) e  =>  x_k ~ N(sqrt(a_k) x_0, 1 - a_k), a_k = prod_j (1 - beta_j)  (1)

x_0 is the example, e standard Gaussian noise, and beta_k the noise variance of step k.
"""

from functools import partial

import torch

from gnomon.generative.diffusion.schedule import linear_schedule
from gnomon.lab import Claim, Premise, Source, mean_equals

START = 1.5


def problem(steps):
    """Returns the noise variances of all steps."""
    return linear_schedule(steps, first=1e-3, last=0.15).betas


def predicted(steps):
    """Returns the mean and the mean square of the noised value after the last step."""
    kept = (1 - problem(steps)).log().sum().exp()
    return torch.stack([kept.sqrt() * START, kept * START**2 + 1 - kept])


def ends(steps, paths, seed, power):
    """Returns x and x^2 after the last noising step of simulated chains."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.full((paths,), START, dtype=torch.float64)
    for beta in problem(steps):
        noise = torch.randn(paths, generator=generator, dtype=torch.float64)
        x = (1 - beta) ** power * x + beta.sqrt() * noise
    return torch.stack([x, x.square()], 1)


observed = partial(ends, power=0.5)  # In the test each step multiplies the example by sqrt(1 - beta).
control = partial(ends, power=1.0)  # Without it.

CLAIM = Claim(
    id="ddpm-closed-form-marginal",
    question="What does an example look like after many noising steps?",
    equation=r"x_t \sim N(\sqrt{\bar\alpha_t}\,x_0, (1 - \bar\alpha_t) I),\quad \bar\alpha_t = \prod(1 - \beta_\tau)",
    axes=("mean, then second moment", "moment of x_k"),
    source=Source("theorem", "ho2020denoising", "equation 4"),
    premises=(Premise("the example is multiplied by sqrt(1 - beta)"), Premise("the noise of each step is independent")),
    parameters={"steps": 20, "paths": 8000},
    full={"steps": 1000, "paths": 100_000},
    covers=("ddpm-forward-step",),
    judge=mean_equals(confidence=0.999, resolution=0.1),
)
