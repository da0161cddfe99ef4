"""Instruments of generative models: planted faults are found, healthy models are not blamed, numbers are right."""

import json

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.core import InputError
from gnomon.data import gaussian_mixture, js_divergence, moons, ring_of_gaussians
from gnomon.generative import (
    GAN,
    VAE,
    Autoencoder,
    Flow,
    classifier_test,
    coupling_flow,
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
from gnomon.generative.flows.base import AbstractTransform
from gnomon.generative.flows.planar import PlanarTransform
from gnomon.generative.gan import MinimaxLosses, NonSaturatingLosses
from gnomon.generative.instruments.density import flow_density_check
from gnomon.generative.instruments.gradients import gradient_estimators
from gnomon.generative.instruments.latent import latent_knn_score, reconstruction_error
from gnomon.generative.instruments.ratio import jensen_shannon_lower_bound, ratio_calibration
from gnomon.generative.instruments.score import score_curl
from gnomon.generative.instruments.style import feature_covariance
from gnomon.generative.vae import GaussianObservation

D = torch.float64
RING = ring_of_gaussians(8, std=0.15)


def test_mmd_is_its_definition():
    x, y = torch.randn(7, 2, dtype=D), torch.randn(5, 2, dtype=D) + 1
    told = mmd_test(x, y, bandwidth=0.8, permutations=99)

    def k(a, b):
        return np.exp(-((a - b) ** 2).sum() / (2 * 0.8**2))

    a, b = x.numpy(), y.numpy()
    xx = np.mean([k(a[i], a[j]) for i in range(7) for j in range(7) if i != j])
    yy = np.mean([k(b[i], b[j]) for i in range(5) for j in range(5) if i != j])
    xy = np.mean([k(u, v) for u in a for v in b])
    assert told.statistic == pytest.approx(xx + yy - 2 * xy, rel=1e-10)


@pytest.mark.parametrize("test", [mmd_test, energy_test, classifier_test])
def test_two_sample_tests_see_a_difference_and_raise_few_false_alarms(test):
    alarms = sum(test(RING.sample(60, seed=2 * i), RING.sample(60, seed=2 * i + 1)).p_value < 0.1 for i in range(20))
    assert alarms <= 7  # of a binomial with chance 0.1: above 7 in 4e-4 of cases
    dropped = gaussian_mixture(RING.means[:4], std=0.15)
    found = test(dropped.sample(200), RING.sample(200, seed=1))
    assert found.differ and found.findings[0].kind == "samples-differ"
    assert json.loads(json.dumps(found.to_dict()))["p_value"] < 0.01


@pytest.mark.parametrize("test", [mmd_test, energy_test])
def test_the_fewest_permutations_can_see_a_difference(test):
    assert test(RING.sample(100), RING.sample(100, seed=1) + 3, permutations=99).differ
    train = RING.sample(100, seed=1)
    assert sample_memorization(train + 1e-3, train, RING.sample(100, seed=2), permutations=99).findings


def test_a_gan_that_drops_modes_is_found_and_one_that_does_not_is_not():
    class Ring(nn.Module):
        """A generator of some of the modes: the angle of the noise decides which."""

        def __init__(self, modes):
            super().__init__()
            self.modes, self.scale = modes, nn.Parameter(torch.tensor(0.15))

        def forward(self, z):
            share = (torch.atan2(z[:, 0], z[:, 1]) / (2 * torch.pi) + 0.5) * self.modes
            angle = 2 * torch.pi * share.floor().clamp(max=self.modes - 1) / 8
            return 2 * torch.stack([angle.cos(), angle.sin()], 1) + self.scale * z[:, 2:]

    data = RING.sample(800, seed=9)
    for modes, kinds in ((5, ["modes-dropped"]), (8, [])):
        gan = GAN(Ring(modes), nn.Linear(2, 1), latent=4, shape=(2,))
        told = sample_coverage(gan.sample(800, seed=1), data)
        assert [finding.kind for finding in told.findings] == kinds
    assert told.coverage == pytest.approx(told.expected, abs=0.03)


def test_the_expected_coverage_is_that_of_repeated_draws():
    told = [sample_coverage(torch.randn(60, 3), torch.randn(40, 3), neighbors=3) for _ in range(60)]
    shares = np.array([one.coverage for one in told])
    assert abs(shares.mean() - told[0].expected) < 5 * shares.std() / 60**0.5


def test_a_memorizing_sampler_is_found_and_a_new_one_is_not():
    train, held_out = moons(300, seed=1), moons(300, seed=2)
    copies = train[torch.randint(300, (300,), generator=torch.Generator().manual_seed(0))] + 0.01 * torch.randn(300, 2)
    found = sample_memorization(copies, train, held_out)
    assert (
        found.findings[0].kind == "memorized-samples"
        and found.copied > 0.9
        and found.findings[0].level.name == "PROBLEM"
    )
    alarms = sum(
        sample_memorization(moons(100, seed=30 + i), train, held_out, permutations=199).p_value < 0.05
        for i in range(20)
    )
    assert alarms <= 5  # above 5 of 20 with chance 0.05 each in 3e-4 of cases, were they independent


class WrongSign(AbstractTransform):
    """A scaling whose log determinant has the wrong sign."""

    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(0.4, dtype=D))

    def forward(self, z):
        return z * self.log_scale.exp(), -2 * self.log_scale.expand(len(z))

    def inverse(self, x):
        return x / self.log_scale.exp(), 2 * self.log_scale.expand(len(x))


