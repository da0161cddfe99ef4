"""Clauses of the scope on adversarial games, latents, diffusion steps and flows that no claim measures."""

from functools import partial
from math import e, log, pi

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from torch import nn

from gnomon.atlas.claims.generative import (
    ddpm_elbo,
    gan_discriminator_lower_bound,
    gan_training_loop,
    inverse_autoregressive_flow,
    linear_autoencoder_pca,
    normalising_flow,
)
from gnomon.data import digits, gaussian_mixture, ring_of_gaussians
from gnomon.generative import VAE, Autoencoder, Diffusion, bits_per_dimension, elbo_gap, energy_test, fit
from gnomon.generative.diffusion.exact import ExactDenoiser
from gnomon.generative.diffusion.schedule import cosine_schedule, linear_schedule
from gnomon.generative.gan import MinimaxLosses, NonSaturatingLosses
from gnomon.generative.instruments.latent import reconstruction_error
from gnomon.generative.model import dequantize
from gnomon.generative.vae import GaussianObservation
from gnomon.training import Adam


def test_losses_of_both_players_by_their_formulas():
    """gan-training-loop: D ascends mean [ln D + ln(1 - D(G))], G descends mean ln(1 - D(G)), or -ln D(G)."""
    real, fake = torch.randn(2, 9, generator=torch.Generator().manual_seed(0)).double()
    d, g = (1 / (1 + np.exp(-v.numpy())) for v in (real, fake))
    np.testing.assert_allclose(MinimaxLosses().discriminator(real, fake), -(np.log(d) + np.log(1 - g)), rtol=1e-12)
    np.testing.assert_allclose(MinimaxLosses().generator(fake), np.log(1 - g), rtol=1e-12)
    np.testing.assert_allclose(NonSaturatingLosses().generator(fake), -np.log(g), rtol=1e-12)


@pytest.mark.full
def test_generators_end_within_ten_percent_for_four_of_five_seeds():
    """gan-training-loop: mean and standard deviation within 10 % of 1.5 and 0.5, in at least 4 of 5 runs."""
    goal = torch.tensor(gan_training_loop.TARGET_MEAN_AND_STD)
    ends = [gan_training_loop.observed(steps=1200, seed=seed) for seed in range(5)]
    assert sum(bool(((found - goal).abs() <= 0.1 * goal).all()) for found in ends) >= 4


def value(p, q, d):
    """The value of the game of discrete laws p, q against the discriminator d, with 0 log 0 = 0."""
    logs = lambda w, v: float((w[w > 0] * np.log(v[w > 0])).sum())  # noqa: E731
    return logs(p, d) + logs(q, 1 - d)


def test_the_value_of_each_example_is_half_the_game_and_lies_between_minus_two_log_two_and_zero():
    """gan-value-function: E_p~ [y ln D + (1 - y) ln(1 - D)] = V / 2, p~ = (y p + (1 - y) q) / 2; gan-js: l* = JS - ln 2."""
    p, q = np.random.default_rng(0).dirichlet(np.ones(6), 2)
    d = np.random.default_rng(1).uniform(0.1, 0.9, 6)
    both = np.stack([q, p]) / 2  # p~(x, y) for y = 0 and 1
    per_example = (both[1] * np.log(d) + both[0] * np.log(1 - d)).sum()
    assert both.sum() == pytest.approx(1) and per_example == pytest.approx(value(p, q, d) / 2)
    m = (p + q) / 2
    js = (p * np.log(p / m) + q * np.log(q / m)).sum() / 2
    assert value(p, q, p / (p + q)) / 2 == pytest.approx(js - log(2))
    assert value(p, p, p / (p + p)) == pytest.approx(-2 * log(2))  # equal laws
    apart = np.r_[p, np.zeros(6)], np.r_[np.zeros(6), q]
    assert value(*apart, apart[0] / (apart[0] + apart[1])) == 0  # laws without a common point
    assert -2 * log(2) < value(p, q, p / (p + q)) < 0


def test_richer_discriminators_have_larger_values():
    """gan-discriminator-lower-bound: the values of polynomial logits of degree 1, 2, 3, 5 grow, and stay below the exact one."""
    found = gan_discriminator_lower_bound.observed((1, 2, 3, 5), 0, 0)
    exact = gan_discriminator_lower_bound.predicted((1,))[0]
    assert all(b > a + 1e-3 for a, b in zip(found, found[1:], strict=False)) and found[-1] <= exact + 1e-6


@pytest.mark.full
def test_eight_latents_reconstruct_digits_better_than_eight_components():
    """autoencoder: held-out error of a nonlinear autoencoder <= PCA at 8 latent coordinates."""
    split = digits(890, 890)
    train, x = split.x.flatten(1), split.x_test.flatten(1)
    plane = torch.linalg.svd(train - train.mean(0), full_matrices=False)[2][:8]
    by_pca = ((x - train.mean(0)) - (x - train.mean(0)) @ plane.T @ plane).square().mean()
    torch.manual_seed(0)
    coders = [nn.Sequential(nn.Linear(a, 96), nn.SiLU(), nn.Linear(96, b)) for a, b in ((64, 8), (8, 64))]
    model = Autoencoder(*coders, latent=8, shape=(64,))
    model = fit(model, train, steps=3000, optimizer=Adam(3e-3), batch=100, seed=0).model
    assert float(reconstruction_error(model, x).mean()) <= float(by_pca)


