"""Clauses of the scope on risk, margins and shifts that no claim measures; the ledger names these tests."""

from itertools import product
from math import comb, log, sqrt

import numpy as np
import pytest
import torch
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from torch import nn

import gnomon
from gnomon.atlas.claims.generalization import double_descent_model_wise, ood_failure, vc_inequality
from gnomon.attribution.probes import intrinsic_dimension
from gnomon.bounds import certify, generalization_bounds, layer_noise_tolerance, output_margins
from gnomon.bounds.bias_variance import bias_variance
from gnomon.bounds.capacity import network_vc_dimension, sauer_bound
from gnomon.bounds.output_margins import spectral_complexity
from gnomon.bounds.pacbayes.posterior import gaussian_kl
from gnomon.data import digits
from gnomon.decisions import calibration
from gnomon.decisions.temperature import label_smoothing_gap
from gnomon.training import Adam


def test_the_error_of_500_fits_is_bias_variance_and_noise_to_one_percent():
    """bias-variance-classical: mean of (f_D(x) - y)^2 over data and labels = bias^2 + variance + noise, from samples alone."""
    rng, x, z = np.random.default_rng(0), np.linspace(0, 1, 20), np.linspace(0.02, 0.98, 25)
    truth = np.sin(2 * np.pi * z)
    for degree in (1, 9):
        fits = [
            np.polynomial.Polynomial.fit(x, np.sin(2 * np.pi * x) + 0.3 * rng.normal(size=20), degree)(z)
            for _ in range(500)
        ]
        fits, labels = np.array(fits), truth + 0.3 * rng.normal(size=(20_000, 25))
        error = np.mean([((fits[k % 500] - row) ** 2).mean() for k, row in enumerate(labels)])
        parts = ((fits.mean(0) - truth) ** 2).mean() + fits.var(0).mean() + 0.3**2
        assert error == pytest.approx(parts, rel=0.01)


def test_the_error_of_least_squares_peaks_at_as_many_features_as_examples():
    """double-descent-model-wise: the median risk of minimum-norm least squares is largest at p / n = 1 +- 0.05."""
    rng, n, sizes = np.random.default_rng(0), 60, (30, 48, 54, 57, 60, 63, 66, 72, 120)
    medians = []
    for p in sizes:
        found = []
        for _ in range(60):
            x, w = rng.normal(size=(n, p)), rng.normal(size=p) / p**0.5
            found.append(((np.linalg.pinv(x) @ (x @ w + 0.5 * rng.normal(size=n)) - w) ** 2).sum())
        medians.append(np.median(found))
    assert abs(sizes[int(np.argmax(medians))] / n - 1) <= 0.05
    assert medians[4] > 5 * max(medians[1], medians[-2]) and medians[-1] < medians[-2]


@pytest.mark.full
def test_turned_digits_cost_at_least_twenty_five_points_of_accuracy():
    """ood-failure: accuracy(new) - accuracy(turned by 45 degrees) >= 0.25 in every network."""
    found = ood_failure.accuracies_and_confidence((0,), 3, 60, 0)
    assert min(np.subtract(found["accuracy, new"], found["accuracy, turned"])) >= 0.25


@pytest.mark.parametrize("d", [1, 2, 3])
def test_half_spaces_shatter_one_point_more_than_dimensions(d):
    """vc-dimension: with a bias, planes label d + 1 points in general position in all ways, and no d + 2 points."""
    rng = np.random.default_rng(0)
    for n, all_ways in ((d + 1, True), (d + 2, False)):
        for _ in range(6):
            rows = np.c_[rng.normal(size=(n, d)), np.ones(n)]
            separated = [nnls(np.vstack([(np.array(y)[:, None] * rows).T, np.ones(n)]), np.eye(d + 2)[-1])[1] > 1e-9
                         for y in product((-1.0, 1.0), repeat=n)]  # fmt: skip
            assert all(separated) == all_ways


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_half_spaces_have_covers_count_below_sauers_bound(d):
    """growth-function: Pi(m) = 2 sum_{i < d} binom(m - 1, i) <= sum_{i <= d} binom(m, i), the VC dimension is d."""
    counts = [2 * sum(comb(m - 1, i) for i in range(d)) for m in range(1, 15)]
    assert all(count <= sauer_bound(m, d) for m, count in enumerate(counts, 1))
    assert counts[d - 1] == 2**d == sauer_bound(d, d) and counts[d] < 2 ** (d + 1)


