"""Autoencoders, VAEs, diffusion models and GANs against closed forms; the grammar they share; bad input."""

from math import log, pi

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon.core import InputError, NotFiniteError
from gnomon.data import digits, gaussian_mixture, js_divergence, optimal_discriminator, ring_of_gaussians
from gnomon.generative import (
    GAN,
    VAE,
    ContinuousFlow,
    Diffusion,
    Flow,
    FlowMatching,
    bits_per_dimension,
    coupling_flow,
    fit,
    train_gan,
)
from gnomon.generative.autoencoder import linear_autoencoder
from gnomon.generative.continuous import TimeConditionedNetwork
from gnomon.generative.diffusion.exact import ExactDenoiser
from gnomon.generative.diffusion.flow import flow_log_prob, flow_samples
from gnomon.generative.diffusion.schedule import NoiseSchedule, cosine_schedule, linear_schedule
from gnomon.generative.diffusion.stochastic import forward_path, reverse_samples
from gnomon.generative.flows.base import ShiftTransform
from gnomon.generative.game import (
    AlternatingUpdate,
    ExtragradientUpdate,
    SimultaneousUpdate,
    game_rotation,
    simulate_game,
)
from gnomon.generative.gan import MinimaxLosses, NonSaturatingLosses, WassersteinLosses
from gnomon.generative.instruments.latent import pca_gap
from gnomon.generative.model import dequantize
from gnomon.generative.train_gan import gan_gradient_field
from gnomon.generative.vae import BernoulliObservation, GaussianObservation, gaussian_kl
from gnomon.generative.wrapped import DistributionModel
from gnomon.training import SGD, Adam
from tests.generative.bad_inputs import Shifted

D = torch.float64


def probabilistic_pca(s=0.6, wrong=0.0):
    """A linear VAE with the exact posterior of x = W z + s e, or a wrong one; and the exact log density."""
    w = torch.tensor([[1.0], [-0.5], [2.0]], dtype=D)
    encoder, decoder = nn.Linear(3, 2).double(), nn.Linear(1, 3).double()
    precision = float(w.T @ w) / s**2 + 1
    with torch.no_grad():
        decoder.weight[:], decoder.bias[:] = w, 0.0
        encoder.weight[0], encoder.weight[1] = w[:, 0] / s**2 / precision, 0.0
        encoder.bias[:] = torch.tensor([wrong, -log(precision)], dtype=D)
    exact = torch.distributions.MultivariateNormal(torch.zeros(3, dtype=D), w @ w.T + s**2 * torch.eye(3, dtype=D))
    return VAE(encoder, decoder, latent=1, shape=(3,), observation=GaussianObservation(s)), exact, precision


def test_the_bound_of_a_vae_is_tight_for_the_exact_posterior_and_else_off_by_its_divergence():
    vae, exact, precision = probabilistic_pca()
    x = exact.sample((6,))
    with torch.no_grad():
        # Every importance weight is p(x) itself, so that one draw has no error.
        assert_allclose(vae.bound(x, 1), exact.log_prob(x), atol=1e-9)
        off, _, _ = probabilistic_pca(wrong=0.3)
        mean, log_variance = off.posterior(x)
        grid = torch.linspace(-12, 12, 4001, dtype=D)
        z = mean + (log_variance / 2).exp() * grid
        weight = torch.exp(-grid.square() / 2) / (2 * pi) ** 0.5 * (grid[1] - grid[0])
        fits = torch.stack(
            [off.observation.log_prob(x[i], off.decoder(z[i][:, None])).sum(1) @ weight for i in range(6)]
        )
        elbo = fits - gaussian_kl(mean, log_variance).sum(1)
        assert_allclose(exact.log_prob(x) - elbo, torch.full((6,), 0.3**2 * precision / 2).double(), atol=1e-8)


def test_more_draws_tighten_the_bound():
    vae, exact, _ = probabilistic_pca(wrong=0.8)
    x = exact.sample((2000,))
    with torch.no_grad():
        means = [float(vae.bound(x, k).mean()) for k in (1, 4, 32)]
        assert means[0] < means[1] < means[2] < float(exact.log_prob(x).mean()) + 1e-6
        assert vae.log_prob(x[:3]).shape == (3,)