@pytest.mark.full
def test_a_linear_autoencoder_of_ten_coordinates_has_the_loss_of_pca_to_a_thousandth():
    """linear-autoencoder-pca: loss = (1/2) sum of the smaller eigenvalues within 0.1 %, angles <= 0.01, m = 10."""
    loss, angle = (float(v) for v in linear_autoencoder_pca.train(0, 1797, 10, 600, 0))
    assert loss == pytest.approx(float(linear_autoencoder_pca.predicted(1797, 10)[0]), rel=1e-3) and angle <= 1e-2


@pytest.mark.full
def test_latents_of_digits_have_the_moments_of_the_prior():
    """vae-model: |mean| and |covariance - I|_F of the latents of all digits are at most sqrt(m) / 2."""
    x = dequantize(digits(600, 0).x.flatten(1), 1 / 16)
    torch.manual_seed(0)
    encoder, decoder = (nn.Sequential(nn.Linear(a, 64), nn.SiLU(), nn.Linear(64, b)) for a, b in ((64, 8), (4, 64)))
    vae = VAE(encoder, decoder, latent=4, shape=(64,), observation=GaussianObservation(0.3))
    found = elbo_gap(fit(vae, x, steps=300, optimizer=Adam(3e-3), seed=0).model, x, draws=2)
    assert max(found.mean_off, found.covariance_off) <= 0.5 * 4**0.5


def linear_vae(mean_scale, std):
    """A VAE of x = z + e, z ~ N(0, 1), e ~ N(0, 0.36), whose encoder is N(mean_scale x, std^2)."""
    encoder, decoder = nn.Linear(1, 2).double(), nn.Linear(1, 1).double()
    with torch.no_grad():
        encoder.weight[:], encoder.bias[:] = torch.tensor([[mean_scale], [0.0]]), torch.tensor([0.0, 2 * log(std)])
        decoder.weight[:], decoder.bias[:] = 1.0, 0.0
    return VAE(encoder, decoder, latent=1, shape=(1,), observation=GaussianObservation(0.6))


def test_more_importance_samples_tighten_the_bound_and_the_best_encoder_closes_it():
    """elbo: E[IWAE_k] rises with k to log p(x); at q = p(z | x) = N(x / 1.36, 0.36 / 1.36) there is no gap for k = 1."""
    x = torch.linspace(-2, 2, 400, dtype=torch.float64)[:, None]
    exact = stats.norm(0, 1.36**0.5).logpdf(x[:, 0].numpy()).mean()
    with torch.no_grad():
        wrong = [float(linear_vae(0.4, 0.8).bound(x, draws, seed=0).mean()) for draws in (1, 5, 25, 200)]
        best = linear_vae(1 / 1.36, (0.36 / 1.36) ** 0.5).bound(x, 1, seed=0)
    assert wrong[0] < wrong[1] < wrong[2] < wrong[3] <= exact + 0.01 and exact - wrong[3] < 0.02 < exact - wrong[0]
    np.testing.assert_allclose(best, stats.norm(0, 1.36**0.5).logpdf(x[:, 0].numpy()), atol=1e-6)


def test_entropies_of_a_gaussian_step_and_the_variance_of_the_step_back():
    """diffusion-entropy-bound: H(a | b) = H(b | a) + H(a) - H(b), exact for Gaussians; ddpm-posterior: variance <= beta."""
    gauss = lambda variance: log(2 * pi * e * variance) / 2  # noqa: E731
    schedule, variance = linear_schedule(50, first=1e-3, last=0.2), 0.3
    for k, beta in enumerate(schedule.betas.tolist(), 1):
        after = (1 - beta) * variance + beta
        back = variance - (1 - beta) * variance**2 / after  # variance of x_(k-1) given x_k
        assert gauss(back) == pytest.approx(gauss(beta) + gauss(variance) - gauss(after), abs=1e-12)
        assert gauss(back) <= gauss(beta) and after >= variance
        assert 0 <= float(schedule.posterior_variance[k - 1]) <= beta
        if k > 1:
            assert float(schedule.posterior_variance[k - 1]) > 0.5 * beta * (1 - 1 / k) / k
        variance = after


