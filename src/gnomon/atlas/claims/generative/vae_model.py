"""In a trained VAE, the latents of all examples together have nearly the mean and covariance of N(0, I).

    |mean of latents| and |covariance of latents - I|_F are at most half the root of their number     (1)

|.|_F is the Frobenius norm.
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import VAE, elbo_gap, fit
from gnomon.generative.vae import GaussianObservation
from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.training import Adam


def problem(n, seed):
    """Returns points in five dimensions near a plane."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 2, generator=generator) @ torch.randn(2, 5, generator=generator)
    return x / x.std() + 0.3 * torch.randn(n, 5, generator=generator)


def predicted(latent):
    """Returns half the square root of the number of latent coordinates, the bound on both distances."""
    return [0.5 * latent**0.5] * 2


def distances(n, latent, steps, beta, seed):
    """Returns the distances of a trained VAE's latent mean from 0 and of its latent covariance from I."""
    torch.manual_seed(seed)
    encoder = nn.Linear(5, 2 * latent)
    vae = VAE(encoder, nn.Linear(latent, 5), latent=latent, shape=(5,), observation=GaussianObservation(0.3), beta=beta)
    x = problem(n, seed)
    gap = elbo_gap(fit(vae, x, steps=steps, optimizer=Adam(0.05), seed=seed).model, x, draws=2)
    return [gap.mean_off, gap.covariance_off]


observed = partial(distances, beta=1.0)  # The VAE's loss contains the KL divergence from N(0, I).
control = partial(distances, beta=0.0)  # Without it.

CLAIM = Claim(
    id="vae-model",
    question="Do the latents of a trained VAE look like its prior?",
    equation=r"\|\bar\mu\|,\ \|\mathrm{Cov}(z) - I\|_F \le \tfrac12\sqrt m",
    axes=("mean, then covariance", "distance from N(0, I)"),
    source=Source("observed", "kingma2014auto"),
    premises=(
        Premise("the loss pulls latents toward N(0, I)"),
        Premise("trained long enough", lambda steps: steps >= 500),
    ),
    parameters={"n": 300, "latent": 2, "steps": 600},
    full={"n": 2000, "steps": 3000},
    judge=bounded_by("above"),
    loose_because="both distances are sampling errors of a few hundred latents, from 0.1 to 0.5 of the bound.",
)