def test_the_elbo_of_discrete_data_decomposes_exactly():
    """All 8 patterns of three bits: fit less divergence is log p(x) less KL(q | p(z | x)), to 1e-8; and sum p(x) = 1.

    Fit and divergence are the model's, the divergence in closed form; log p(x) and the gap are integrals over a grid."""
    torch.manual_seed(0)
    vae = VAE(nn.Linear(3, 2), nn.Linear(1, 3), latent=1, shape=(3,), observation=BernoulliObservation()).double()
    x = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=D)] * 3)
    nodes, weights = (torch.from_numpy(v) for v in np.polynomial.hermite_e.hermegauss(80))
    z = torch.linspace(-14, 14, 6001, dtype=D)
    cell = float(z[1] - z[0])
    with torch.no_grad():
        mean, log_variance = vae.posterior(x)
        places = mean + (log_variance / 2).exp() * nodes

        def likely(row, z):
            decoded = vae.decode_to_shape(z[:, None])
            return vae.observation.log_prob(row.expand_as(decoded), decoded).sum(1)

        fit = torch.stack([likely(x[i], places[i]) for i in range(8)])
        elbo = fit @ weights / weights.sum() - gaussian_kl(mean, log_variance).sum(1)
        joint = torch.stack([likely(row, z) for row in x])
        joint = (joint - z.square() / 2 - log(2 * pi) / 2).exp()
        evidence = joint.sum(1) * cell
        q = torch.distributions.Normal(mean, (log_variance / 2).exp()).log_prob(z)
        gap = (q.exp() * (q - (joint / evidence[:, None]).log())).sum(1) * cell
        assert_allclose(elbo + gap, evidence.log(), atol=1e-8)
        assert float(gap.min()) > 0 and float(evidence.sum()) == pytest.approx(1, abs=1e-10)
        error = 5 * float(fit.std(1).max()) / 4000**0.5
        assert_allclose(vae.elbo(x, 4000), elbo, atol=error)


def test_the_divergence_of_gaussians_is_torchs():
    mean, log_variance = torch.randn(2, 5, 3, dtype=D)
    q = torch.distributions.Normal(mean, (log_variance / 2).exp())
    exact = torch.distributions.kl_divergence(q, torch.distributions.Normal(0 * mean, torch.ones_like(mean)))
    assert_allclose(gaussian_kl(mean, log_variance), exact, atol=1e-12)


def test_a_linear_autoencoder_learns_the_principal_subspace():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 5, generator=generator) * torch.tensor([3.0, 2.0, 0.7, 0.5, 0.3])
    x = x - x.mean(0)
    torch.manual_seed(0)
    run = fit(linear_autoencoder((5,), 2), x, optimizer=Adam(0.02), steps=400, batch=None)
    gap = pca_gap(run.model, x)
    values = np.linalg.eigvalsh(np.cov(x.numpy().T, bias=True))
    assert gap.pca_loss == pytest.approx(values[:3].sum() / 2, rel=1e-5)
    assert gap.loss == pytest.approx(gap.pca_loss, rel=1e-3) and float(gap.angles.max()) < 1e-2


SCHEDULE = linear_schedule(20)


def test_the_posterior_of_a_step_is_bayes_rule_on_a_grid():
    k, x0, xk = 7, 0.4, -0.3
    a, b, beta = (float(SCHEDULE.kept[k]), float(SCHEDULE.kept[k - 1]), float(SCHEDULE.betas[k - 1]))

    def joint(y):
        return norm.pdf(y, b**0.5 * x0, (1 - b) ** 0.5) * norm.pdf(xk, (1 - beta) ** 0.5 * y, beta**0.5)

    mass = quad(joint, -8, 8, epsabs=1e-13)[0]
    mean = quad(lambda y: y * joint(y), -8, 8, epsabs=1e-13)[0] / mass
    variance = quad(lambda y: (y - mean) ** 2 * joint(y), -8, 8, epsabs=1e-13)[0] / mass
    told = SCHEDULE.posterior_mean(k, torch.tensor(x0).double(), torch.tensor(xk).double())
    assert float(told) == pytest.approx(mean, abs=1e-6)
    assert float(SCHEDULE.posterior_variance[k - 1]) == pytest.approx(variance, abs=1e-8)
    assert bool((SCHEDULE.posterior_variance <= SCHEDULE.betas).all()) and a < b