def test_a_wrong_sign_of_the_jacobian_is_found_and_a_right_one_is_not():
    found = flow_density_check(Flow([WrongSign()], shape=(2,)))
    kinds = [finding.kind for finding in found.findings]
    assert kinds == ["density-not-normalized", "log-determinant-wrong"]
    assert found.integral.value == pytest.approx(np.exp(4 * 0.4), rel=1e-2)
    torch.manual_seed(0)
    for flow in (coupling_flow(2).double(), Flow([PlanarTransform(2)], shape=(2,)).double()):
        assert flow_density_check(flow).findings == ()
    assert "valid" in flow_density_check(coupling_flow(2).double()).verdict


def test_a_density_that_is_narrower_than_the_grid_is_not_accused():
    """Two lines of deviation 0.03, ten apart: cells of the first grid are 0.07 wide."""
    mix = torch.distributions.Categorical(torch.tensor([0.5, 0.5], dtype=D))
    parts = torch.distributions.Normal(torch.tensor([0.0, 10.0], dtype=D), torch.tensor([0.03, 0.03], dtype=D))
    narrow = torch.distributions.MixtureSameFamily(mix, parts)

    class Line(torch.distributions.Distribution):
        arg_constraints = {}

        def __init__(self, factor):
            super().__init__(validate_args=False)
            self.log_factor = np.log(factor)

        def sample(self, shape=()):
            return narrow.sample((*shape, 1))

        def log_prob(self, x):
            return narrow.log_prob(x[:, 0]) + self.log_factor

    told = flow_density_check(Line(1.0), grid=300)
    assert told.findings == () and abs(told.integral.value - 1) < 1e-2
    assert flow_density_check(Line(1.5), grid=300).findings[0].kind == "density-not-normalized"


def test_a_grid_has_ten_points_and_a_check_a_hundred_samples():
    normal = torch.distributions.MultivariateNormal(torch.zeros(1, dtype=D), torch.eye(1, dtype=D))
    assert flow_density_check(normal, grid=10, samples=100).findings == ()
    for options in ({"grid": 9}, {"samples": 99}):
        with pytest.raises(InputError, match=str(next(iter(options.values())) + 1)):
            flow_density_check(normal, **options)