@pytest.mark.parametrize("steps", [40, 100])
def test_bits_of_a_diffusion_exceed_the_entropy_by_the_gap_of_its_bound(steps):
    """ddpm-elbo: bits per dimension = (-log p + gap(T)) / (d log 2) for Gaussian data and the exact denoiser."""
    p, schedule = gaussian_mixture([[0.0, 0.0]], std=0.5), linear_schedule(steps, first=1e-2 / steps, last=30 / steps)
    x = p.sample(8000, seed=0).float()
    model = Diffusion(ExactDenoiser(p, schedule, "data"), schedule, shape=(2,), target="data", variance="forward")
    with torch.no_grad():
        bits = bits_per_dimension(model, x, batch=len(x))
    above = bits * log(2) + float(p.log_prob(x.double()).mean()) / 2
    assert above == pytest.approx(ddpm_elbo.gaps((steps,), 1.0)[1][0], abs=0.02)


def test_samples_of_a_flow_follow_its_density():
    """normalising-flow: Kolmogorov-Smirnov test of samples against the marginal of the density, p > 0.01."""
    flow = normalising_flow.problem(0)
    with torch.no_grad():
        x = flow.sample(1000).numpy()
        axis = [
            torch.linspace(*np.quantile(x[:, k], [0.0, 1.0]) + 3.0 * np.array([-1, 1]), 401).double() for k in (0, 1)
        ]
        density = flow.log_prob(torch.cartesian_prod(*axis)).exp().reshape(401, 401).numpy()
    for k in (0, 1):
        mass = density.sum(1 - k) * float((axis[0][1] - axis[0][0]) * (axis[1][1] - axis[1][0]))
        assert mass.sum() == pytest.approx(1, abs=0.02)
        cdf = partial(np.interp, xp=axis[k].numpy(), fp=mass.cumsum() - mass / 2)
        assert stats.kstest(x[:, k], cdf).pvalue > 0.01 > stats.kstest(x[:, k] + 0.3, cdf).pvalue


def test_the_jacobian_of_an_autoregressive_flow_is_triangular():
    """inverse-autoregressive-flow: dx_i / dz_j = 0 for j > i, and its diagonal is exp(s_i)."""
    layer, z = inverse_autoregressive_flow.problem(4, 0, True)
    slopes = torch.stack([torch.autograd.functional.jacobian(lambda p: layer(p[None])[0][0], point) for point in z])
    assert float(slopes.triu(1).abs().max()) == 0 < float(slopes.tril(-1).abs().max())
    torch.testing.assert_close(slopes.diagonal(dim1=1, dim2=2).log().sum(1), layer(z)[1].detach())


def test_a_determinant_takes_cubic_and_a_trace_linear_operations():
    """continuous-normalising-flow: operations of the trace of a matrix grow as d, of its determinant as d^3."""

    def determinant(a):
        a, steps, product = a.copy(), 0, 1.0
        for i in range(len(a)):
            for j in range(i + 1, len(a)):
                a[j, i:] -= a[j, i] / a[i, i] * a[i, i:]
                steps += 2 * (len(a) - i) + 1
            product, steps = product * a[i, i], steps + 1
        return product, steps

    sizes, counts = (8, 16, 32, 64), []
    for d in sizes:
        a = np.random.default_rng(d).normal(size=(d, d)) + d * np.eye(d)
        found, steps = determinant(a)
        assert found == pytest.approx(np.linalg.det(a), rel=1e-8)
        counts.append((steps, d - 1))
    slopes = [np.polyfit(np.log(sizes), np.log(column), 1)[0] for column in zip(*counts, strict=True)]
    assert slopes == pytest.approx([3, 1], abs=0.2)


@pytest.mark.full
def test_many_steps_come_nearer_to_a_ring_than_the_single_pass_of_a_vae():
    """diffusion-incremental-map: energy distance of 30 exact reverse steps to the data < half that of a trained VAE."""
    p, noise = ring_of_gaussians(8, radius=1.5, std=0.15), cosine_schedule(60)
    torch.manual_seed(0)
    encoder, decoder = (nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, b)) for b in (4, 2))
    vae = VAE(encoder, decoder, latent=2, shape=(2,), observation=GaussianObservation(0.15))
    vae = fit(vae, p.sample(2000, seed=0).float(), steps=2000, optimizer=Adam(3e-3), seed=0).model
    steps = Diffusion(ExactDenoiser(p, noise, "data"), noise, shape=(2,), target="data")
    with torch.no_grad():
        samples = vae.sample(600, seed=1).double(), steps.sample(600, seed=1, steps=30, eta=0.0).double()
    once, many = (energy_test(x, p.sample(600, seed=2), permutations=99).statistic for x in samples)
    assert many < once / 2


def test_logistic_regression_leads_naive_bayes_on_few_and_many_examples_of_breast_cancer():
    """naive-bayes-vs-logistic: mean test accuracy of logistic regression is larger at 10 and at 200 examples: no crossing."""
    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(0)) / x.std(0)
    for n in (10, 200):
        leads = []
        for seed in range(12):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[:n], order[-200:]
            fits = (model.fit(x[train], y[train]) for model in (LogisticRegression(max_iter=200), GaussianNB()))
            first, second = (classifier.score(x[test], y[test]) for classifier in fits)
            leads.append(first - second)
        assert np.mean(leads) > 2 * np.std(leads) / 12**0.5