@pytest.mark.parametrize("target", ["noise", "data", "velocity"])
def test_the_three_targets_are_one_model(target):
    p = gaussian_mixture([[-1.0, 0.0], [1.0, 0.5]], std=0.4)
    model = Diffusion(ExactDenoiser(p, SCHEDULE, target), SCHEDULE, shape=(2,), target=target)
    x, t = torch.randn(4, 2, dtype=D), torch.full((4,), 0.5, dtype=D)
    a = float(SCHEDULE.kept_at(0.5))
    x0, e = model.predict_example_and_noise(x, t)
    assert_allclose(x0, p.denoised(x, a**0.5, (1 - a) ** 0.5), atol=1e-10)
    assert_allclose(a**0.5 * x0 + (1 - a) ** 0.5 * e, x, atol=1e-10)
    assert_allclose(model.score(x, t), p.noised(a**0.5, (1 - a) ** 0.5).score(x), atol=1e-10)
    assert model.losses(x).shape == (4,)


def test_the_bound_of_a_diffusion_is_the_exact_density_where_its_reverse_is():
    """For x_0 ~ N(0, I) the reverse steps are N(sqrt(1 - beta) x, beta): nothing is lost but by the last step."""
    p = gaussian_mixture([[0.0]])
    model = Diffusion(ExactDenoiser(p, SCHEDULE), SCHEDULE, shape=(1,), variance="forward")
    x = torch.zeros(4000, 1, dtype=D) + 0.7
    values = model.log_prob(x)
    error = 5 * float(values.std()) / len(x) ** 0.5
    assert abs(float(values.mean()) - norm.logpdf(0.7)) < error + 1e-6
    assert error < 0.2


def test_the_flow_of_a_diffusion_has_the_density_of_its_data_to_1e_3():
    for p in (
        gaussian_mixture([[1.0, -0.5]], covariances=[[0.5, 0.2], [0.2, 0.8]]),
        ring_of_gaussians(3, radius=1.0, std=0.3),
    ):
        schedule = cosine_schedule(200)  # which ends nearer to N(0, I) than 1e-3
        network, x = ExactDenoiser(p, schedule), p.sample(10, seed=1)
        assert_allclose(flow_log_prob(network.score, x, schedule, steps=40), p.log_prob(x), atol=1e-3)
    z = flow_samples(network.score, torch.randn(300, 2, dtype=D), schedule, steps=30)
    assert float((z.norm(dim=1) - 1).abs().mean()) < 0.35  # of a ring of radius 1 and width 0.3: mean |r - 1| is 0.25


def test_the_equation_with_noise_goes_there_and_back_through_the_same_laws():
    """Forward: covariance sqrt(a(t) / a(s)) (a(s) v + 1 - a(s)) of both times. Backward: error in proportion to the step."""
    p, schedule, n = gaussian_mixture([[0.8]], std=0.5), cosine_schedule(100), 20_000
    path = forward_path(p.sample(n), schedule, steps=4)[..., 0]
    a = schedule.kept_at(torch.linspace(0, 1, 5, dtype=D))
    for s, t in ((0, 2), (1, 3), (2, 2)):
        exact = float((a[t] / a[s]).sqrt() * (a[s] * 0.25 + 1 - a[s]))
        told = float(torch.cov(torch.stack([path[s], path[t]]))[0, 1]) if s != t else float(path[t].var())
        assert abs(told - exact) < 5 * (2 / n) ** 0.5
        assert abs(float(path[t].mean()) - 0.8 * float(a[t]) ** 0.5) < 5 * n**-0.5
    network = ExactDenoiser(p, schedule)
    z = torch.randn(n, 1, generator=torch.Generator().manual_seed(1)).double()
    off = [float(reverse_samples(network.score, z, schedule, steps=k).var()) - 0.25 for k in (25, 50, 200)]
    error = 5 * 0.25 * (2 / n) ** 0.5
    assert abs(off[2]) < error + abs(off[0]) / 4 and abs(off[0] / off[1] - 2) < 0.8


