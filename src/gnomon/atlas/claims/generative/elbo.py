"""A VAE's likelihood bound (ELBO) is too low by the KL divergence of its encoder from the exact posterior.

    log p(x) - ELBO(x) = KL(q(z | x) | p(z | x))     (1)

x is the observation, z the latent, q the encoder, and p the model.
"""

from functools import partial
from math import log

import torch
from torch import nn

from gnomon.generative import VAE
from gnomon.generative.vae import GaussianObservation
from gnomon.lab import Claim, Premise, Source, equals

NOISE_STD = 0.6
W = torch.tensor([1.0, -0.5, 2.0], dtype=torch.float64)


def problem(seed):
    """Returns observations x = w z + 0.6 e, and a wrong encoder: mean and standard deviation of z."""
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x, 0.2 * x[:, 0] + 0.1, 0.5


def predicted(seed):
    """Returns the KL divergence between encoder and exact posterior in closed form, for each observation."""
    x, mean, std = problem(seed)
    precision = float(W @ W) / NOISE_STD**2 + 1
    exact = x @ W / NOISE_STD**2 / precision
    ratio = std**2 * precision
    return (ratio + precision * (mean - exact).square() - 1 - log(ratio)) / 2


def gap(shift, seed):
    """Returns log p(x) minus the VAE's likelihood bound, by integration; ``shift`` moves the prior of the bound."""
    x, mean, std = problem(seed)
    encoder, decoder = nn.Linear(3, 2).double(), nn.Linear(1, 3).double()
    with torch.no_grad():
        encoder.weight.zero_()
        encoder.weight[0, 0], encoder.bias[:] = 0.2, torch.tensor([0.1, 2 * log(std)], dtype=torch.float64)
        decoder.weight[:], decoder.bias[:] = W[:, None], 0.0
    vae = VAE(encoder, decoder, latent=1, shape=(3,), observation=GaussianObservation(NOISE_STD))
    grid = torch.linspace(-9, 9, 2001, dtype=torch.float64)
    weight = torch.exp(-grid.square() / 2) / (2 * torch.pi) ** 0.5 * (grid[1] - grid[0])
    with torch.no_grad():
        m, v = vae.posterior(x)
        z = m + (v / 2).exp() * grid
        fits = torch.stack(
            [vae.observation.log_prob(x[i], vae.decoder(z[i, :, None])).sum(1) @ weight for i in range(5)]
        )
        kl = ((m - shift).square() + v.exp() - v - 1).sum(1) / 2
    covariance = torch.outer(W, W) + NOISE_STD**2 * torch.eye(3).double()
    law = torch.distributions.MultivariateNormal(torch.zeros(3).double(), covariance)
    return law.log_prob(x) - (fits - kl)


observed = partial(gap, shift=0.0)  # The test's bound uses the prior of the model.
control = partial(gap, shift=0.5)  # With another prior.

CLAIM = Claim(
    id="elbo",
    question="How large is the gap of the VAE bound?",
    equation=r"\log p(x) - \mathrm{ELBO}(x) = KL(q(z|x) \,\|\, p(z|x))",
    axes=("observation", "gap of the bound (nats)"),
    source=Source("theorem", "kingma2014auto", "equation 1"),
    premises=(Premise("latents are drawn from N(0, 1)"), Premise("the model is linear and Gaussian")),
    judge=equals(within=1e-8, because="a quadrature of 2001 points"),
)
