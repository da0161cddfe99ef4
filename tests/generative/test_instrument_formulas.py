"""Every number that an instrument of generative models reports, computed again; findings on both sides of thresholds."""

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.core.results import Interval, Value
from gnomon.generative import VAE, Autoencoder
from gnomon.generative.diffusion import cosine_schedule, forward_path, linear_schedule, reverse_samples
from gnomon.generative.game import ExtragradientUpdate, GameRotation, SimultaneousUpdate, game_rotation, simulate_game
from gnomon.generative.gan import WassersteinLosses
from gnomon.generative.instruments import (
    classifier_test,
    elbo_gap,
    energy_test,
    flow_density_check,
    gradient_estimators,
    latent_holes,
    latent_knn_score,
    mmd_test,
    pca_gap,
    reconstruction_error,
    sample_memorization,
    score_curl,
    score_error,
    style_distance,
    style_transfer,
)
from gnomon.generative.instruments.density import DensityCheck
from gnomon.generative.instruments.gradients import GeneratorGradients
from gnomon.generative.instruments.latent import LatentHoles, PcaGap
from gnomon.generative.instruments.neighbors import SampleCoverage, SampleMemorization
from gnomon.generative.instruments.posterior import ElboGap
from gnomon.generative.instruments.ratio import RatioCalibration
from gnomon.generative.instruments.score import ScoreError
from gnomon.generative.instruments.two_sample import TwoSampleTest


def normal(*shape):
    return torch.randn(*shape).double()


def ratio(off, error):
    return RatioCalibration(*(torch.tensor([v]) for v in (0.5, 0.5 + off, off / error)), off, 1.0, 0.1)


def density(integral=1.0, back=0.0, off=0.0, interval=None):
    return DensityCheck(Value("integral", integral, interval), back, off, True)


THRESHOLDS = [
    (SampleCoverage(0.905, 0.97, 0.011, 5), SampleCoverage(0.905, 0.97, 0.0105, 5)),  # 6 standard errors
    (SampleMemorization(0.9, 0.5, 0.0101, 200), SampleMemorization(0.9, 0.5, 0.0099, 200)),
    (TwoSampleTest("energy", 0.3, 0.0101, 9), TwoSampleTest("energy", 0.3, 0.01, 9)),
    (ScoreError(0.49, 0.09, 9), ScoreError(0.51, 0.09, 9)),
    (ScoreError(0.49, 0.09, 9), ScoreError(0.49, 0.11, 9)),
    (LatentHoles(0.49, 1.0, 9), LatentHoles(0.51, 1.0, 9)),
    (PcaGap(1.04, 1.0, torch.zeros(1)), PcaGap(1.06, 1.0, torch.zeros(1))),
    (GeneratorGradients(0.1, 0.1, 0.5, 0.011), GeneratorGradients(0.1, 0.1, 0.5, 0.009)),
    (GameRotation(torch.tensor([1 + 0j]), 0.99, 0.1), GameRotation(torch.tensor([1 + 0j]), 1.01, 0.1)),
    (ratio(0.049, 9.0), ratio(0.051, 9.0)),
    (ratio(0.2, 4.9), ratio(0.2, 5.1)),
    (density(1.009), density(1.011)),
    (density(back=0.9e-3), density(back=1.1e-3)),
    (density(off=0.9e-2), density(off=1.1e-2)),
    (density(1.2, interval=Interval(0.9, 1.5)), density(1.2, interval=Interval(1.1, 1.5))),
    (ElboGap(Value("gap", 0.1), -1.0, torch.tensor([0.011, 0.0]), 0.0, 0.0), ElboGap(Value("gap", 0.1), -1.0, torch.tensor([0.009, 0.0]), 0.0, 0.0)),
]  # fmt: skip


@pytest.mark.parametrize(("healthy", "faulty"), THRESHOLDS)
def test_findings_begin_at_their_thresholds(healthy, faulty):
    assert not healthy.findings and len(faulty.findings) == 1


