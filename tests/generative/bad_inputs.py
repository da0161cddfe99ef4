"""Calls with bad input, one table for the functions of both rooms: discrete data, NaN, one example, wrong sizes."""

import torch
from torch import nn

from gnomon import bayes
from gnomon import generative as g
from gnomon.bayes.diagnostics import burn_in
from gnomon.bayes.draws import PosteriorDraws
from gnomon.bayes.posterior import prior_to_weight_decay
from gnomon.generative.autoencoder import linear_autoencoder
from gnomon.generative.continuous import integrate_flow
from gnomon.generative.diffusion.flow import flow_log_prob, flow_samples
from gnomon.generative.diffusion.schedule import cosine_schedule, linear_schedule
from gnomon.generative.diffusion.stochastic import forward_path, reverse_samples
from gnomon.generative.divergence import hutchinson_trace
from gnomon.generative.flows.coupling import alternating_mask, coupling_network
from gnomon.generative.flows.spline import rational_spline, rational_spline_inverse
from gnomon.generative.flows.standard_flows import autoregressive_spline_flow
from gnomon.generative.game import game_rotation, simulate_game
from gnomon.generative.instruments.density import flow_density_check
from gnomon.generative.instruments.gradients import gradient_estimators
from gnomon.generative.instruments.latent import latent_knn_score, pca_gap, reconstruction_error
from gnomon.generative.instruments.ratio import jensen_shannon_lower_bound, ratio_calibration
from gnomon.generative.instruments.score import score_curl
from gnomon.generative.instruments.style import feature_covariance
from gnomon.generative.model import dequantize
from gnomon.generative.train_gan import gan_gradient_field
from gnomon.generative.vae import gaussian_kl
from gnomon.generative.wrapped import DistributionModel
from gnomon.training import Adam

NAN = float("nan")
LINE = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
HOLES = LINE.clone()
HOLES[3, 1] = NAN
STEPS = torch.arange(80.0).reshape(40, 2) % 3
WIDE = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
IMAGE, BROKEN = torch.randn(1, 1, 8, 8), torch.full((1, 1, 8, 8), NAN)
CHAINS = torch.randn(4, 40, 2, generator=torch.Generator().manual_seed(2))


