"""Mixtures of Gaussians against scipy's densities, finite differences and quadrature."""

import sys

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from gnomon.core import InputError
from gnomon.data import gaussian_mixture, js_divergence, moons, optimal_discriminator, ring_of_gaussians

COVARIANCES = [[[1.0, 0.3], [0.3, 0.5]], [[0.4, -0.1], [-0.1, 0.9]]]
MEANS, WEIGHTS = [[-1.0, 0.5], [1.5, 0.0]], [0.3, 0.7]
P = gaussian_mixture(MEANS, covariances=COVARIANCES, weights=WEIGHTS)
X = torch.randn(7, 2, generator=torch.Generator().manual_seed(0)).double()


def scipys(x, scale=1.0, noise=0.0):
    parts = zip(WEIGHTS, MEANS, COVARIANCES, strict=True)
    return sum(
        w * multivariate_normal(scale * np.array(m), scale**2 * np.array(c) + noise**2 * np.eye(2)).pdf(x)
        for w, m, c in parts
    )


def test_density_and_noised_density_are_scipys():
    assert_allclose(P.log_prob(X).exp(), scipys(X), rtol=1e-12)
    assert_allclose(P.noised(0.6, 0.8).log_prob(X).exp(), scipys(X, 0.6, 0.8), rtol=1e-12)


def test_the_score_is_the_gradient_and_the_posterior_bayes_rule():
    x = X.clone().requires_grad_()
    (slope,) = torch.autograd.grad(P.log_prob(x).sum(), x)
    assert_allclose(P.score(X), slope, atol=1e-12)
    first = WEIGHTS[0] * multivariate_normal(MEANS[0], COVARIANCES[0]).pdf(X)
    assert_allclose(P.posterior(X)[:, 0], first / scipys(X), rtol=1e-12)


def test_the_denoised_mean_is_the_integral_over_the_posterior():
    p, scale, std, x = gaussian_mixture([[-1.0], [2.0]], std=0.5, weights=[1, 3]), 0.7, 0.6, 0.4

    def joint(z):
        return (0.25 * norm.pdf(z, -1, 0.5) + 0.75 * norm.pdf(z, 2, 0.5)) * norm.pdf(x, scale * z, std)

    exact = quad(lambda z: z * joint(z), -8, 8)[0] / quad(joint, -8, 8)[0]
    assert float(p.denoised(torch.tensor([[x]], dtype=torch.float64), scale, std)) == pytest.approx(exact, rel=1e-8)


def test_samples_have_the_moments_and_depend_on_the_seed():
    x = P.sample(20_000, seed=3)
    assert_allclose(x.mean(0), P.mean, atol=5 * float(P.covariance.max()) ** 0.5 / 20_000**0.5)
    assert_allclose(torch.cov(x.T), P.covariance, atol=0.06)  # about five standard errors of a fourth moment
    assert torch.equal(P.sample(4, seed=1), P.sample(4, seed=1)) and not torch.equal(P.sample(4), P.sample(4, seed=1))


def test_the_js_divergence_is_that_of_scipys_quadrature_and_the_discriminator_bayes_rule():
    p, q = gaussian_mixture([[0.0]]), gaussian_mixture([[1.0]], std=0.7)

    def integrand(x):
        a, b = norm.pdf(x), norm.pdf(x, 1, 0.7)
        return (a * np.log(2 * a / (a + b)) + b * np.log(2 * b / (a + b))) / 2

    assert js_divergence(p, q) == pytest.approx(quad(integrand, -12, 12)[0], rel=1e-9)
    assert js_divergence(ring_of_gaussians(4), ring_of_gaussians(4)) == pytest.approx(0.0, abs=1e-12)
    x = torch.linspace(-2, 2, 5).double()[:, None]
    a, b = norm.pdf(x[:, 0]), norm.pdf(x[:, 0], 1, 0.7)
    assert_allclose(optimal_discriminator(p, q, x), a / (a + b), rtol=1e-12)


