"""Fitted functions against dense formulas with hand-written arc-cosine kernels."""

import math

import numpy as np
import pytest
import torch

from gnomon.estimators import NNGPClassifier, NNGPRegressor, NTKClassifier, NTKRegressor
from gnomon.estimators.problem import KernelRegression, NetworkKernel, TableRows
from gnomon.linalg.solve import ConjugateGradient, DirectSolver, NystromSolver
from gnomon.models import mlp
from gnomon.program import InitializationLaw
from tests.oracles import arccosine

CLOSE = dict(rtol=1e-8, atol=1e-8)  # ridges of 1e-3 and more: condition numbers under 1e5, kernels to 1e-13


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(3.0, 2.0, (30, 4)), rng.normal(3.0, 2.0, (7, 4))
    return X, np.stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2] ** 2], 1), Z


def oracle(X, Z, kind, **options):
    x, z = arccosine.standardized(X, Z)
    both = [arccosine.kernels(x, x, **options), arccosine.kernels(z, x, **options), arccosine.kernels(z, z, **options)]
    at = 1 if kind == "ntk" else 0
    return [pair[at] for pair in both], [pair[0] for pair in both]


@pytest.mark.parametrize("kind, model, fixed", [
    ("ntk", NTKRegressor(depth=2, ridge=1e-3), 0),
    ("ntk", NTKRegressor(depth=3, ridge=1e-2, fixed_layers=2, bias_std=0.3, weight_std=1.1), 2),
    ("nngp", NNGPRegressor(depth=3, ridge=1e-3), 0),
])  # fmt: skip
def test_a_regressor_is_a_dense_solve(table, kind, model, fixed):
    X, y, Z = table
    options = dict(depth=model.depth, w=model.weight_std, b=model.bias_std, fixed=fixed)
    (gram, cross, _), _ = oracle(X, Z, kind, **options)
    (scaled,) = arccosine.standardized(y)
    wanted = arccosine.ridge_map(gram, cross, model.ridge) @ scaled * y.std(0) + y.mean(0)
    np.testing.assert_allclose(model.fit(X, y).predict(Z), wanted, **CLOSE)
    np.testing.assert_allclose(model.fit(X, y[:, 0]).predict(Z), wanted[:, 0], **CLOSE)


def test_points_are_moved_to_the_sphere_of_radius_root_d(table):
    X, y, Z = table
    x, z = (4**0.5 * a / np.linalg.norm(a, axis=1, keepdims=True) for a in arccosine.standardized(X, Z))
    gram, cross = arccosine.kernels(x, depth=2)[1], arccosine.kernels(z, x, depth=2)[1]
    (scaled,) = arccosine.standardized(y)
    wanted = arccosine.ridge_map(gram, cross, 1e-2) @ scaled * y.std(0) + y.mean(0)
    found = NTKRegressor(depth=2, ridge=1e-2, scaling="sphere").fit(X, y)
    np.testing.assert_allclose(found.predict(Z), wanted, **CLOSE)


@pytest.mark.parametrize(
    "kind, model", [("ntk", NTKClassifier(depth=2, ridge=1e-2)), ("nngp", NNGPClassifier(depth=2, ridge=1e-2))]
)
@pytest.mark.parametrize("k", [2, 3])
def test_a_classifier_is_a_dense_solve_of_indicators(table, kind, model, k):
    X, y, Z = table
    codes = np.digitize(y[:, 0], np.quantile(y[:, 0], np.arange(1, k) / k))
    (gram, cross, _), _ = oracle(X, Z, kind, depth=2)
    targets = np.eye(k)[codes]
    wanted = arccosine.ridge_map(gram, cross, 1e-2) @ (targets - targets.mean(0)) + targets.mean(0)
    scores = model.fit(X, np.array(list("abc"))[codes]).decision_function(Z)
    np.testing.assert_allclose(scores, wanted if k == 3 else wanted[:, 1] - wanted[:, 0], **CLOSE)
    assert model.predict(Z).tolist() == [list("abc")[i] for i in wanted.argmax(1)]


def test_time_follows_the_closed_form(table):
    X, y, Z = table
    (gram, cross, _), _ = oracle(X, Z, "ntk", depth=2)
    (scaled,) = arccosine.standardized(y)
    for t in (0.0, 0.7, 30.0):
        wanted = arccosine.flow_map(gram, cross, t) @ scaled * y.std(0) + y.mean(0)
        found = NTKRegressor(depth=2, t=t).fit(X, y)
        np.testing.assert_allclose(found.predict(Z), wanted, rtol=1e-7, atol=1e-7)
        assert found.ridge_ == 0.0 and found.solver_ is None and "Gradient flow" in found.verdict_
    late, end = NTKRegressor(depth=2, t=1e12).fit(X, y), NTKRegressor(depth=2, ridge=0.0).fit(X, y)
    np.testing.assert_allclose(late.predict(Z), end.predict(Z), rtol=1e-6, atol=1e-6)


def test_the_spread_of_trained_networks(table):
    X, y, Z = table
    (gram, cross, _), priors = oracle(X, Z, "ntk", depth=2)
    prior, between, own = priors
    for model, smoother in (
        (NTKRegressor(depth=2, ridge=1e-3), arccosine.ridge_map(gram, cross, 1e-3)),
        (NTKRegressor(depth=2, t=5.0), arccosine.flow_map(gram, cross, 5.0)),
    ):
        wanted = np.sqrt(arccosine.spread(smoother, prior, between, own))
        mean, std = model.fit(X, y[:, 0]).predict(Z, return_std=True)
        np.testing.assert_allclose(std, wanted * y[:, 0].std(), rtol=1e-6)
        np.testing.assert_allclose(mean, model.predict(Z))
    assert model.fit(X, y).predict(Z, return_std=True)[1].shape == (7, 2)


