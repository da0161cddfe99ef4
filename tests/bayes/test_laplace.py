"""Laplace's approximation: the evidence against its integral, ranks, and what does not fit."""

from dataclasses import replace
from importlib import import_module
from math import exp, log, pi

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from torch import nn

from gnomon import train
from gnomon.bayes import deep_ensemble, laplace, module_posterior, posterior_predictive
from gnomon.bayes.linearized import linearized_outputs
from gnomon.core import BudgetError
from gnomon.training import Adam

module = import_module("gnomon.bayes.laplace")

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(7, 3, generator=G).double(), torch.randn(7, 2, generator=G).double()


def trained(x=X, y=Y, noise=0.6, precision=2.5):
    """A linear network at its most probable weights under the prior."""
    net = nn.Linear(x.shape[1], y.shape[1], bias=False).double()
    inner = x.T @ x / noise**2 + precision * torch.eye(x.shape[1])
    with torch.no_grad():
        net.weight.copy_(torch.linalg.solve(inner, x.T @ y / noise**2).T)
    return net


@pytest.mark.parametrize("structure", ["full", "low rank"])
def test_the_evidence_of_a_linear_network_is_the_density_of_its_targets(structure):
    """y ~ N(0, x x^T / precision + noise^2) for each output; Laplace is exact here."""
    found = laplace(trained(), (X, Y), prior_precision=2.5, noise=0.6, structure=structure)
    covariance = (X @ X.T / 2.5).numpy() + 0.36 * np.eye(7)
    exact = sum(multivariate_normal(np.zeros(7), covariance).logpdf(column) for column in Y.T.numpy())
    assert found.log_evidence == pytest.approx(exact, rel=1e-9)
    values = np.linalg.eigvalsh((X.T @ X).numpy()) / 0.36
    assert found.effective_parameters == pytest.approx(2 * (values / (values + 2.5)).sum())
    assert found.examples == 7


def test_the_chosen_precision_has_the_largest_evidence():
    net = trained()
    found = laplace(net, (X, Y), noise=0.6)
    weights, values = net.weight.detach().numpy(), np.linalg.eigvalsh((X.T @ X).numpy()) / 0.36
    loss = float((net(X) - Y).detach().square().sum()) / 2 / 0.36 + 7 * log(2 * pi * 0.36)

    def evidence(t):
        return -loss - exp(t) / 2 * (weights**2).sum() - np.log1p(values / exp(t)).sum()

    best = minimize_scalar(lambda t: -evidence(t), bounds=(-5, 5), method="bounded", options={"xatol": 1e-9})
    assert found.prior_precision == pytest.approx(exp(best.x), rel=1e-5)
    assert found.log_evidence == pytest.approx(evidence(best.x))


def test_a_low_rank_keeps_the_largest_eigenvalues():
    x = torch.randn(4, 9, generator=torch.Generator().manual_seed(1)).double()
    net = nn.Linear(9, 1, bias=False).double()
    every = np.linalg.eigvalsh((x @ x.T).numpy())
    found = laplace(net, (x, x[:, 0]), prior_precision=1.0, structure="low rank", rank=2)
    np.testing.assert_allclose(found.eigenvalues, every[-2:])
    basis = np.linalg.svd(x.numpy())[2]
    exact = (basis[:2].T ** 2 / (every[:-3:-1] + 1)).sum(1) + 1 - (basis[:2] ** 2).sum(0)
    np.testing.assert_allclose(found.variance(), exact)
    twice = torch.cat([x, x])  # eight rows of rank four
    again = laplace(net, (twice, twice[:, 0]), prior_precision=1.0, structure="low rank")
    np.testing.assert_allclose(again.eigenvalues, 2 * every)


def test_the_loss_is_a_mean_over_all_batches(monkeypatch):
    whole = laplace(trained(), (X, Y), prior_precision=2.5, noise=0.6).log_evidence
    monkeypatch.setattr(module, "BATCH_SIZE", 3)  # batches of 3, 3 and 1
    assert laplace(trained(), (X, Y), prior_precision=2.5, noise=0.6).log_evidence == pytest.approx(whole)


@pytest.mark.parametrize(("free", "refused"), [(1345, False), (1343, True)])
def test_rows_that_do_not_fit_into_half_of_the_memory_are_refused(monkeypatch, free, refused):
    """Two tables of 7 * 2 rows and 3 * 2 parameters take 2 * 8 * 84 = 1344 bytes."""
    monkeypatch.setattr(module, "free_bytes", lambda: free / module.SHARE_OF_FREE_MEMORY)
    call = lambda: laplace(trained(), (X, Y), prior_precision=1.0, structure="low rank")  # noqa: E731
    if refused:
        with pytest.raises(BudgetError, match="14 rows of 6 parameters"):
            call()
    else:
        assert len(call().eigenvalues) == 6


