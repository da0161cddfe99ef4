"""Kernels of wide networks inside scikit-learn's Gaussian processes, and the message where gpytorch is absent."""

import importlib.util

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from gnomon import limit
from gnomon.core import InputError, MissingExtraError
from gnomon.estimators import NetworkGPKernel, gpytorch_kernel
from gnomon.models import mlp
from gnomon.program import InitializationLaw

X = np.random.default_rng(0).standard_normal((12, 3))
Y = np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).standard_normal(12)


@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_the_kernel_is_the_limit_of_the_network(kind):
    kernel = NetworkGPKernel(kind, depth=2, weight_std=1.3, bias_std=0.2)
    exact = limit(mlp(3, width=1, depth=2), init=InitializationLaw(1.3, 0.2), parametrization="ntk")
    right = getattr(exact, kind)(torch.as_tensor(X)).numpy()
    assert_allclose(kernel(X), right, rtol=1e-12)
    assert_allclose(kernel.diag(X), right.diagonal(), rtol=1e-9)
    assert_allclose(kernel(X, X[:4]), right[:, :4], rtol=1e-9)


def test_the_gradient_of_the_evidence_is_that_of_differences_and_is_followed():
    kernel = NetworkGPKernel(depth=1, weight_std=1.0, bias_std=0.5) + WhiteKernel(0.1, (1e-9, 10.0))
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, Y)
    theta = model.kernel_.theta
    value, slope = model.log_marginal_likelihood(theta, eval_gradient=True)
    h = 1e-5
    for i in range(len(theta)):
        step = h * np.eye(len(theta))[i]
        up, down = model.log_marginal_likelihood(theta + step), model.log_marginal_likelihood(theta - step)
        assert slope[i] == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-6)
    fitted = GaussianProcessRegressor(clone(kernel)).fit(X, Y)
    assert fitted.log_marginal_likelihood_value_ > value


def test_fixed_numbers_have_no_gradient_and_bad_kinds_one_sentence():
    fixed = NetworkGPKernel(bias_std_bounds="fixed")
    assert fixed(X, eval_gradient=True)[1].shape == (12, 12, 1) and not fixed.is_stationary()
    with pytest.raises(InputError, match='kind must be "nngp" or "ntk"'):
        NetworkGPKernel("rbf")(X)


@pytest.mark.skipif(importlib.util.find_spec("gpytorch") is not None, reason="gpytorch is installed")
def test_an_absent_gpytorch_is_named():
    with pytest.raises(MissingExtraError, match="pip install gpytorch"):
        gpytorch_kernel()
