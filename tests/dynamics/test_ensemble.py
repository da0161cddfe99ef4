"""Ensembles against thousands of really trained members, and posteriors against conditioning by hand."""

import json
from math import inf

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError
from gnomon.dynamics import gp_posterior, kernel_ensemble
from gnomon.training import SGD
from tests.dynamics.linear import model
from tests.oracles.training import conditioned, steps

MEMBERS = 20000


@pytest.mark.parametrize("count, alpha", [(0, 0.0), (5, 0.0), (60, 0.2)])
def test_mean_and_covariance_are_those_of_trained_members(count, alpha):
    case, rate = model(n=4, m=3, p=6, k=1), 0.1
    spread = np.random.default_rng(1).uniform(0.3, 1.5, size=6)  # of the parameters: NNGP and NTK differ
    theta0 = np.random.default_rng(2).normal(size=(6, MEMBERS)) * spread[:, None]
    # one output for each member; outputs do not interact
    path = steps(case.phi, np.tile(case.y, MEMBERS), theta0, rate, count, alpha=alpha)[-1]
    outputs = case.phi_test @ path
    prior = np.diag(spread**2)
    result = kernel_ensemble(
        case.ntk, case.phi @ prior @ case.phi.T, case.y[:, 0], ntk_test=case.test,
        nngp_test=case.phi_test @ prior @ case.phi.T, nngp_test_test=case.phi_test @ prior @ case.phi_test.T,
        times=[rate * count], optimizer=SGD(rate), penalty=alpha,
    )  # fmt: skip
    sigma = np.sqrt(result.variance[0].numpy())
    z = (outputs.mean(1) - result.mean[0].numpy()) / sigma * MEMBERS**0.5
    assert np.abs(z).max() < 4.5  # 1e-5 for each of 3 points
    covariance = result.covariance[0].numpy()
    # the variance of a sample covariance of Gaussians is (C_ii C_jj + C_ij^2) / members
    error = np.sqrt((np.outer(sigma**2, sigma**2) + covariance**2) / MEMBERS)
    assert np.abs((np.cov(outputs) - covariance) / error).max() < 4.5


def test_variances_alone_are_the_diagonal():
    case = model(n=4, m=3)
    nngp = 2 * case.ntk + np.eye(4)
    own = 2 * case.phi_test @ case.phi_test.T + np.eye(3)
    options = dict(ntk_test=case.test, nngp_test=2 * case.test, times=[0.5, 2.0])
    full = kernel_ensemble(case.ntk, nngp, case.y, nngp_test_test=own, **options)
    thin = kernel_ensemble(case.ntk, nngp, case.y, nngp_test_test=np.diag(own), **options)
    assert thin.covariance is None
    assert_allclose(thin.variance, full.variance, rtol=1e-12)
    assert_allclose(thin.mean, full.mean, rtol=1e-12)
    assert full.mean.shape == (2, 3, 2)


def test_members_agree_on_training_points_in_the_end_and_spread_by_the_prior_at_the_start():
    case = model(n=4)
    nngp = case.ntk @ case.ntk / 10
    result = kernel_ensemble(case.ntk, nngp, case.y, times=[0.0, inf])
    assert_allclose(result.covariance[0], nngp, atol=1e-12)
    assert_allclose(result.mean[1], case.y, atol=1e-10)
    assert float(result.std[1].max()) < 1e-6  # the square root of rounding
    assert json.loads(json.dumps(result.to_dict()))["times"] == [0.0, "inf"]
    assert "and by " in result.verdict


def test_training_the_last_layer_alone_samples_the_posterior():
    case = model(n=4, m=3)
    own = case.phi_test @ case.phi_test.T
    trained = kernel_ensemble(case.ntk, case.ntk, case.y, ntk_test=case.test, nngp_test=case.test, nngp_test_test=own)
    bayes = gp_posterior(case.ntk, case.y, nngp_test=case.test, nngp_test_test=own)
    assert bayes.jitter == 0
    assert_allclose(trained.mean[0], bayes.mean, atol=1e-9)
    assert_allclose(trained.covariance[0], bayes.covariance, atol=1e-9)
    # training all layers does not: another kernel, another spread
    other = kernel_ensemble(
        case.ntk + np.eye(4), case.ntk, case.y, ntk_test=case.test, nngp_test=case.test, nngp_test_test=own
    )
    assert float((other.covariance[0] - bayes.covariance).abs().max()) > 0.01


@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_the_posterior_is_the_conditioned_gaussian(noise):
    case = model(n=5, m=3, p=20)
    every = np.vstack([case.phi, case.phi_test])
    joint = every @ every.T
    mean, covariance = conditioned(joint, case.y, noise)
    result = gp_posterior(joint[:5, :5], case.y, nngp_test=joint[5:, :5], nngp_test_test=joint[5:, 5:], noise=noise)
    assert_allclose(result.mean, mean, atol=1e-10)
    assert_allclose(result.covariance, covariance, atol=1e-10)
    assert_allclose(result.std**2, np.diag(covariance), rtol=1e-10)
    noisy = joint[:5, :5] + noise * np.eye(5)
    sign, logdet = np.linalg.slogdet(2 * np.pi * noisy)
    assert_allclose(result.log_evidence, -(case.y * np.linalg.solve(noisy, case.y)).sum() / 2 - logdet, rtol=1e-11)


def test_kernels_of_different_points_are_refused():
    one = torch.eye(2)
    with pytest.raises(InputError, match="a prior on all points"):
        kernel_ensemble(one, one, torch.ones(2), ntk_test=torch.ones(1, 2))
    with pytest.raises(InputError, match="a variance is"):
        gp_posterior(one, torch.ones(2), nngp_test=3 * one, nngp_test_test=one)
    with pytest.raises(
        InputError, match=r"nngp_test_test must be of shape \(2, 2\) or \(2,\), but it has shape \(3,\)"
    ):
        gp_posterior(one, torch.ones(2), nngp_test=one, nngp_test_test=torch.ones(3))


def test_the_verdict_tells_root_mean_squares():
    result = kernel_ensemble(torch.eye(2), torch.diag(torch.tensor([1.0, 49.0])), torch.zeros(2), times=[0.0, inf])
    assert "the outputs spread by 5 at time 0 and by 0 at time inf" in result.verdict  # sqrt((1 + 49) / 2)