def test_moons_are_two_half_circles():
    x = moons(500, noise=0.0, seed=2) + torch.tensor([0.5, 0.25])
    first = (x.norm(dim=1) - 1).abs() < 1e-9
    second = ((x - torch.tensor([1.0, 0.5])).norm(dim=1) - 1).abs() < 1e-9
    assert bool((first | second).all()) and 180 < int(first.sum()) < 320  # binomial, five standard deviations


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="not positive definite"):
        gaussian_mixture([[0.0, 0.0]], covariances=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InputError, match="positive share"):
        gaussian_mixture([[0.0]], weights=[-1.0])
    with pytest.raises(InputError, match="covariances have shape"):
        gaussian_mixture([[0.0]], covariances=[[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="points in 2 dimensions"):
        P.log_prob(torch.zeros(3))
    with pytest.raises(InputError, match="one or two dimensions"):
        js_divergence(gaussian_mixture([[0.0] * 3]), gaussian_mixture([[0.0] * 3]))
    with pytest.raises(InputError, match="a table"):
        gaussian_mixture([1.0, 2.0])


def test_the_js_divergence_of_narrow_and_wide_mixtures_is_an_integral_over_few_points(monkeypatch):
    p, q = gaussian_mixture([[-0.4], [1.1]], std=0.2, weights=[1, 3]), gaussian_mixture([[0.3]], std=0.15)

    def integrand(x):
        a, b = norm.pdf(x, -0.4, 0.2) / 4 + 3 * norm.pdf(x, 1.1, 0.2) / 4, norm.pdf(x, 0.3, 0.15)
        return (a * np.log(2 * a / (a + b)) + b * np.log(2 * b / (a + b))) / 2

    exact = quad(integrand, -2.0, 2.9, points=[-0.4, 0.3, 1.1], epsabs=1e-11, limit=200)[0]
    assert js_divergence(p, q, points=60) == pytest.approx(exact, rel=2e-6)  # nine deviations on both sides
    assert js_divergence(q, p) == pytest.approx(exact, rel=1e-9)
    monkeypatch.setattr(sys.modules[gaussian_mixture.__module__], "MAX_NUMBERS_PER_TILE", 50)
    assert js_divergence(p, q) == pytest.approx(exact, rel=1e-9)  # the sum over many parts of the grid


def test_the_js_divergence_in_the_plane_is_the_sum_over_a_grid_of_scipys_densities():
    q = gaussian_mixture([[0.3, -1.0]], covariances=[[0.3, 0.1], [0.1, 0.6]])
    x, y = np.linspace(-9, 9, 301), np.linspace(-8, 8, 251)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), -1)
    a, b = scipys(grid), multivariate_normal([0.3, -1.0], [[0.3, 0.1], [0.1, 0.6]]).pdf(grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(a > 0, a * np.log(2 * a / (a + b)), 0) + np.where(b > 0, b * np.log(2 * b / (a + b)), 0)
    exact = parts.sum() / 2 * (18 / 300) * (16 / 250)
    assert js_divergence(P, q, points=150) == pytest.approx(exact, rel=1e-6)


def test_a_ring_has_its_means_on_the_circle_and_one_width():
    p = ring_of_gaussians(3, radius=1.5, std=0.4)
    assert_allclose(p.means, [[1.5, 0], [-0.75, 0.75 * 3**0.5], [-0.75, -0.75 * 3**0.5]], atol=1e-12)
    assert_allclose(p.covariances, np.broadcast_to(0.16 * np.eye(2), (3, 2, 2)))
    assert_allclose(p.weights, [1 / 3] * 3)
    usual = ring_of_gaussians()
    assert usual.means.shape == (8, 2) and usual.means[0].tolist() == [2.0, 0.0]
    assert_allclose(usual.covariances[0].diagonal(), [0.04] * 2)


def test_moons_are_drawn_from_their_generator_angle_first_and_noise_last():
    draw = torch.Generator().manual_seed(9)
    t = np.pi * torch.rand(40, generator=draw, dtype=torch.float64)
    upper = torch.rand(40, generator=draw, dtype=torch.float64) < 0.5
    noise = torch.randn(40, 2, generator=draw, dtype=torch.float64)
    x = torch.where(upper, t.cos() - 0.5, 0.5 - t.cos())
    y = torch.where(upper, t.sin() - 0.25, 0.25 - t.sin())
    assert_allclose(moons(40, noise=0.3, seed=9), torch.stack([x, y], 1) + 0.3 * noise, atol=1e-14)
    assert_allclose(moons(40, seed=9), torch.stack([x, y], 1) + 0.1 * noise, atol=1e-14)
    with pytest.raises(InputError, match="noise"):
        moons(3, noise=-0.1)
