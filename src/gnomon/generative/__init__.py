"""Generative models, and measurements of whether their samples and densities match the data.

Contains: autoencoders, VAEs, flows, diffusion models and GANs, and instruments for samples and densities of any
model.
Does not contain: samplers of a given density (`gnomon.bayes`).
May import: core, data, findings, training.
"""

from gnomon.generative.autoencoder import Autoencoder
from gnomon.generative.continuous import ContinuousFlow, FlowMatching
from gnomon.generative.diffusion import Diffusion
from gnomon.generative.fit import fit
from gnomon.generative.flows import Flow, autoregressive_flow, coupling_flow, spline_flow
from gnomon.generative.gan import GAN
from gnomon.generative.instruments import (
    classifier_test,
    density_ratio,
    elbo_gap,
    energy_test,
    generator_gradient_health,
    latent_holes,
    mmd_test,
    sample_coverage,
    sample_memorization,
    score_error,
    style_distance,
    style_transfer,
)
from gnomon.generative.model import bits_per_dimension
from gnomon.generative.train_gan import train_gan
from gnomon.generative.vae import VAE

__all__ = [
    "Autoencoder",
    "ContinuousFlow",
    "Diffusion",
    "Flow",
    "FlowMatching",
    "GAN",
    "VAE",
    "autoregressive_flow",
    "bits_per_dimension",
    "classifier_test",
    "coupling_flow",
    "sample_coverage",
    "density_ratio",
    "elbo_gap",
    "energy_test",
    "fit",
    "generator_gradient_health",
    "latent_holes",
    "sample_memorization",
    "mmd_test",
    "train_gan",
    "score_error",
    "spline_flow",
    "style_distance",
    "style_transfer",
]