def brute_statistic(kernel, first):
    """Means over pairs of different points, pair by pair."""
    n = len(kernel)
    means = {}
    for a, b in ((0, 0), (1, 1), (0, 1)):
        rows, columns = ([i for i in range(n) if (i >= first) == bool(side)] for side in (a, b))
        means[a + b] = np.mean([kernel[i, j] for i in rows for j in columns if i != j])
    return means[0] + means[2] - 2 * means[1]


def test_statistics_of_two_samples_and_their_p_values():
    x, y = normal(6, 2), normal(9, 2) + 1.0
    both = torch.cat([x, y]).numpy()
    apart = np.linalg.norm(both[:, None] - both[None], axis=2)
    pairs = apart[np.triu_indices(15, 1)]
    middle = np.sort(pairs)[(len(pairs) - 1) // 2]
    kernels = {
        "default": np.mean([np.exp(-(apart**2) / (2 * (f * middle) ** 2)) for f in (0.5, 1, 2)], axis=0),
        "fixed": np.exp(-(apart**2) / (2 * 0.7**2)),
        "energy": -apart,
    }
    found = {
        "default": mmd_test(x, y, permutations=99),
        "fixed": mmd_test(x, y, permutations=99, bandwidth=0.7),
        "energy": energy_test(x, y, permutations=99),
    }
    generator = torch.Generator().manual_seed(0)
    orders = [torch.randperm(15, generator=generator).numpy() for _ in range(99)]
    for name, kernel in kernels.items():
        value = brute_statistic(kernel, 6)
        larger = sum(brute_statistic(kernel[np.ix_(o, o)], 6) >= value - 1e-12 for o in orders)
        assert_allclose(found[name].statistic, value, rtol=1e-9)
        assert_allclose(found[name].p_value, (1 + larger) / 100, rtol=1e-12)
        assert found[name].examples == 15


def test_a_classifier_is_judged_by_the_binomial_law_on_the_other_half():
    seen = []

    class Sign:
        def fit(self, x, y):
            seen.append((x, y))

        def predict(self, x):
            seen.append((x, None))
            return x[:, 0] > 0

    x, y = normal(31, 2), normal(44, 2) + 0.6
    found = classifier_test(x, y, classifier=Sign())
    (train, labels), (test, _) = seen
    assert len(train) == len(test) == 30 and labels.sum() == 15
    assert_allclose(train.mean(0), 0, atol=1e-12)
    assert_allclose(train.std(0, ddof=1), 1)
    right = int(((test[:, 0] > 0) == labels).sum())
    assert_allclose([found.statistic, found.p_value], [right / 30, stats.binom.sf(right - 1, 30, 0.5)], rtol=1e-9)
    assert found.examples == 60


def test_p_values_of_equal_sets_are_uniform():
    generator = torch.Generator().manual_seed(0)
    values = {"energy": [], "copies": []}
    for seed in range(150):
        x, y, z = torch.randn(3, 12, 1, generator=generator)
        values["energy"].append(energy_test(x, y, permutations=99, seed=seed).p_value)
        values["copies"].append(sample_memorization(z, x, y, permutations=99, seed=seed).p_value)
    assert stats.kstest(values["energy"], "uniform").pvalue > 1e-3
    for level in (0.1, 0.3, 0.5):  # ties of a discrete statistic make p-values larger, never smaller
        assert np.mean(np.array(values["copies"]) <= level) < level + 3 * (level * (1 - level) / 150) ** 0.5


def test_copies_are_counted_and_compared_with_exchanged_examples():
    train, held, samples = normal(5, 2), normal(8, 2), normal(11, 2)
    found = sample_memorization(samples, train, held, permutations=99, seed=3)
    order = torch.cat([train, held])
    nearest = [min((float((s - order[i]).norm()), i) for i in range(13))[1] for s in samples]
    copied = np.mean([i < 5 for i in nearest])
    generator = torch.Generator().manual_seed(3)
    larger = 0
    for _ in range(99):
        own = set(torch.randperm(13, generator=generator)[:5].tolist())
        larger += np.mean([i in own for i in nearest]) >= copied - 1e-12
    assert_allclose([found.copied, found.expected, found.p_value], [copied, 5 / 13, (1 + larger) / 100], rtol=1e-9)
    levels = [SampleMemorization(copied, 0.5, 0.001, 9).findings[0].level.name for copied in (0.74, 0.76)]
    assert levels == ["WARNING", "PROBLEM"]  # below and above half of the samples that would not be copies by chance


def test_integrals_of_densities_on_grids_and_by_samples():
    class Off(torch.distributions.MultivariateNormal):
        def log_prob(self, x):
            return super().log_prob(x) + math.log(1.3)

    plane = Off(torch.tensor([3.0, -1.0]).double(), torch.tensor([[1.0, 0.3], [0.3, 0.4]]).double())
    assert_allclose(flow_density_check(plane).integral.value, 1.3, rtol=1e-3)
    space = Off(torch.zeros(4).double(), torch.diag(torch.tensor([1.0, 4.0, 0.25, 1.0]).double()))
    found = flow_density_check(space, samples=4000, seed=1).integral
    x = torch.empty(0)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        x = space.sample((4000,)).numpy()
    inner = stats.multivariate_normal(x.mean(0), np.cov(x.T) / 4).pdf(x)
    weights = inner / np.exp(space.log_prob(torch.from_numpy(x)).numpy())
    error = 5 * weights.std(ddof=1) / 4000**0.5
    assert_allclose(
        [found.value, found.interval.low, found.interval.high], weights.mean() + np.array([0, -error, error]), rtol=1e-6
    )


class Coder(nn.Module):
    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(torch.as_tensor(matrix).double())

    def forward(self, x):
        return x @ self.matrix.T


def test_the_gap_and_the_moments_of_latents():
    vae = VAE(
        Coder([[0.7, 0.1], [0.2, -0.4], [0.1, 0.3], [-0.2, 0.1]]), Coder([[1.0, 0.2], [0.3, 0.5]]), latent=2, shape=(2,)
    ).double()
    x = normal(40, 2)
    found = elbo_gap(vae, x, draws=8, seed=2)
    out = x.numpy() @ vae.encoder.matrix.detach().numpy().T
    mean, log_variance = out[:, :2], out[:, 2:]
    nats = (np.exp(log_variance) + mean**2 - 1 - log_variance) / 2
    assert_allclose(found.nats, nats.mean(0), rtol=1e-6)
    gaps = (vae.bound(x, 8, seed=2) - vae.elbo(x, 8, seed=2)).detach().numpy()
    error = 1.96 * gaps.std(ddof=1) / 40**0.5
    assert_allclose([found.gap.value, found.gap.interval.low], [gaps.mean(), gaps.mean() - error], rtol=1e-6)
    assert_allclose(found.elbo, float(vae.elbo(x, 8, seed=2).mean().detach()), rtol=1e-6)
    covariance = np.cov(mean.T) + np.diag(np.exp(log_variance).mean(0))
    assert_allclose(found.mean_off, np.linalg.norm(mean.mean(0)), rtol=1e-6)
    assert_allclose(found.covariance_off, np.linalg.norm(covariance - np.eye(2)), rtol=1e-6)


def test_errors_and_turning_of_scores():
    a, b = normal(3, 3), normal(3, 3)
    x = normal(7, 3)
    found = score_error(lambda z: z @ a.T, lambda z: z @ b.T, x)
    gap, size = (np.square(x.numpy() @ m.numpy().T).sum() for m in (a - b, b))
    j = a.numpy()
    turn = np.square(j - j.T).sum() / (4 * np.square(j).sum())
    assert_allclose([found.error, found.curl, score_curl(lambda z: z @ a.T, x)], [gap / size, turn, turn], rtol=1e-9)
    assert found.points == 7


def test_errors_angles_neighbors_and_holes_of_an_autoencoder():
    model = Autoencoder(Coder(normal(1, 3)), Coder(normal(3, 1)), latent=1, shape=(3,)).double()
    x, y = normal(30, 3), torch.arange(30) % 3
    x[:, 0] *= 3
    v = x.numpy()
    encode, decode = (part.matrix.detach().numpy() for part in (model.encoder, model.decoder))
    back = v @ encode.T @ decode.T
    assert_allclose(reconstruction_error(model, x).detach(), ((back - v) ** 2).mean(1), rtol=1e-9)
    found = pca_gap(model, x)
    values, vectors = np.linalg.eigh(np.cov(v.T, bias=True))
    assert_allclose(
        [found.loss, found.pca_loss], [((back - v) ** 2).sum(1).mean() / 2, values[:2].sum() / 2], rtol=1e-9
    )
    cosine = abs(vectors[:, 2] @ decode[:, 0]) / np.linalg.norm(decode)
    assert_allclose(found.angles, [np.arccos(cosine)], rtol=1e-6)
    latents, right = (v @ encode.T)[:, 0], 0
    for i in range(30):
        near = sorted((j for j in range(30) if j != i), key=lambda j: abs(latents[i] - latents[j]))[:3]
        counts = np.bincount(y.numpy()[near], minlength=3)
        right += int(counts.argmax()) == int(y[i])
    assert_allclose(latent_knn_score(model, x, y, neighbors=3), right / 30)
    told = latent_holes(model, x, draws=50, seed=4)
    made = model.noise(50, (1,), model.generator(4)).numpy() @ decode.T
    near = [min(np.linalg.norm(p - q) for q in v[:15]) for p in v[15:]]
    radius = np.quantile(near, 0.95)
    far = np.mean([min(np.linalg.norm(p - q) for q in v[:15]) > radius for p in made])
    assert_allclose([told.radius, told.holes], [radius, far], rtol=1e-6)


def test_both_gradient_estimators_have_the_moments_of_a_square():
    m, s = 1.5, 0.5
    found = gradient_estimators(lambda z: z**2, m, s, draws=200_000, seed=1)
    # 2 (m + s e), and (m + s e)^2 e / s with e normal: moments by integrating over a fine grid
    e = np.linspace(-9, 9, 20001)
    weight = stats.norm.pdf(e) * (e[1] - e[0])
    other = (m + s * e) ** 2 * e / s
    mean = (other * weight).sum()
    assert_allclose([found.reparametrized, found.score_function], [2 * m, mean], rtol=0.02)
    variances = 4 * s**2, ((other - mean) ** 2 * weight).sum()
    assert_allclose([found.reparametrized_variance, found.score_function_variance], variances, rtol=0.03)
    assert_allclose(found.ratio, found.score_function_variance / found.reparametrized_variance)


def test_style_is_compared_by_covariances():
    net = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Tanh()).double()
    a, b = normal(2, 2, 6), 2 * normal(1, 2, 7)
    found = style_distance(net, a, b)
    for name, part in (("0", net[:1]), ("1", net)):
        p, q = (np.cov(part(x).detach().numpy().transpose(1, 0, 2).reshape(3, -1), bias=True) for x in (a, b))
        assert_allclose(
            found.distances[name], np.linalg.norm(p - q) / max(np.linalg.norm(p), np.linalg.norm(q)), rtol=1e-9
        )
    content, style = normal(1, 2, 6), normal(1, 2, 6)
    moved = style_transfer(net, content, style, iterations=3, weight=2.0, lr=0.01)
    covariances = [
        [np.cov(part(x).detach().numpy()[0], bias=True) for part in (net[:1], net)] for x in (moved.image, style)
    ]
    off = np.mean([np.square(p - q).sum() / np.square(q).sum() for p, q in zip(*covariances, strict=True)])
    kept = float((net(moved.image) - net(content)).square().mean().detach())
    assert_allclose([moved.content[-1], moved.style[-1]], [kept, off], rtol=1e-9)
    assert moved.content[0] == 0 and moved.content[-1] + 2 * moved.style[-1] < moved.content[0] + 2 * moved.style[0]


