"""Clauses of the scope on double descent, memorization, bounds and margins that no claim measures."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch import nn

import gnomon
from gnomon.atlas.claims.architecture import weight_sharing_efficiency
from gnomon.atlas.claims.generalization import (
    flatness_generalisation_link,
    overfitting_yet_useful,
    polynomial_coefficient_blowup,
    vc_inequality,
)
from gnomon.bounds import certify, generalization_bounds, output_margins
from gnomon.bounds.double_descent import isotropic_risk
from gnomon.data import digits
from gnomon.decisions.temperature import distillation_loss
from gnomon.training import Adam

POLYNOMIAL = [0.35, 232.37, -5321.83, 48568.31, -231639.31, 640042.31, -1061800.62, 1042400.30, -557683.07, 125201.45]


def auc(a, b):
    """The probability that an entry of a is larger than one of b."""
    return float((a[:, None] > b).double().mean())


def test_all_ten_coefficients_of_the_polynomial_through_ten_points():
    """polynomial-coefficient-blowup: the ten coefficients of degree 9 to 1e-6, or to their two decimals."""
    a = np.vander(polynomial_coefficient_blowup.INPUTS, 10, increasing=True)
    w = np.linalg.solve(a, polynomial_coefficient_blowup.LABELS)
    np.testing.assert_allclose(w, POLYNOMIAL, rtol=1e-6, atol=5e-3)


def test_the_risk_of_least_squares_tends_to_its_asymptotic_form():
    """double-descent-model-wise: s^2 c / (1 - c) for c = p / n < 1, r^2 (1 - 1/c) + s^2 / (c - 1) for c > 1; peak at 1."""
    n, noise, signal = 10**5, 0.5, 2.0
    for c in (0.3, 0.8):
        assert isotropic_risk(n, int(c * n), noise=noise, signal=signal) == pytest.approx(noise * c / (1 - c), rel=1e-3)
    for c in (1.25, 4.0):
        limit = signal * (1 - 1 / c) + noise / (c - 1)
        assert isotropic_risk(n, int(c * n), noise=noise, signal=signal) == pytest.approx(limit, rel=1e-3)
    risks = [isotropic_risk(100, p, noise=noise, signal=signal) for p in (80, 95, 105, 125)]
    assert risks[1] > 2 * risks[0] and risks[2] > 2 * risks[3]


def test_measured_deviations_are_five_times_below_the_vc_bound():
    """vc-inequality: 95 % quantile of sup |R_n - R| <= e / 5."""
    found = vc_inequality.observed(sizes=(10_000,), repetitions=40, seed=0)
    assert 5 * found[0] <= vc_inequality.predicted((10_000,))[0]


def test_the_least_training_risk_is_below_the_least_true_risk_on_average():
    """risk-decomposition: E[min R_n - min R] <= 0, the first term of the decomposition."""
    rng = np.random.default_rng(0)
    risk = rng.uniform(0.1, 0.6, 200)
    empirical = rng.binomial(100, risk, size=(500, 200)) / 100
    gaps = empirical.min(1) - risk.min()
    assert gaps.mean() < -3 * gaps.std() / 500**0.5


@pytest.mark.full
def test_a_wide_network_fits_random_labels_of_500_digits():
    """random-label-fitting: no training error, accuracy 0.1 +- 0.03 on test, Rad >= 0.95; -training-time: 1 to 20 times."""
    split, steps, rad = digits(500, 1000, seed=0), [], []
    x, z = split.x.flatten(1), split.x_test.flatten(1)
    g = torch.Generator().manual_seed(0)
    for kind in ("true", "random", "signs"):
        y = {"true": split.y, "random": torch.randint(10, (500,), generator=g)}.get(
            kind, torch.randint(2, (500,), generator=g)
        )
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10))
        optimizer = torch.optim.Adam(net.parameters(), 5e-3)
        for step in range(400):  # noqa: B007
            logits = net(x)
            if bool((logits.argmax(1) == y).all()):
                break
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, y).backward()
            optimizer.step()
        steps.append(step)
        rad.append(2 * float((logits.argmax(1) == y).double().mean()) - 1)
        if kind == "random":
            assert abs(float((net(z).argmax(1) == split.y_test).double().mean()) - 0.1) <= 0.03
    assert min(rad) >= 0.95 and 1 <= steps[1] / steps[0] <= 20


@pytest.mark.full
def test_shuffled_pixels_cost_a_convolutional_network_a_point_and_a_dense_one_nothing():
    """random-pixel-fitting: test accuracy of the CNN falls by at least 1 point; that of the MLP stays within 1."""
    plain, mixed = (weight_sharing_efficiency.accuracies(m, 300, 150, 6, 0) for m in (False, True))
    assert plain["cnn"].mean() - mixed["cnn"].mean() >= 0.01
    assert abs(plain["mlp"].mean() - mixed["mlp"].mean()) <= 2.5 * np.std(plain["mlp"] - mixed["mlp"]) / 6**0.5 + 0.01


@pytest.mark.full
def test_margins_rank_true_half_random_and_random_labels():
    """normalised-margin-spectral, data-dependent-hardness: AUC >= 0.95 of true over random; medians fall with noise."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(200, 10, generator=g)
    true, noise = (x[:, 0] > 0).long(), torch.randint(2, (200,), generator=g)
    half = torch.where(torch.rand(200, generator=g) < 0.5, noise, true)
    normalized, plain = [], []
    for y in (true, half, noise):
        torch.manual_seed(0)
        start = nn.Sequential(nn.Linear(10, 100), nn.ReLU(), nn.Linear(100, 2))
        net = gnomon.train(start, (x, y), steps=400, optimizer=Adam(0.01)).model
        found = output_margins(net, (x, y), start=start)
        assert float(found.values.min()) > 0  # no errors left
        normalized.append(found.normalized)
        plain.append(found.values)
    medians = [float(m.median()) for m in normalized]
    assert medians[0] > medians[1] > medians[2] and auc(normalized[0], normalized[2]) >= 0.95
    assert auc(plain[0], plain[2]) < 0.95