@pytest.mark.parametrize(("steps", "eta"), [(None, 1.0), (50, 0.0)])
def test_samples_of_an_exact_network_are_those_of_the_data(steps, eta):
    p, schedule = gaussian_mixture([[-1.5], [1.5]], std=0.3, weights=[1, 3]), linear_schedule(100)
    model = Diffusion(ExactDenoiser(p, schedule, "data"), schedule, shape=(1,), target="data")
    x = model.sample(2000, steps=steps, eta=eta, seed=2).double()
    share = float((x < 0).double().mean())
    assert abs(share - 0.25) < 5 * (0.25 * 0.75 / 2000) ** 0.5 + 0.03  # and the bias of finite steps
    assert float(x[x > 0].mean()) == pytest.approx(1.5, abs=0.06)


def test_an_error_of_the_velocity_stays_one_and_an_error_of_the_noise_runs_away():
    """Exact means plus 0.05: x_0 at the last step is off by 0.05 sqrt(1 - a) or by 0.05 sqrt((1 - a) / a)."""
    p, schedule = gaussian_mixture([[0.0]], std=0.5), cosine_schedule(100)
    spread = {}
    for target in ("velocity", "noise"):

        class Off(ExactDenoiser):
            def forward(self, x, t):
                return super().forward(x, t) + 0.05

        model = Diffusion(Off(p, schedule, target), schedule, shape=(1,), target=target)
        one = torch.zeros(1, 1, dtype=D)
        a = float(schedule.kept[-1])
        off = float(
            model.predict_example_and_noise(one, torch.ones(1, dtype=D))[0] - p.denoised(one, a**0.5, (1 - a) ** 0.5)
        )
        assert abs(off) == pytest.approx(0.05 * (1 - a) ** 0.5 / (1.0 if target == "velocity" else a**0.5), rel=1e-6)
        spread[target] = float((model.sample(500, steps=50, eta=0.0).double().mean() - 0).abs())
    assert spread["velocity"] < 0.15 and spread["noise"] > 1


def test_schedules():
    assert float(cosine_schedule(50).betas.max()) <= 0.999 and float(cosine_schedule(50).kept[-1]) < 1e-3
    t = torch.linspace(0, 1, 33, dtype=D)
    assert_allclose(SCHEDULE.time_at(SCHEDULE.kept_at(t)), t, atol=1e-12)
    assert_allclose(SCHEDULE.kept_at(torch.arange(21, dtype=D) / 20), SCHEDULE.kept, atol=1e-12)


@pytest.mark.full
def test_the_best_discriminator_on_a_grid_is_the_formula_and_its_value_the_divergence():
    p, q = gaussian_mixture([[-1.0]]), gaussian_mixture([[1.0]], std=0.8)
    x = torch.linspace(-9, 9, 400, dtype=D)[:, None]
    a, b = p.log_prob(x).exp(), q.log_prob(x).exp()
    logits = torch.zeros(len(x), dtype=D, requires_grad=True)
    cell, game = float(x[1] - x[0]), MinimaxLosses()
    optimizer = torch.optim.LBFGS([logits], max_iter=400, tolerance_grad=1e-12, tolerance_change=1e-16,
                                  line_search_fn="strong_wolfe")  # fmt: skip

    def closure():
        optimizer.zero_grad()
        none = torch.full_like(logits, -60.0)
        loss = (a * game.discriminator(logits, none) + b * game.discriminator(-none, logits)).sum() * cell
        loss.backward()
        return loss

    value = -float(optimizer.step(closure).detach()), -float(closure().detach())
    assert value[1] == pytest.approx(2 * js_divergence(p, q) - 2 * log(2), abs=1e-3)
    seen = (a + b) > 1e-2
    right = optimal_discriminator(p, q, x)
    assert_allclose(logits.detach().sigmoid()[seen], right[seen], atol=1e-3)