def test_schedules_are_those_of_their_sources():
    found = linear_schedule(5, first=0.1, last=0.3).betas
    assert_allclose(found, [0.1, 0.15, 0.2, 0.25, 0.3], rtol=1e-12)
    assert_allclose(linear_schedule(40).betas[[0, -1]], [0.1 / 40, 0.5], rtol=1e-12)
    f = np.cos(np.pi / 2 * (np.arange(51) / 50 + 0.008) / 1.008) ** 2
    assert_allclose(cosine_schedule(50).kept[:50], f[:50] / f[0], rtol=1e-9)
    assert_allclose(cosine_schedule(50).betas[-1], 0.999, rtol=1e-12)
    plan = linear_schedule(4, first=0.2, last=0.5)
    assert_allclose(
        plan.kept_at([0.0, 0.375, 1.0]), [1, (plan.kept[1] * plan.kept[2]) ** 0.5, plan.kept[4]], rtol=1e-12
    )
    assert_allclose(plan.time_at(plan.kept_at([0.0, 0.1, 0.375, 1.0])), [0.0, 0.1, 0.375, 1.0], atol=1e-12)


def test_steps_with_noise_are_those_of_their_equations():
    plan, x = linear_schedule(4, first=0.2, last=0.5), normal(3, 2)
    path = forward_path(x, plan, steps=4, seed=7)
    generator = torch.Generator().manual_seed(1_000_003 + 7)
    for k in range(4):
        noise = torch.randn(3, 2, generator=generator, dtype=torch.float64)
        assert_allclose(path[k + 1], (1 - plan.betas[k]) ** 0.5 * path[k] + plan.betas[k] ** 0.5 * noise, rtol=1e-9)
    times = []
    found = reverse_samples(lambda z, t: times.append(float(t[0])) or -0.3 * z, x, plan, steps=2, first=0.25, seed=7)
    generator = torch.Generator().manual_seed(1_000_003 + 7)
    ends = [float(plan.kept[4]), float(plan.kept[1])]
    logits = [math.log(a / (1 - a)) for a in ends]
    kept = [1 / (1 + math.exp(-v)) for v in (logits[0], sum(logits) / 2, logits[1])]
    z = x
    for a, b in zip(kept, kept[1:], strict=False):
        r = math.exp(math.log(b / a) / 2)
        noise = torch.randn(3, 2, generator=generator, dtype=torch.float64)
        z = r * z + 2 * (r - 1) * (-0.3 * z) + (r**2 - 1) ** 0.5 * noise
    assert_allclose(found, z, rtol=1e-9)
    assert_allclose(times, [1.0, float(plan.time_at(kept[1]))], rtol=1e-6)


