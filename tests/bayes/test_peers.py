"""ArviZ, gpytorch and laplace-torch, where these are installed: they take what is made here, and agree with it."""

import importlib.util
from dataclasses import replace
from math import exp

import pytest
import torch
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon.bayes import laplace, sample_posterior
from gnomon.estimators import NetworkGPKernel, gpytorch_kernel
from gnomon.training import Adam, train

pytestmark = pytest.mark.filterwarnings("ignore")


def installed(name):
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is not installed")


@installed("arviz")
def test_arviz_reads_draws_and_agrees_with_their_summary():
    import arviz

    draws = sample_posterior(lambda x: -x.square().sum() / 2, torch.zeros(2), chains=4, draws=400, warmup=100)
    given = draws.to_arviz()
    old = int(arviz.__version__.split(".")[0]) < 1
    told = arviz.summary(arviz.from_dict(**given) if old else arviz.from_dict(given), round_to=8)
    assert list(told.index) == ["x[0]", "x[1]"]
    assert_allclose(told["mean"], draws.mean, atol=1e-6)
    assert_allclose(told["r_hat"], draws.r_hat, atol=1e-6)
    named = replace(draws, names=("slope", "offset")).to_arviz()
    assert list(arviz.summary(arviz.from_dict(**named) if old else arviz.from_dict(named)).index) == ["slope", "offset"]


@installed("gpytorch")
@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_gpytorch_learns_with_the_kernel_of_a_wide_network(kind):
    import gpytorch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean, self.kernel = gpytorch.means.ZeroMean(), gpytorch_kernel(kind, depth=2)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    x = torch.linspace(-1, 1, 12, dtype=torch.float64)[:, None]
    y = (3 * x[:, 0]).sin()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.01
    model = Process(x, y, likelihood).double()
    assert_allclose(
        model.kernel(x).to_dense().detach(), NetworkGPKernel(kind, depth=2)(x.numpy()), rtol=1e-6
    )  # log w is float32
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    model.train()

    def value():
        return evidence(model(x), y) * len(x)

    model.zero_grad()
    value().backward()
    told, w = float(model.kernel.log_weight_std.grad), model.kernel.log_weight_std
    with torch.no_grad():
        ends = []
        for h in (1e-4, -2e-4):
            w += h
            ends.append(float(value()))
        w += 1e-4
    assert told == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-3)
    before, optimizer = float(value()), torch.optim.Adam(model.kernel.parameters(), 0.1)
    for _ in range(20):
        optimizer.zero_grad()
        (-value()).backward()
        optimizer.step()
    assert float(value()) > before


@installed("laplace")
@pytest.mark.parametrize("classes", [False, True])
def test_laplace_torch_picks_the_same_precision_of_the_prior(classes):
    """Within 10 %; diabetes and breast cancer, 300 examples, ten hidden units, the full Gauss-Newton matrix."""
    from laplace import Laplace

    x, y = (load_breast_cancer if classes else load_diabetes)(return_X_y=True)
    x = torch.as_tensor((x - x.mean(0)) / x.std(0)).float()[:300]
    y = torch.as_tensor(y)[:300] if classes else torch.as_tensor((y - y.mean()) / y.std()).float()[:300, None]
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(x.shape[1], 10), nn.Tanh(), nn.Linear(10, 2 if classes else 1))
    net = train(net, (x, y), optimizer=Adam(1e-2, decay=1e-2), steps=300).model
    noise = 1.0 if classes else 0.7
    theirs = Laplace(net, "classification" if classes else "regression", subset_of_weights="all",
                     hessian_structure="full", **({} if classes else {"sigma_noise": noise}))  # fmt: skip
    theirs.fit(DataLoader(TensorDataset(x, y), batch_size=100))
    search = minimize_scalar(lambda t: -float(theirs.log_marginal_likelihood(torch.tensor([exp(t)]))), bounds=(-10, 10),
                             method="bounded")  # fmt: skip
    assert laplace(net, (x, y), noise=noise).prior_precision == pytest.approx(exp(search.x), rel=0.1)