def test_games_turn_as_theory_says():
    def turning(w):
        return torch.stack([w[1], -w[0]])

    start = torch.tensor([1.0, 0.0], dtype=D)
    paths = {rule: simulate_game(turning, start, steps=200, lr=0.2, rule=rule()) for rule in
             (SimultaneousUpdate, AlternatingUpdate, ExtragradientUpdate)}  # fmt: skip
    lengths = {rule: float(path[-1].norm()) for rule, path in paths.items()}
    assert lengths[SimultaneousUpdate] == pytest.approx(1.04**100, rel=1e-9)
    assert lengths[ExtragradientUpdate] == pytest.approx((1 - 0.04 + 0.04**2) ** 100, rel=1e-9)
    assert (
        0.5
        < float(paths[AlternatingUpdate].norm(dim=1)[1:].min())
        < float(paths[AlternatingUpdate].norm(dim=1).max())
        < 2
    )
    rotation = game_rotation(lambda w: turning(w) + 0.1 * w, start)
    assert rotation.rotation == pytest.approx(10) and rotation.largest_lr == pytest.approx(0.2 / 1.01)
    assert rotation.findings[0].kind == "rotating-game" and not game_rotation(lambda w: w, start).findings


@pytest.mark.parametrize("game", [NonSaturatingLosses(), WassersteinLosses(1.0), MinimaxLosses()])
@pytest.mark.parametrize("rule", [AlternatingUpdate(), ExtragradientUpdate()])
def test_every_game_can_be_played_and_leaves_the_model_as_it_was(game, rule):
    torch.manual_seed(0)
    judge = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    gan = GAN(nn.Linear(1, 1), judge, latent=1, shape=(1,), game=game)
    before, state = gan.maker.weight.clone(), torch.get_rng_state()
    run = train_gan(gan, torch.randn(64, 1) * 0 + torch.arange(64.0)[:, None] / 64, steps=5, batch=16, rule=rule)
    assert run.stopped == "finished" and torch.equal(before, gan.maker.weight)
    assert not torch.equal(before, run.model.maker.weight) and len(run.plots()) == 1 and "5 steps" in run.verdict
    assert state.shape == torch.get_rng_state().shape
    field, point = gan_gradient_field(gan, torch.ones(4, 1))
    assert field(point).shape == point.shape


def test_training_is_that_of_the_one_loop_for_every_kind_of_data():
    x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0)) + 2
    loader = DataLoader(TensorDataset(x, torch.zeros(60)), batch_size=7)
    runs = [fit(Flow([ShiftTransform(2)], shape=(2,)), data, optimizer=SGD(1.0), steps=1, batch=None)
            for data in (x, x.numpy(), loader, (x, torch.zeros(60)))]  # fmt: skip
    for run in runs:
        assert_allclose(run.model.transforms[0].amount.detach(), x.mean(0), atol=1e-5)
    again = [fit(Diffusion(TimeConditionedNetwork(2), shape=(2,)), x, steps=3, seed=4) for _ in range(1)]
    assert again[0].stopped == "finished" and int(again[0].steps[-1]) == 3


def test_a_module_that_returns_a_distribution_is_a_model():
    x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0)) + 2
    run = fit(DistributionModel(Shifted(), shape=(2,)), x, optimizer=SGD(1.0), steps=1, batch=None)
    assert_allclose(run.model.module.mean.detach(), x.mean(0), atol=1e-5)
    assert torch.equal(run.model.sample(5, seed=3), run.model.sample(5, seed=3)) and run.model.likelihood == "exact"
    with pytest.raises(InputError, match=r"Independent with \(2,\); examples have shape \(3,\)"):
        DistributionModel(Shifted(), shape=(3,)).losses(torch.zeros(1, 3))


def test_bits_per_dimension_of_dequantized_digits():
    x = digits(100, 0).x.flatten(1)
    y = dequantize(x, 1 / 16)
    flat = torch.distributions.Independent(torch.distributions.Uniform(torch.zeros(64), torch.full((64,), 17 / 16)), 1)
    assert bits_per_dimension(flat, y, step=1 / 16) == pytest.approx(np.log2(17), rel=1e-5)