@pytest.mark.parametrize(("free", "refused"), [(1441, False), (1439, True)])
def test_draws_that_do_not_fit_into_half_of_the_memory_are_refused(monkeypatch, free, refused):
    """Three tables of 10 draws of 6 parameters take 3 * 8 * 60 = 1440 bytes."""
    found = laplace(trained(), (X, Y), prior_precision=1.0)
    monkeypatch.setattr(module, "free_bytes", lambda: free / module.SHARE_OF_FREE_MEMORY)
    if refused:
        with pytest.raises(BudgetError, match="10 draws of 6 parameters"):
            found.sample(10)
    else:
        assert found.sample(10).values.shape == (1, 10, 6)


@pytest.mark.parametrize(("p", "refused"), [(20_000, False), (20_001, True)])
def test_a_full_matrix_of_more_than_twenty_thousand_parameters_is_refused(p, refused):
    net, x = nn.Linear(p, 1, bias=False), torch.ones(1, p)
    if refused:
        with pytest.raises(BudgetError, match=r"20,001 parameters need 3\.2 GB"):
            laplace(net, (x, x[:, 0]), prior_precision=1.0)
    else:
        assert laplace(net, (x, x[:, 0]), prior_precision=1.0).eigenvalues.tolist() == pytest.approx([p])


def test_an_ensemble_has_five_members_with_seeds_of_their_own_and_reports_its_progress():
    x, seen = torch.linspace(-1, 1, 8)[:, None], []
    found = deep_ensemble(
        lambda: nn.Linear(1, 1), (x, x[:, 0]), steps=2, seed=3, noise=0.3, progress=lambda *a: seen.append(a)
    )
    assert len(found.models) == 5 and seen[0] == (1, 10) and seen[2] == (3, 10) and seen[-1] == (10, 10)
    outputs = torch.stack([model(x) for model in found.models]).double().detach()
    told = found.predictive(x)
    assert torch.allclose(told.mean, outputs.mean(0))
    assert torch.allclose(told.epistemic, outputs.var(0).sum(1)) and torch.allclose(
        told.aleatoric, torch.full((8,), 0.09).double()
    )
    alone = deep_ensemble(lambda: nn.Linear(1, 1), (x, x[:, 0]), steps=2, seed=4, members=2)
    assert torch.equal(alone.models[0].weight, found.models[1].weight)


def wave(classes=False):
    """A small trained network, its posterior, and inputs at and beyond its data."""
    x = torch.linspace(-2, 1.6, 24)[:, None].double()
    y = (x[:, 0] > 0).long() if classes else torch.sin(2.5 * x[:, 0])
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2 if classes else 1)).double()
    net = train(net, (x, y), optimizer=Adam(0.02), steps=300).model
    noise = 1.0 if classes else 0.2
    return net, module_posterior(net, (x, y), noise=noise), laplace(net, (x, y), noise=noise, prior_precision=0.5), x


def test_draws_of_laplace_predict_with_the_linearized_network():
    """The variance is J (G + d I)^-1 J^T in closed form; in the network itself it is ten times as large at the data."""
    net, posterior, found, x = wave()
    rows = torch.stack([torch.cat([g.flatten() for g in torch.autograd.grad(net(row).sum(), net.parameters())])
                        for row in x[:, None]])  # fmt: skip
    covariance = (found.vectors / (found.eigenvalues + 0.5)) @ found.vectors.T
    exact = ((rows @ covariance) * rows).sum(1)
    draws = found.sample(2000)
    told = posterior_predictive(posterior, draws, x, most=2000)
    np.testing.assert_allclose(told.epistemic, exact, rtol=0.2)  # 6 standard errors of a variance of 2000 draws
    np.testing.assert_allclose(told.mean, net(x).detach(), atol=6 * float(exact.max() / 2000) ** 0.5)
    nonlinear = posterior_predictive(posterior, replace(draws, center=None), x, most=2000)
    assert float(nonlinear.epistemic.mean()) > 10 * float(told.epistemic.mean())


def test_linearized_outputs_are_the_network_at_its_center_and_linear_in_the_draws():
    _, posterior, found, x = wave(classes=True)
    step = torch.randn(len(found.center), generator=torch.Generator().manual_seed(3)).double()
    vectors = torch.stack([found.center + t * step for t in (0.0, 1e-5, 1.0)])
    at, near, far = linearized_outputs(posterior, found.center, vectors, x)
    np.testing.assert_allclose(at, posterior.outputs(found.center, x).detach(), rtol=1e-12)
    np.testing.assert_allclose(near, posterior.outputs(vectors[1], x).detach(), atol=1e-8)
    np.testing.assert_allclose(far - at, 1e5 * (near - at), rtol=1e-5, atol=1e-6)
    told = posterior_predictive(posterior, found.sample(50), x)
    assert told.classes and torch.allclose(told.mean.sum(1), torch.ones(24).double())


def test_examples_in_several_passes_have_the_same_outputs(monkeypatch):
    _, posterior, found, x = wave()
    vectors = found.sample(3).values[0]
    whole = linearized_outputs(posterior, found.center, vectors, x)
    monkeypatch.setattr(import_module("gnomon.bayes.linearized"), "EXAMPLES_PER_PASS", 7)
    np.testing.assert_allclose(linearized_outputs(posterior, found.center, vectors, x), whole, rtol=1e-9)
