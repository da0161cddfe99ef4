"""Mixtures of Gaussians against scipy's densities, finite differences and quadrature."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from gnomon.core import InputError
from gnomon.data import js_divergence, mixture, moons, optimal_discriminator, ring

COVARIANCES = [[[1.0, 0.3], [0.3, 0.5]], [[0.4, -0.1], [-0.1, 0.9]]]
MEANS, WEIGHTS = [[-1.0, 0.5], [1.5, 0.0]], [0.3, 0.7]
P = mixture(MEANS, covariances=COVARIANCES, weights=WEIGHTS)
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
    p, scale, std, x = mixture([[-1.0], [2.0]], std=0.5, weights=[1, 3]), 0.7, 0.6, 0.4

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
    p, q = mixture([[0.0]]), mixture([[1.0]], std=0.7)

    def integrand(x):
        a, b = norm.pdf(x), norm.pdf(x, 1, 0.7)
        return (a * np.log(2 * a / (a + b)) + b * np.log(2 * b / (a + b))) / 2

    assert js_divergence(p, q) == pytest.approx(quad(integrand, -12, 12)[0], rel=1e-9)
    assert js_divergence(ring(4), ring(4)) == pytest.approx(0.0, abs=1e-12)
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
        mixture([[0.0, 0.0]], covariances=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InputError, match="positive share"):
        mixture([[0.0]], weights=[-1.0])
    with pytest.raises(InputError, match="covariances have shape"):
        mixture([[0.0]], covariances=[[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="points in 2 dimensions"):
        P.log_prob(torch.zeros(3))
    with pytest.raises(InputError, match="one or two dimensions"):
        js_divergence(mixture([[0.0] * 3]), mixture([[0.0] * 3]))
    with pytest.raises(InputError, match="a table"):
        mixture([1.0, 2.0])