def test_a_bernoulli_vae_takes_digits():
    torch.manual_seed(0)
    x = (digits(50, 0).x.flatten(1) > 0.5).float()
    vae = VAE(nn.Linear(64, 4), nn.Linear(2, 64), latent=2, shape=(64,), observation=BernoulliObservation())
    run = fit(vae, x, steps=5)
    assert set(run.model.sample(3).unique().tolist()) <= {0.0, 1.0} and run.stopped == "finished"
    with pytest.raises(InputError, match="numbers from 0 to 1"):
        vae.elbo(x * 3)


def test_bad_input_is_one_sentence():
    flow = coupling_flow(2)
    with pytest.raises(InputError, match="only 3 different values in 200 numbers .* generative.dequantize"):
        fit(flow, torch.arange(200).reshape(100, 2).float() % 3)
    with pytest.raises(NotFiniteError, match=r"fit\(model, data\): example 1 of x contains NaN or infinity"):
        fit(flow, torch.tensor([[0.0, 1.0], [float("nan"), 1.0]]))
    with pytest.raises(InputError, match="1 example .* at least 2 examples"):
        fit(flow, torch.zeros(1, 2))
    with pytest.raises(InputError, match=r"x has shape \(5, 3\); the model makes examples of shape \(2,\)"):
        fit(flow, torch.randn(5, 3))
    gan = GAN(nn.Linear(1, 2), nn.Linear(2, 1), latent=1, shape=(2,))
    with pytest.raises(InputError, match="a GAN has no density, only samples .expected a model with a density"):
        gan.log_prob(torch.zeros(2, 2))
    with pytest.raises(InputError, match="Use generative.train_gan"):
        fit(gan, torch.randn(5, 2))
    with pytest.raises(InputError, match='target must be "noise" or "data" or "velocity"'):
        Diffusion(TimeConditionedNetwork(2), shape=(2,), target="x0")
    with pytest.raises(InputError, match="between 0 and 1"):
        NoiseSchedule(torch.tensor([0.5, 1.5]))
    with pytest.raises(InputError, match="Let it return .5, 2."):
        VAE(nn.Linear(2, 3), nn.Linear(1, 2), latent=1, shape=(2,)).losses(torch.zeros(5, 2))


class _Narrow(nn.Module):
    """A network of points and times that returns too few numbers."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(3, 1)

    def forward(self, x, t):
        return self.line(x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: Diffusion(_Narrow(), shape=(3,)).losses(x), "the network returned (4, 1) for points (4, 3)"),
        (lambda x: Diffusion(_Narrow(), shape=(3,)).sample(4), "the network returned (4, 1) for points (4, 3)"),
        (lambda x: FlowMatching(_Narrow(), shape=(3,)).losses(x), "the field returned (4, 1) for points (4, 3)"),
        (lambda x: ContinuousFlow(_Narrow(), shape=(3,)).losses(x), "the field returned (4, 1) for points (4, 3)"),
        (
            lambda x: VAE(nn.Linear(3, 4), nn.Linear(2, 1), latent=2, shape=(3,)).losses(x),
            "the decoder returned (4, 1) for 4 rows",
        ),
        (
            lambda x: GAN(nn.Linear(2, 1), nn.Linear(3, 1), latent=2, shape=(3,)).losses(x),
            "the generator returned (4, 1) for 4 rows",
        ),
        (
            lambda x: GAN(nn.Linear(2, 3), nn.Linear(3, 3), latent=2, shape=(3,)).losses(x),
            "the discriminator returned (4, 3) for 4 rows",
        ),
        (
            lambda x: Diffusion(TimeConditionedNetwork(3), shape=(3,)).sample(4, eta=2.0),
            "eta must be a number from 0 to 1",
        ),
    ],
)
def test_parts_of_another_shape_are_refused_where_broadcasting_would_hide_them(call, said):
    """(4, 1) against (4, 3) broadcasts: the loss fell, and what was learned had one number for three."""
    with pytest.raises(InputError) as told:
        call(torch.randn(4, 3))
    assert said in str(told.value)