def test_densities_in_more_dimensions_are_checked_by_samples():
    torch.manual_seed(0)
    assert flow_density_check(coupling_flow(6).double()).findings == ()
    normal = torch.distributions.MultivariateNormal(torch.zeros(5, dtype=D), torch.eye(5, dtype=D))

    class Off(nn.Module):
        """What a zuko flow looks like: called with nothing it gives a distribution, here a wrong one."""

        def forward(self, context=None):
            class Wrong(torch.distributions.Distribution):
                arg_constraints = {}

                def sample(self, shape=()):
                    return normal.sample(shape)

                def log_prob(self, x):
                    return normal.log_prob(x) - 1

            return Wrong(validate_args=False)

    right = flow_density_check(normal)
    assert right.integrates_to_one
    assert right.integral.interval.confidence == pytest.approx(1 - 2 * stats.norm.sf(5), abs=1e-12)  # 5 errors
    found = flow_density_check(Off())
    assert found.integral.value == pytest.approx(np.e, rel=0.2) and found.findings[0].kind == "density-not-normalized"
    with pytest.raises(InputError, match="has no log_prob"):
        flow_density_check(lambda n: torch.randn(n, 2))


def test_a_collapsed_posterior_is_found_and_a_used_one_is_not():
    torch.manual_seed(0)
    x = torch.randn(200, 1) @ torch.tensor([[1.0, 2.0]]) + 0.1 * torch.randn(200, 2)
    vae = VAE(nn.Linear(2, 2), nn.Linear(1, 2), latent=1, shape=(2,), observation=GaussianObservation(0.3))
    assert elbo_gap(vae, x).findings == ()
    with torch.no_grad():
        for p in (*vae.encoder.parameters(), vae.decoder.weight):
            p.zero_()
    found = elbo_gap(vae, x)
    assert found.findings[0].kind == "posterior-collapsed" and found.informative_coordinates == 0
    assert abs(found.gap.value) < 1e-3 and found.mean_off == 0 and found.covariance_off < 1e-6


def test_the_gap_is_that_of_the_exact_posterior():
    """x = 2 z + e: the posterior of z has variance 1 / 5 and mean 2 x / 5; the encoder claims variance 1 and mean 0."""
    vae = VAE(nn.Linear(1, 2), nn.Linear(1, 1), latent=1, shape=(1,), observation=GaussianObservation(1.0)).double()
    with torch.no_grad():
        for p in vae.encoder.parameters():
            p.zero_()
        vae.decoder.weight[:], vae.decoder.bias[:] = 2.0, 0.0
    x = torch.full((400, 1), 1.0, dtype=D)
    exact = (5 + 5 * (2 / 5) ** 2 - 1 - np.log(5)) / 2
    assert elbo_gap(vae, x, draws=200).gap.value == pytest.approx(exact, abs=0.05)


def test_scores_and_their_curl():
    p = ring_of_gaussians(3, std=0.5)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=D)
    x = p.sample(50)
    right = score_error(p.score, p.score, x)
    assert right.error == 0 and right.curl < 1e-20 and right.findings == ()
    wrong = score_error(lambda x: -p.score(x) + 5 * x @ turn, p.score, x)
    assert {finding.kind for finding in wrong.findings} == {"score-wrong", "score-turns"}
    matrix = torch.tensor([[1.0, 2.0], [0.0, 3.0]], dtype=D)
    assert score_curl(lambda x: x @ matrix.T, x) == pytest.approx(2 * 4 / (4 * 14))


def test_ratios_their_calibration_and_the_divergence():
    p, q = gaussian_mixture([[0.0]]), gaussian_mixture([[1.5]])
    x, y = p.sample(4000, seed=1), q.sample(4000, seed=2)

    def right(x):
        return p.log_prob(x) - q.log_prob(x)

    assert_allclose(density_ratio(right, x[:5]), (p.log_prob(x[:5]) - q.log_prob(x[:5])).exp())
    told = jensen_shannon_lower_bound(right, x, y)
    assert js_divergence(p, q) in told.interval
    weak = jensen_shannon_lower_bound(lambda x: 0.3 * right(x), x, y)
    assert weak.value < told.value
    assert ratio_calibration(right, x, y).findings == ()
    off = ratio_calibration(lambda x: 3 * right(x), x, y)
    assert off.findings[0].kind == "ratio-not-calibrated" and off.worst > 5