def test_games_turn_and_converge_as_their_eigenvalues_say():
    field = torch.tensor([[2.0, 3.0, 0.0], [-3.0, 2.0, 0.0], [0.0, 0.0, 5.0]]).double()
    found = game_rotation(lambda w: field @ w, torch.zeros(3).double())
    assert_allclose([found.rotation, found.largest_lr], [3 / 2, min(2 * 2 / 13, 2 / 5)], rtol=1e-9)
    for lr, shrinks in ((0.99 * found.largest_lr, True), (1.01 * found.largest_lr, False)):
        path = simulate_game(lambda w: field @ w, torch.ones(3).double(), steps=400, lr=lr, rule=SimultaneousUpdate())
        assert (float(path[-1].norm()) < 1) == shrinks
    ahead = simulate_game(lambda w: field @ w, torch.ones(3).double(), steps=1, lr=0.1, rule=ExtragradientUpdate())[1]
    assert_allclose(
        ahead, torch.ones(3) - 0.1 * field @ (torch.ones(3) - 0.1 * field @ torch.ones(3).double()), rtol=1e-9
    )


def test_the_gradient_penalty_is_that_of_slopes_off_one():
    w = torch.tensor([0.6, 1.6]).double()
    found = WassersteinLosses(7.0).penalty(lambda x: x @ w, normal(4, 2), normal(4, 2))
    assert_allclose(found.detach(), 7 * (float(w.norm()) - 1) ** 2, rtol=1e-9)
    places = []
    WassersteinLosses().penalty(
        lambda x: places.append(x) or x.sum(1), torch.ones(5, 1).double(), -torch.ones(5, 1).double()
    )
    assert bool((places[0].abs() <= 1).all()) and float(places[0].std().detach()) > 0.1