def test_the_posterior_of_the_nngp_with_its_amplitude(table):
    X, y, Z = table
    (gram, cross, own), _ = oracle(X, Z, "nngp", depth=2)
    smoother = arccosine.ridge_map(gram, cross, 1e-2)
    variance = np.diag(own - smoother @ cross.T)
    (scaled,) = arccosine.standardized(y[:, :1])
    noise = 1e-2 * np.diag(gram).mean()
    s = float((scaled.T @ np.linalg.solve(gram + noise * np.eye(30), scaled)).item()) / 30
    model = NNGPRegressor(depth=2, ridge=1e-2).fit(X, y[:, 0])
    std = model.predict(Z, return_std=True)[1]
    np.testing.assert_allclose(std, np.sqrt(s * variance) * y[:, 0].std(), rtol=1e-6)
    np.testing.assert_allclose(model.noise_std_, np.sqrt(s * noise) * y[:, 0].std(), rtol=1e-6)
    fixed = NNGPRegressor(depth=2, ridge=1e-2, amplitude=2.0).fit(X, y[:, 0])
    np.testing.assert_allclose(fixed.predict(Z, return_std=True)[1], np.sqrt(2 * variance) * y[:, 0].std(), rtol=1e-6)


@pytest.mark.parametrize("solver, name", [
    (DirectSolver(), "Direct"), (DirectSolver(memory=30 * 30 * 8), "Direct"), (ConjugateGradient(tolerance=1e-11), "ConjugateGradient"),
    (NystromSolver(30), "Nystrom"),
])  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_every_solver_finds_the_same_function(table, solver, name, weighted):
    X, y, Z = table
    weights = np.arange(30) % 3 + 0.5 if weighted else None
    auto = NTKRegressor(depth=2, ridge=1e-2).fit(X, y, sample_weight=weights)
    other = NTKRegressor(depth=2, ridge=1e-2, solver=solver).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(other.predict(Z), auto.predict(Z), rtol=1e-6, atol=1e-6)
    assert type(other.solver_) is type(solver) and name in other.verdict_ and "Direct for 30 points" in auto.verdict_


@pytest.mark.parametrize(("memory", "whole"), [(10_800, True), (10_799, False)])
def test_the_kernel_is_held_whole_if_three_copies_fit_in_twice_the_memory(table, memory, whole, monkeypatch):
    """Three copies of 30 x 30 numbers of 8 bytes are 21,600 bytes."""
    given, solve = [], DirectSolver.solve
    monkeypatch.setattr(DirectSolver, "solve", lambda self, k, *a, **b: given.append(k) or solve(self, k, *a, **b))
    x, y = (torch.from_numpy(part) for part in table[:2])
    kernel = NetworkKernel(mlp(4, width=1, depth=1), InitializationLaw(1.0), "nngp")
    problem = KernelRegression(kernel, TableRows(x, y, torch.ones(30).double()), math.inf)
    problem.solve(1e-2, solver=DirectSolver(memory=memory))
    assert [isinstance(kernel, torch.Tensor) for kernel in given] == [whole]


def test_few_centers_keep_few_points(table):
    """f = K_zm (K_mn K_nm + r K_mm)^{-1} K_mn y, and the spread of networks that were trained on the centers alone."""
    X, y, Z = table
    chosen = (3, 8, 11, 20, 29)
    found = NTKRegressor(depth=2, ridge=1e-2, solver=NystromSolver(5, centers=chosen)).fit(X, y)
    (gram, cross, _), (prior, between, own) = oracle(X, Z, "ntk", depth=2)
    at = list(chosen)
    inner, outer, noise = gram[np.ix_(at, at)], gram[at], 1e-2 * np.diag(gram).mean()
    (scaled,) = arccosine.standardized(y)
    c = np.linalg.solve(outer @ outer.T + noise * inner, outer @ scaled)
    mean, std = found.predict(Z, return_std=True)
    np.testing.assert_allclose(found.points_, arccosine.standardized(X)[0][at], **CLOSE)
    np.testing.assert_allclose(mean, cross[:, at] @ c * y.std(0) + y.mean(0), rtol=1e-6, atol=1e-6)
    smoother = cross[:, at] @ np.linalg.inv(inner + noise * np.eye(5))
    wanted = np.sqrt(arccosine.spread(smoother, prior[np.ix_(at, at)], between[:, at], own))
    np.testing.assert_allclose(std, wanted[:, None] * y.std(0), rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        NTKRegressor(),
        NNGPRegressor(select="evidence"),
        NTKClassifier(),
        NTKRegressor(t=3.0, depth=2),
        NTKRegressor(t=3.0, depth=2, ridge=0.3),
        NTKClassifier(t=3.0, depth=2),
        NTKRegressor(depth=2, ridge=0.1),
    ],
)
def test_a_whole_weight_is_so_many_copies(table, model):
    X, y, Z = table
    target = (y[:, 0] > y[:, 0].mean()).astype(int) if isinstance(model, NTKClassifier) else y[:, 0]
    weights = np.arange(30) % 4
    copies = np.repeat(np.arange(30), weights)
    one, two = (type(model)(**model.get_params()) for _ in range(2))
    one.fit(X, target, sample_weight=weights)
    two.fit(X[copies], target[copies])
    assert (one.depth_, one.ridge_) == (two.depth_, two.ridge_)
    read = "predict_proba" if isinstance(model, NTKClassifier) else "predict"
    np.testing.assert_allclose(getattr(one, read)(Z), getattr(two, read)(Z), rtol=1e-6, atol=1e-7)
    if read == "predict":
        np.testing.assert_allclose(one.predict(Z, return_std=True)[1], two.predict(Z, return_std=True)[1], rtol=1e-5)