@pytest.mark.full
def test_small_networks_memorize_half_as_many_labels_as_weights_and_fewer_than_the_bound():
    """vc-dim-networks: W / 2 random labels are fitted without error, and W / 2 is below the bound."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 2))
    count = sum(p.numel() for p in net.parameters()) // 2
    x, y = torch.randn(count, 8), torch.randint(2, (count,))
    trained = gnomon.train(net, (x, y), steps=3000, optimizer=Adam(0.01)).model
    assert int((trained(x).argmax(1) == y).sum()) == count <= network_vc_dimension(net)


@pytest.mark.full
def test_margins_rank_true_half_random_and_random_labels_of_digits():
    """normalised-margin-spectral, data-dependent-hardness: medians fall for each seed; AUC >= 0.95. spectral-complexity: >= 1.5."""
    for seed in range(3):
        split, g = digits(200, 0, seed=seed), torch.Generator().manual_seed(seed)
        x, noise = split.x.flatten(1), torch.randint(10, (200,), generator=g)
        half, found, sizes = torch.where(torch.rand(200, generator=g) < 0.5, noise, split.y), [], []
        for y in (split.y, half, noise):
            torch.manual_seed(seed)
            start = nn.Sequential(nn.Linear(64, 200), nn.ReLU(), nn.Linear(200, 10))
            net = gnomon.train(start, (x, y), steps=300, optimizer=Adam(5e-3)).model
            margins = output_margins(net, (x, y), start=start)
            assert float(margins.values.min()) > 0  # no errors left
            found.append(margins.normalized)
            sizes.append(spectral_complexity(margins.layers))
        assert float(found[0].median()) > float(found[1].median()) > float(found[2].median())
        assert float((found[0][:, None] > found[2]).double().mean()) >= 0.95 and sizes[2] >= 1.5 * sizes[0]


@pytest.mark.full
def test_the_frobenius_bound_of_a_digits_network_is_below_the_compression_bound():
    """margin-bound-compression: frobenius < compression < spectral-1 < spectral-F < rows, below 100 for all five."""
    split = digits(600, 500, seed=0)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    net = gnomon.train(net, (split.x, split.y), steps=150, batch=100, optimizer=Adam(3e-3)).model
    found = generalization_bounds(net, (split.x, split.y), test=(split.x_test, split.y_test))
    order = ("frobenius", "compression", "spectral-1", "spectral-F", "rows")
    values = [float(found[name].value) for name in order]
    assert values == sorted(values) and values[1] > 1.1 * values[0] and values[2] > 1.2 * values[1]
    assert values[3] < 10 * values[1]  # spectral-F is less than ten times the compression bound


def test_the_looser_form_of_the_certificate_is_above_the_learned_one():
    """pac-bayes-learning: E_q l + sqrt((2 / n)(KL + ln(2 sqrt(n) / delta))) bounds what the learned certificate bounds."""
    x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0))
    found = certify(nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), epochs=3, draws=200)
    law, n = found.posterior, found.counted
    kl = sum(float(gaussian_kl(m.double(), law.stds[k].double(), law.prior_means[k].double(),
                               torch.as_tensor(law.prior_stds[k]).double().expand(m.shape))) for k, m in law.means.items())  # fmt: skip
    risk = float(found.stochastic.factors[0].value)
    loose, tight = (risk + sqrt(c / n * (kl + log(2 * sqrt(n) / 0.05))) for c in (2, 0.5))
    assert risk < float(found.stochastic.value) < loose and loose - risk == pytest.approx(2 * (tight - risk))


def test_the_logits_of_a_network_trained_on_smoothed_labels_have_the_predicted_gap():
    """label-smoothing: mean gap of trained logits = ln((1 - e + e/k) / (e/k)) within 5 % on separable data."""
    torch.manual_seed(0)
    y = torch.arange(90) % 3
    x = 3 * nn.functional.one_hot(y, 3).float() + 0.3 * torch.randn(90, 3)
    net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for _ in range(500):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y, label_smoothing=0.1).backward()
        optimizer.step()
    logits = net(x).detach()
    own = logits.gather(1, y[:, None])[:, 0]
    gap = float((own - (logits.sum(1) - own) / 2).mean())
    assert gap == pytest.approx(label_smoothing_gap(0.1, 3), rel=0.05)
    assert gap == pytest.approx(log((0.9 + 0.1 / 3) / (0.1 / 3)), rel=0.05)


def test_the_noise_of_test_labels_is_a_part_of_the_squared_bias():
    """bias-variance-classical: for fits that are the truth, bias^2 is the variance of the labels, variance is 0."""

    class Truth(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(()))

        def forward(self, x):
            return x[:, :1] + 0 * self.w

    g = torch.Generator().manual_seed(0)
    x = torch.randn(20_000, 1, generator=g)
    y = x[:, 0] + 0.5 * torch.randn(20_000, generator=g)
    found = bias_variance(lambda seed: Truth(), (x[:100], y[:100]), (x, y), draws=3, steps=1)
    assert found.bias == pytest.approx(0.25, rel=0.03) and found.variance == pytest.approx(0, abs=1e-9)


@pytest.mark.full
def test_cushions_of_a_trained_network_are_larger_than_those_of_a_random_one():
    """margin-bound-compression: layer cushions on digits are above those of random weights, but less than 3 times."""
    split, found = digits(600, 0, seed=0), []
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    for model in (net, gnomon.train(net, (split.x, split.y), steps=150, batch=100, optimizer=Adam(3e-3)).model):
        found.append(np.array(layer_noise_tolerance(model, split.x).layer))
    ratios = found[1] / found[0]
    assert np.all(ratios > 1) and ratios.max() < 3


@pytest.mark.full
def test_smoothed_networks_are_not_sure_enough_under_wrong_labels():
    """label-smoothing: with 20 % wrong labels the calibration error is larger with smoothing by 0.2 than without."""
    split, draw, errors = digits(400, 700, seed=0), torch.Generator().manual_seed(0), []
    y = torch.where(torch.rand(400, generator=draw) < 0.2, torch.randint(10, (400,), generator=draw), split.y)
    for smoothing in (0.0, 0.2):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
        optimizer = torch.optim.Adam(net.parameters(), 3e-3)
        for _ in range(300):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(split.x), y, label_smoothing=smoothing).backward()
            optimizer.step()
        told = calibration(net(split.x_test).detach().softmax(1), split.y_test)
        errors.append((told.error, told.gap))
    assert errors[1][0] > 2 * errors[0][0] and errors[1][1] < 0  # less sure than right


def test_digits_of_eight_by_eight_pixels_have_about_eight_dimensions():
    """data-manifold-hypothesis: d = (N - 1) / sum_i log(r_i2 / r_i1) of 600 digits is 7 to 9.5."""
    x = digits(600, 0, seed=0).x.flatten(1).double().numpy()
    apart = np.sort(cdist(x, x), 1)
    by_hand = (len(x) - 1) / np.log(apart[:, 2] / apart[:, 1]).sum()
    assert intrinsic_dimension(torch.from_numpy(x)) == pytest.approx(by_hand, rel=1e-6) and 7 < by_hand < 9.5


def test_the_calibration_error_is_the_mean_gap_of_confidence_and_accuracy():
    """ood-failure, label-smoothing: ECE = mean over bins of |confidence - share of right decisions|, without cancellation."""
    sure = torch.cat([torch.full((10,), 0.6), torch.full((10,), 0.9)]).double()
    labels = torch.cat([torch.ones(10), torch.zeros(10)]).long()  # the first ten decisions are wrong, the others right
    found = calibration(torch.stack([sure, 1 - sure], 1), labels)
    assert found.error == pytest.approx((0.6 + 0.1) / 2) and found.gap == pytest.approx(0.75 - 0.5)


def test_the_divergence_of_gaussians_by_sampling():
    """pac-bayes-gaussian-kl: mean of ln q - ln p over draws from q = sum ln(l / s) + (s^2 + m^2) / (2 l^2) - 1/2, to 1 %."""
    g = torch.Generator().manual_seed(0)
    m, s, prior = torch.randn(6, generator=g).double(), 0.2 + torch.rand(6, generator=g).double(), 0.7
    draws = m + s * torch.randn(200_000, 6, generator=g, dtype=torch.float64)
    logs = torch.distributions.Normal(m, s).log_prob(draws) - torch.distributions.Normal(0.0, prior).log_prob(draws)
    exact = gaussian_kl(m, s, torch.zeros(6).double(), torch.full((6,), prior).double())
    assert float(logs.sum(1).mean()) == pytest.approx(float(exact), rel=0.01)


def test_deviations_of_half_planes_stay_a_fifth_of_the_vc_bound_from_a_thousand_examples_on():
    """vc-inequality: 95 % quantile of sup |R_n - R| <= e / 5, 8 Pi(n) exp(-n e^2 / 32) = 0.05, for n = 10^3, 10^4, 10^5."""
    for n, repetitions in ((1000, 60), (10_000, 30), (100_000, 12)):
        e = (32 / n * log(8 * 2 * n / 0.05)) ** 0.5
        assert vc_inequality.predicted((n,))[0] == pytest.approx(e, rel=1e-6)
        assert vc_inequality.observed(sizes=(n,), repetitions=repetitions, seed=0)[0] <= e / 5


def test_risks_away_from_the_peak_are_within_fifteen_percent():
    """double-descent-model-wise: s^2 p / (n - p - 1) and r^2 (1 - n/p) + s^2 n / (p - n - 1), n = 40, |p / n - 1| >= 0.25."""
    sizes = (8, 20, 30, 54, 80, 160)
    found = double_descent_model_wise.risks(40, sizes, 200, 0, False).mean(0)
    exact = [0.5 * p / (39 - p) if p < 40 else 1 - 40 / p + 0.5 * 40 / (p - 41) for p in sizes]
    np.testing.assert_allclose(found, exact, rtol=0.15)


@pytest.mark.full
def test_trained_networks_on_digits_are_worst_when_they_just_fit_wrong_labels():
    """double-descent-model-wise: test error of 1 < 4 > 60 hidden units on 40 digits with a fifth of wrong labels, 6 of 8 runs."""
    rises, falls = 0, 0
    for seed in range(8):
        split = digits(40, 500, seed=seed)
        x, z = split.x.flatten(1), split.x_test.flatten(1)
        y, t = 2 * (split.y % 2).float() - 1, 2 * (split.y_test % 2).float() - 1
        y = torch.where(torch.rand(40, generator=torch.Generator().manual_seed(seed)) < 0.2, -y, y)
        errors = []
        for width in (1, 4, 60):
            torch.manual_seed(seed)
            w, v = torch.randn(6, 64, width) / 8, torch.randn(6, width, 1) / width**0.5
            weights = [w, torch.zeros(6, 1, width), v, torch.zeros(6, 1, 1)]
            optimizer = torch.optim.Adam([p.requires_grad_() for p in weights], 0.02)
            rule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 700)
            outputs = lambda a: ((a @ weights[0] + weights[1]).relu() @ weights[2] + weights[3])[..., 0]  # noqa: E731, B023
            for _ in range(700):
                optimizer.zero_grad()
                (outputs(x) - y).square().mean(1).sum().backward()
                optimizer.step()
                rule.step()
            errors.append(float((outputs(z) - t).square().mean().detach()))
        rises, falls = rises + (errors[1] > errors[0]), falls + (errors[2] < min(errors[:2]))
    assert rises >= 6 and falls >= 6