@pytest.mark.full
def test_bounds_of_a_digits_network_exceed_the_gap_and_the_compression_bound_is_the_smaller():
    """margin-bound-*: every bound exceeds the measured gap; compression < spectral-F; spectral-F < Frobenius at low rank."""
    split = digits(600, 500, seed=0)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    net = gnomon.train(net, (split.x, split.y), steps=150, batch=100, optimizer=Adam(3e-3)).model
    found = generalization_bounds(net, (split.x, split.y), test=(split.x_test, split.y_test))
    names = ("rows", "frobenius", "spectral-1", "spectral-F", "compression")
    assert min(float(found[name].value) for name in names) > float(found.gap.value) > 0
    assert float(found["compression"].value) < float(found["spectral-F"].value)
    low = nn.Sequential(
        nn.Linear(4, 4, bias=False), *(m for _ in range(7) for m in (nn.ReLU(), nn.Linear(4, 4, bias=False)))
    )
    with torch.no_grad():
        for layer in low[::2]:  # stable rank 1.27, so that a product of eight Frobenius norms is the larger
            layer.weight.copy_(torch.diag(torch.tensor([1.0, 0.3, 0.3, 0.3])))
    x = torch.randn(60, 4).abs()
    bounds = generalization_bounds(low, (x, low(x).argmax(1)))
    ratio = float(bounds["spectral-F"].value) / float(bounds["frobenius"].value)
    assert ratio == pytest.approx((8 * 4 * 1.27 / 1.27**8) ** 0.5, rel=1e-3)


@pytest.mark.full
def test_a_certificate_of_even_and_odd_digits_is_not_vacuous():
    """pac-bayes-learning: stochastic test error <= learned bound <= 0.5 for a small network on even and odd digits."""
    split = digits(1000, 500, seed=0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
    found = certify(net, (split.x, split.y % 2), test=(split.x_test, split.y_test % 2), epochs=15, draws=200).stochastic
    assert float(found.measured.value) <= float(found.value) <= 0.5


def test_the_gradient_of_distillation_at_temperature_100_is_that_of_logits():
    """distillation-temperature: (softmax(G/T) - softmax(F/T)) / T to 1e-7; (G - F) / (k T^2) to 2 % at T = 100."""
    f, g = torch.randn(2, 1, 10, generator=torch.Generator().manual_seed(0)).double()
    f, g = f - f.mean(), (g - g.mean()).requires_grad_()
    for t in (2.0, 100.0):
        (slope,) = torch.autograd.grad(distillation_loss(g, f, t), g)
        torch.testing.assert_close(slope, (((g / t).softmax(1) - (f / t).softmax(1)) / t).detach(), rtol=0, atol=1e-12)
    limit = (g - f).detach() / (10 * 100**2)
    assert float((slope - limit).norm() / limit.norm()) <= 0.02


def test_flat_minima_bear_more_noise():
    """flatness-generalisation-link: rank correlation of the noise radius with -l_max at least 0.5 over 20 minima."""
    radii = [flatness_generalisation_link.radius(1.0, 12, 0.01, 3, seed) for seed in range(20)]
    curvatures = [np.linalg.eigvalsh(flatness_generalisation_link.problem(12, seed))[-1] for seed in range(20)]
    assert spearmanr(radii, curvatures)[0] <= -0.5


@pytest.mark.full
def test_learned_features_lead_by_five_points_on_other_classes():
    """overfitting-yet-useful: errors of linear probes on classes 5 to 9: random - learned >= 0.05, training error 0."""
    found = overfitting_yet_useful.errors_of_networks(False, 64, 300, 6, 0)
    assert max(found["training"]) == 0 and np.mean(found["random"]) - np.mean(found["learned"]) >= 0.05
