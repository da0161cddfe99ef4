"""The latents of all examples together have the moments of N(0, I) in a trained VAE.

|mean of latents| and |covariance of latents - I|_F are at most half the root of their number     (1)
"""

import torch
from torch import nn

from gnomon.generative import VAE, Gaussian, elbo_gap, fit
from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.training import Adam

KL = "the loss pulls latents toward N(0, I)"


def problem(n):
    """Points of five dimensions around a plane."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(n, 2, generator=generator) @ torch.randn(2, 5, generator=generator) + 0.3 * torch.randn(
        n, 5, generator=generator
    )


def predicted(latent):
    """Half the root of the number of latent coordinates, for both distances."""
    return [0.5 * latent**0.5] * 2


def distances(n, latent, steps, beta):
    """Of the mean of the latents from 0 and of their covariance from the identity."""
    torch.manual_seed(0)
    encoder = nn.Linear(5, 2 * latent)
    vae = VAE(encoder, nn.Linear(latent, 5), latent=latent, shape=(5,), observation=Gaussian(0.3), beta=beta)
    told = elbo_gap(fit(vae, problem(n), steps=steps, optimizer=Adam(0.05)).model, problem(n), draws=2)
    return [told.mean_off, told.covariance_off]


def observed(n, latent, steps):
    """With the divergence in its loss."""
    return distances(n, latent, steps, 1.0)


def control(n, latent, steps):
    """Without it."""
    return distances(n, latent, steps, 0.0)


CLAIM = Claim(
    id="vae-model",
    title="The latents of all examples together have the moments of N(0, I) in a trained VAE",
    equation=r"\|\bar\mu\|,\ \|\mathrm{Cov}(z) - I\|_F \le \tfrac12\sqrt m",
    source=Source("observed", "kingma2014auto"),
    premises=(Premise(KL), Premise("trained long enough", lambda steps: steps >= 200)),
    breaks=KL,
    parameters={"n": 300, "latent": 2, "steps": 300},
    full={"n": 2000, "steps": 3000},
    judge=bounded_by("above"),
    predicted=predicted,
    observed=observed,
    control=control,
)