class Still(nn.Module):
    """A field, a score or a diffusion's network."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x, t):
        return -self.scale * x


class Shifted(nn.Module):
    """A module that returns a distribution."""

    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(2))

    def forward(self):
        return torch.distributions.Independent(torch.distributions.Normal(self.mean, 1.0), 1)


def autoencoder():
    return linear_autoencoder((2,), 1)


def gan():
    return g.GAN(nn.Linear(1, 2), nn.Linear(2, 1), latent=1, shape=(2,))


def vae(observation=None):
    return g.VAE(nn.Linear(2, 2), nn.Linear(1, 2), latent=1, shape=(2,), observation=observation)


def judge(x):
    return x[:, 0]


def still(x, t=None):
    return -x


def posterior(x=LINE, y=LINE[:, 0]):
    return bayes.module_posterior(nn.Linear(2, 1), (x, y))


def moving(x, t):
    return -x, -torch.ones(len(x))


def transferred(a, b):
    return g.style_transfer(nn.Conv2d(1, 2, 3), a, b, layers=[""], iterations=2)


PLAN, CONV = cosine_schedule(10), nn.Conv2d(1, 2, 3)
MODELS = {
    "Flow": lambda: g.coupling_flow(2, layers=1, hidden=4),
    "ContinuousFlow": lambda: g.ContinuousFlow(Still(), shape=(2,), integration_steps=2),
    "FlowMatching": lambda: g.FlowMatching(Still(), shape=(2,), integration_steps=2),
    "VAE": vae,
    "Diffusion": lambda: g.Diffusion(Still(), PLAN, shape=(2,)),
    "Autoencoder": autoencoder,
    "GAN": gan,
    "DistributionModel": lambda: DistributionModel(Shifted(), shape=(2,)),
}


def pairs(function, **more):
    """What a function of two sets of examples is given."""
    return {
        "NaN": lambda: function(HOLES, LINE, **more),
        "one": lambda: function(LINE[:1], LINE, **more),
        "size": lambda: function(LINE, WIDE, **more),
    }


def of_model(function, make, **more):
    """What a function of a model and examples is given."""
    return {
        "NaN": lambda: function(make(), HOLES, **more),
        "size": lambda: function(make(), WIDE, **more),
    }


def fitted(make, **more):
    return {
        "discrete": lambda: g.fit(make(), STEPS, steps=2, **more),
        "one": lambda: g.fit(make(), LINE[:1], steps=2, **more),
        **of_model(lambda m, x: g.fit(m, x, steps=2, **more), make),
    }


def of_size(function, **more):
    """What a function of a number of features or steps is given."""
    return {"NaN": lambda: function(NAN, **more), "size": lambda: function(0, **more)}


def of_chains(function):
    return {
        "NaN": lambda: function(CHAINS.masked_fill(CHAINS > 1, NAN)),
        "one": lambda: function(CHAINS[:, :1]),
        "size": lambda: function(CHAINS[0]),
    }


def of_data(function):
    """What a function of a module and data of two numbers is given."""
    return {
        "NaN": lambda: function(nn.Linear(2, 1), HOLES, LINE[:, 0]),
        "NaN target": lambda: function(nn.Linear(2, 1), LINE, HOLES[:, 1]),
        "size": lambda: function(nn.Linear(2, 1), WIDE, LINE[:, 0]),
        "length": lambda: function(nn.Linear(2, 1), LINE, LINE[:9, 0]),
    }


CALLS = {
    "generative.alternating_mask": {"NaN": lambda: alternating_mask(NAN, 0), "size": lambda: alternating_mask(0, 0)},
    "generative.autoregressive_flow": of_size(g.autoregressive_flow),
    "generative.autoregressive_spline_flow": of_size(autoregressive_spline_flow),
    "generative.coupling_flow": of_size(g.coupling_flow),
    "generative.spline_flow": of_size(g.spline_flow),
    "generative.coupling_network": of_size(lambda d: coupling_network(d, 2)),
    "generative.linear_autoencoder": of_size(lambda d: linear_autoencoder((d,), 1)),
    "generative.cosine_schedule": of_size(cosine_schedule),
    "generative.linear_schedule": of_size(linear_schedule),
    "generative.bits_per_dimension": {
        "discrete": lambda: g.bits_per_dimension(MODELS["Flow"](), STEPS),
        **of_model(g.bits_per_dimension, MODELS["Flow"]),
    },
    "generative.dequantize": {"NaN": lambda: dequantize(HOLES), "size": lambda: dequantize(LINE, 0.0)},
    "generative.fit": fitted(MODELS["Flow"]),
    "generative.train_gan": {
        "one": lambda: g.train_gan(gan(), LINE[:1], steps=2),
        **of_model(lambda m, x: g.train_gan(m, x, steps=2, optimizer=Adam(1e-3)), gan),
    },
    "generative.gan_gradient_field": of_model(gan_gradient_field, gan),
    "generative.simulate_game": {
        "NaN": lambda: simulate_game(lambda w: w, HOLES[3], steps=2, lr=0.1),
        "size": lambda: simulate_game(lambda w: w[:1], LINE[0], steps=2, lr=0.1),
        "one": lambda: simulate_game(lambda w: w, LINE, steps=2, lr=0.1),
    },
    "generative.game_rotation": {
        "NaN": lambda: game_rotation(lambda w: w, HOLES[3]),
        "size": lambda: game_rotation(lambda w: w[:1], LINE[0]),
        "one": lambda: game_rotation(lambda w: w, LINE),
    },
    "generative.integrate_flow": {
        "NaN": lambda: integrate_flow(moving, HOLES, 0.0, 1.0, steps=2),
        "size": lambda: integrate_flow(lambda x, t: (x[:, :1], x[:, 0]), LINE, 0.0, 1.0, steps=2),
    },
    "generative.hutchinson_trace": {
        "NaN": lambda: hutchinson_trace(still, HOLES),
        "size": lambda: hutchinson_trace(lambda x: x[:, :1], LINE),
    },
    "generative.gaussian_kl": {
        "NaN": lambda: gaussian_kl(HOLES, LINE),
        "size": lambda: gaussian_kl(LINE, WIDE),
    },
    "generative.rational_spline": {
        "NaN": lambda: rational_spline(HOLES, torch.zeros(40, 2, 11)),
        "size": lambda: rational_spline(LINE, torch.zeros(40, 3, 11)),
        "options": lambda: rational_spline(LINE, torch.zeros(40, 2, 10)),
    },
    "generative.rational_spline_inverse": {
        "NaN": lambda: rational_spline_inverse(HOLES, torch.zeros(40, 2, 11)),
        "size": lambda: rational_spline_inverse(LINE, torch.zeros(40, 3, 11)),
    },
    "generative.flow_log_prob": {
        "NaN": lambda: flow_log_prob(still, HOLES, PLAN, steps=2),
        "size": lambda: flow_log_prob(lambda x, t: x[:, :1], LINE, PLAN, steps=2),
    },
    "generative.flow_samples": {
        "NaN": lambda: flow_samples(still, HOLES, PLAN, steps=2),
        "size": lambda: flow_samples(lambda x, t: x[:, :1], LINE, PLAN, steps=2),
    },
    "generative.forward_path": {
        "NaN": lambda: forward_path(HOLES, PLAN, steps=2),
        "size": lambda: forward_path(LINE[:, 0], PLAN, steps=2),
    },
    "generative.reverse_samples": {
        "NaN": lambda: reverse_samples(still, HOLES, PLAN, steps=2),
        "size": lambda: reverse_samples(lambda x, t: x[:, :1], LINE, PLAN, steps=2),
    },
    "generative.mmd_test": pairs(g.mmd_test),
    "generative.energy_test": pairs(g.energy_test),
    "generative.classifier_test": pairs(g.classifier_test),
    "generative.sample_coverage": pairs(lambda a, b: g.sample_coverage(b, a)),
    "generative.sample_memorization": pairs(lambda a, b: g.sample_memorization(a, b, LINE)),
    "generative.flow_density_check": {
        "NaN": lambda: flow_density_check(MODELS["Flow"](), samples=NAN),
        "one": lambda: flow_density_check(MODELS["Flow"](), samples=1),
        "size": lambda: flow_density_check(nn.Linear(2, 2)),
    },
    "generative.density_ratio": {
        "NaN": lambda: g.density_ratio(judge, HOLES),
        "size": lambda: g.density_ratio(still, LINE),
    },
    "generative.jensen_shannon_lower_bound": pairs(lambda a, b: jensen_shannon_lower_bound(judge, a, b)),
    "generative.ratio_calibration": pairs(lambda a, b: ratio_calibration(judge, a, b, bins=3)),
    "generative.score_error": {
        "NaN": lambda: g.score_error(still, still, HOLES),
        "size": lambda: g.score_error(still, lambda x: x[:, :1], LINE),
    },
    "generative.score_curl": {
        "NaN": lambda: score_curl(still, HOLES),
        "size": lambda: score_curl(lambda x: x[:, :1], LINE),
    },
    "generative.elbo_gap": {"one": lambda: g.elbo_gap(vae(), LINE[:1]), **of_model(g.elbo_gap, vae)},
    "generative.latent_holes": {
        "one": lambda: g.latent_holes(autoencoder(), LINE[:1]),
        **of_model(g.latent_holes, autoencoder),
    },
    "generative.latent_knn_score": {
        "one": lambda: latent_knn_score(autoencoder(), LINE[:1], [0]),
        "length": lambda: latent_knn_score(autoencoder(), LINE, [0, 1]),
        **of_model(lambda m, x: latent_knn_score(m, x, [0, 1] * 20), autoencoder),
    },
    "generative.pca_gap": {"one": lambda: pca_gap(autoencoder(), LINE[:1]), **of_model(pca_gap, autoencoder)},
    "generative.reconstruction_error": of_model(reconstruction_error, autoencoder),
    "generative.generator_gradient_health": {
        "NaN": lambda: g.generator_gradient_health(gan(), draws=NAN),
        "size": lambda: g.generator_gradient_health(vae()),
    },
    "generative.gradient_estimators": {
        "NaN": lambda: gradient_estimators(lambda z: z, NAN, 1.0),
        "one": lambda: gradient_estimators(lambda z: z, 0.0, 1.0, draws=1),
        "size": lambda: gradient_estimators(lambda z: z[:2], 0.0, 1.0),
    },
    "generative.feature_covariance": {
        "NaN": lambda: feature_covariance(BROKEN),
        "size": lambda: feature_covariance(LINE[:, 0]),
    },
    "generative.style_distance": {
        "NaN": lambda: g.style_distance(CONV, BROKEN, IMAGE),
        "size": lambda: g.style_distance(CONV, IMAGE, torch.zeros(1, 3, 8, 8)),
    },
    "generative.style_transfer": {
        "NaN": lambda: transferred(BROKEN, IMAGE),
        "size": lambda: transferred(IMAGE, torch.zeros(1, 3, 8, 8)),
    },
    "bayes.burn_in": of_chains(burn_in),
    "bayes.effective_sample_size": of_chains(bayes.effective_sample_size),
    "bayes.r_hat": of_chains(bayes.r_hat),
    "bayes.sample_posterior": {
        "NaN": lambda: bayes.sample_posterior(lambda x: x.sum() * NAN, torch.zeros(2), draws=2),
        "NaN start": lambda: bayes.sample_posterior(lambda x: -x.square().sum(), torch.tensor([NAN, 0.0]), draws=2),
        "one": lambda: bayes.sample_posterior(lambda x: -x.square().sum(), torch.zeros(2), draws=0),
        "size": lambda: bayes.sample_posterior(lambda x: -x.square(), torch.zeros(2), draws=2),
    },
    "bayes.module_posterior": of_data(lambda m, x, y: bayes.module_posterior(m, (x, y))),
    "bayes.laplace": of_data(lambda m, x, y: bayes.laplace(m, (x, y))),
    "bayes.deep_ensemble": of_data(lambda m, x, y: bayes.deep_ensemble(lambda: m, (x, y), steps=2)),
    "bayes.dropout_predictive": {
        "NaN": lambda: bayes.dropout_predictive(nn.Sequential(nn.Dropout(), nn.Linear(2, 1)), HOLES),
        "one": lambda: bayes.dropout_predictive(nn.Sequential(nn.Dropout(), nn.Linear(2, 1)), LINE, draws=1),
        "size": lambda: bayes.dropout_predictive(nn.Sequential(nn.Dropout(), nn.Linear(2, 1)), WIDE),
    },
    "bayes.posterior_predictive": {
        "NaN": lambda: bayes.posterior_predictive(
            posterior(), PosteriorDraws(CHAINS[..., :1].expand(4, 40, 3), "", 1.0, 0, 0, 0), HOLES
        ),
        "size": lambda: bayes.posterior_predictive(posterior(), PosteriorDraws(CHAINS, "", 1.0, 0, 0, 0), LINE),
        "one": lambda: bayes.posterior_predictive(
            posterior(), PosteriorDraws(torch.zeros(1, 1, 3), "", 1.0, 0, 0, 0), LINE
        ),
    },
    "bayes.prior_to_weight_decay": {
        "NaN": lambda: prior_to_weight_decay(NAN, 1.0, 10),
        "size": lambda: prior_to_weight_decay(1.0, 1.0, 0),
    },
}
for _name, _make in MODELS.items():
    CALLS[f"generative.{_name}.loss"] = of_model(lambda m, x: m.loss(x), _make)
    if _name not in ("GAN", "Autoencoder"):
        CALLS[f"generative.{_name}.log_prob"] = of_model(lambda m, x: m.log_prob(x), _make)
    CALLS[f"generative.{_name}.sample"] = {
        "NaN": lambda _make=_make: _make().sample(NAN),
        "size": lambda _make=_make: _make().sample(-1),
    }