def test_a_silenced_generator_is_found():
    torch.manual_seed(0)
    judge = nn.Linear(1, 1)
    with torch.no_grad():
        judge.weight.zero_()
        judge.bias.fill_(float(np.log(1e-3 / (1 - 1e-3))))
    told = generator_gradient_health(GAN(nn.Linear(1, 1), judge, latent=1, shape=(1,), game=MinimaxLosses()))
    assert told.non_saturating / told.minimax == pytest.approx(999, rel=1e-3)
    assert told.findings[0].kind == "generator-silenced"
    assert (
        generator_gradient_health(
            GAN(nn.Linear(1, 1), judge, latent=1, shape=(1,), game=NonSaturatingLosses())
        ).findings
        == ()
    )


def test_both_gradient_estimators_are_right_and_one_is_better():
    told = gradient_estimators(lambda z: z**2, 1.0, 0.3, draws=50_000)
    for value, variance in (
        (told.reparametrized, told.reparametrized_variance),
        (told.score_function, told.score_function_variance),
    ):
        assert abs(value - 2) < 4 * (variance / 50_000) ** 0.5
    m, s = 1.0, 0.3  # Var(2 z) = 4 s^2; of z^2 e / s by the moments of e
    other = (m**4 + 18 * m**2 * s**2 + 15 * s**4) / s**2 - 4 * m**2
    assert told.reparametrized_variance == pytest.approx(4 * s**2, rel=0.05)
    assert told.score_function_variance == pytest.approx(other, rel=0.1)


def test_latents_of_an_autoencoder():
    model = Autoencoder(nn.Identity(), nn.Identity(), latent=2, shape=(2,))
    x = torch.cat([torch.randn(100, 2), torch.randn(100, 2) + 8])
    y = torch.arange(200) // 100
    assert latent_knn_score(model, x, y) == 1.0
    assert float(reconstruction_error(model, x).max()) == 0
    assert latent_holes(model, torch.randn(600, 2)).holes < 0.2
    found = latent_holes(model, torch.randn(600, 2) * 0.05)
    assert found.findings[0].kind == "latent-holes"


def test_style_is_the_covariance_of_features_and_can_be_transferred():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 5, dtype=D)
    rows = x.permute(0, 2, 3, 1).reshape(-1, 3).numpy()
    assert_allclose(feature_covariance(x), np.cov(rows.T, bias=True), atol=1e-12)
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.Tanh())
    rough, smooth = torch.randn(1, 1, 16, 16), torch.randn(1, 1, 4, 4).repeat_interleave(4, 2).repeat_interleave(4, 3)
    assert max(style_distance(net, rough, rough).distances.values()) == 0
    assert style_distance(net, rough, smooth).distances["0"] > 0.2
    before = [p.clone() for p in net.parameters()]
    moved = style_transfer(net, smooth, rough, layers=["0"], iterations=60, lr=0.1, weight=1e4)
    assert moved.style[-1] < 0.05 * moved.style[0] and "fell by" in moved.verdict
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
    with pytest.raises(InputError, match="has no submodule"):
        style_distance(net, rough, rough, layers=["none"])


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="3 numbers in the first set and 2"):
        mmd_test(torch.randn(5, 3), torch.randn(5, 2))
    with pytest.raises(InputError, match="x contains 1 example"):
        energy_test(torch.randn(1, 3), torch.randn(5, 3))
    with pytest.raises(ArithmeticError, match="NaN or infinity"):
        sample_coverage(torch.full((9, 2), float("nan")), torch.randn(9, 2))
    with pytest.raises(InputError, match="10 in each of 10 bins"):
        ratio_calibration(lambda x: x[:, 0], torch.randn(5, 1), torch.randn(5, 1))
