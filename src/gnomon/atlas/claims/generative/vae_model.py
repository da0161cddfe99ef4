"""The latents of all examples together have the moments of N(0, I) in a trained VAE.

|mean of latents| and |covariance of latents - I|_F are at most half the root of their number     (1)
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import VAE, elbo_gap, fit
from gnomon.generative.vae import GaussianObservation
from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.training import Adam


def problem(n, seed):
    """Points of five dimensions around a plane."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 2, generator=generator) @ torch.randn(2, 5, generator=generator)
    return x / x.std() + 0.3 * torch.randn(n, 5, generator=generator)


def predicted(latent):
    """Half the root of the number of latent coordinates, for both distances."""
    return [0.5 * latent**0.5] * 2


def distances(n, latent, steps, beta, seed):
    """Of the mean of the latents from 0 and of their covariance from the identity."""
    torch.manual_seed(seed)
    encoder = nn.Linear(5, 2 * latent)
    vae = VAE(encoder, nn.Linear(latent, 5), latent=latent, shape=(5,), observation=GaussianObservation(0.3), beta=beta)
    x = problem(n, seed)
    told = elbo_gap(fit(vae, x, steps=steps, optimizer=Adam(0.05), seed=seed).model, x, draws=2)
    return [told.mean_off, told.covariance_off]


observed = partial(distances, beta=1.0)  # With the divergence in its loss.
control = partial(distances, beta=0.0)  # Without it.

CLAIM = Claim(
    id="vae-model",
    title="The latents of all examples together have the moments of N(0, I) in a trained VAE",
    equation=r"\|\bar\mu\|,\ \|\mathrm{Cov}(z) - I\|_F \le \tfrac12\sqrt m",
    source=Source("observed", "kingma2014auto"),
    premises=(
        Premise("the loss pulls latents toward N(0, I)"),
        Premise("trained long enough", lambda steps: steps >= 500),
    ),
    parameters={"n": 300, "latent": 2, "steps": 600},
    full={"n": 2000, "steps": 3000},
    judge=bounded_by("above"),
    loose_because="both distances are sampling errors of some hundred latents, from 0.1 to 0.5 of the bound.",
)
