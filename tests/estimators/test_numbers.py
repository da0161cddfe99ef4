"""Defaults, scalings, folds and variances of the estimators, written out in numpy."""

import numpy as np
import pytest
import torch

from gnomon.estimators import (
    KernelTransformer,
    NetworkGPKernel,
    NNGPRegressor,
    NTKClassifier,
    NTKRegressor,
    ScatteringClassifier,
    ScatteringTransformer,
)
from gnomon.estimators.classification import score_factor
from gnomon.estimators.network import candidates
from gnomon.estimators.problem import MAX_SELECTION_ROWS, examined_rows
from gnomon.estimators.selection import GRID, MAX_DEPTH
from gnomon.estimators.table import Scaling, TableRows, moments
from gnomon.linalg.ridge_modes import MIN_RELATIVE_RIDGE

rng = np.random.default_rng(0)
X, Y, NEW = rng.normal(size=(9, 3)) * [1, 2, 5], rng.normal(size=9) * 3 + 7, rng.normal(size=(4, 3))
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.5, 1.0, 2.5, 0.7, 1.1])


def test_networks_have_weights_of_variance_two_and_biases_of_variance_one_by_default():
    for model in (NTKRegressor(), NTKClassifier(), NNGPRegressor(), KernelTransformer()):
        assert (model.weight_std, model.bias_std) == (2**0.5, 1.0)
    assert KernelTransformer().n_components == 100 and (NTKRegressor().fixed_layers, NTKRegressor().t) == (0, None)
    kernel = NetworkGPKernel()
    assert (kernel.weight_std, kernel.bias_std, kernel.depth) == (2**0.5, 0.1, 1)
    assert kernel.weight_std_bounds == (1e-2, 1e2) and kernel.bias_std_bounds == (1e-3, 1e2)


def test_scattering_has_eight_angles_and_eight_wavelets_per_octave_by_default():
    for model in (ScatteringClassifier(), ScatteringTransformer()):
        assert (model.J, model.L, model.Q, model.max_order) == (2, 8, 8, 2)


def test_ridges_are_half_decades_and_depths_go_up_to_five():
    assert np.allclose(np.log10(GRID), np.arange(-6.5, 2.0, 0.5)) and MAX_DEPTH == 5 and MAX_SELECTION_ROWS == 1500
    assert list(candidates("auto", 0, deepest=3)) == [(1, 0), (2, 0), (3, 0)]
    assert list(candidates("auto", 2, deepest=3)) == [(2, 2), (3, 2)]
    assert list(candidates("auto", 4, deepest=3)) == [(4, 4)]
    assert list(candidates(3, "auto", deepest=5)) == [(3, 0), (3, 1), (3, 2)]
    assert list(candidates(0, "auto", deepest=5)) == [(0, 0)]
    assert sorted(examined_rows(1501).tolist()) != list(range(1501)) and len(examined_rows(1501)) == 1500
    assert examined_rows(1500).tolist() == list(range(1500))


@pytest.mark.parametrize("kind", ["standard", "sphere"])
def test_columns_are_scaled_by_weighted_moments(kind):
    mean = np.average(X, axis=0, weights=WEIGHTS)
    z = (NEW - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=WEIGHTS))
    expected = z if kind == "standard" else z * np.sqrt(3) / np.linalg.norm(z, axis=1)[:, None]
    np.testing.assert_allclose(Scaling.of(X, WEIGHTS, kind).__call__(NEW), expected)


@pytest.mark.parametrize(("gap", "constant"), [(3, True), (100, False)])
def test_a_column_that_varies_by_less_than_ten_roundings_is_constant(gap, constant):
    """The standard deviation of (1, 1 + 2 g eps) is g eps."""
    eps = np.finfo(float).eps
    x = np.array([[1.0, 1.0], [1 + 2 * gap * eps, 5.0]])
    _, scale = moments(x, np.ones(2))
    assert (scale[0] == 1.0) == constant and scale[1] == 2.0


def test_a_weighted_mean_that_is_zero_counts_as_one():
    rows = TableRows(torch.zeros(2, 1).double(), torch.zeros(2, 1).double(), torch.tensor([1.0, 3.0]).double())
    assert rows.mean(torch.tensor([2.0, 6.0]).double()) == 5.0 and rows.mean(torch.zeros(2).double()) == 1.0
    assert rows.total == 4.0 and rows.root.tolist() == pytest.approx([1.0, 3**0.5])


def test_features_are_the_kernel_times_the_inverse_root_of_the_kernel_of_centers():
    model = KernelTransformer(n_components=5, random_state=1).fit(X)
    centers, new = torch.from_numpy(model.components_), torch.from_numpy(model.scaling_(NEW))
    values, vectors = np.linalg.eigh(model.kernel_(centers).numpy())
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    assert model.components_.shape == (5, 3)
    np.testing.assert_allclose(model.transform(NEW), model.kernel_(new, centers).numpy() @ root, rtol=1e-8, atol=1e-10)


def test_repeated_centers_are_left_out_of_the_root():
    twice = np.concatenate([X[:3], X[:3]])
    features = KernelTransformer(n_components=6, random_state=1).fit(twice).transform(twice)
    assert np.abs(features).max() < 10  # the root of a rounding would be 10^7
    np.testing.assert_allclose(features[:3], features[3:], atol=1e-6)


def test_a_temperature_is_kept_between_a_millionth_and_a_million():
    classes, one = torch.tensor([0, 1, 0]), torch.ones(3).double()
    wrong = torch.tensor([[-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]).double()
    assert score_factor(wrong, classes, one) == 1e-6
    assert score_factor(-1e-9 * wrong, classes, one) == 1e6
    scale = score_factor(-wrong, classes, one)  # softmax(2 s) = (1 - 2 / 5) + 1 / 5 = 4 / 5
    assert scale == pytest.approx(np.log(4) / 2)


@pytest.mark.parametrize("amplitude", [0.7, "auto"])
def test_the_standard_deviation_of_the_nngp_is_that_of_its_weighted_posterior(amplitude):
    model = NNGPRegressor(depth=1, ridge=0.2, amplitude=amplitude).fit(X, Y, sample_weight=WEIGHTS)
    points, new = torch.from_numpy(model.points_), torch.from_numpy(model.scaling_(NEW))
    K, cross = model.kernel_(points).numpy(), model.kernel_(new, points).numpy()
    scale = np.average(np.diag(K), weights=WEIGHTS)
    A = K + np.diag(0.2 * scale / WEIGHTS)
    mean = np.average(Y, weights=WEIGHTS)
    std = np.sqrt(np.average((Y - mean) ** 2, weights=WEIGHTS))
    z = (Y - mean) / std
    s = z @ np.linalg.solve(A, z) / WEIGHTS.sum() if amplitude == "auto" else 0.7
    variance = model.kernel_(new).numpy().diagonal() - np.einsum("ij,ji->i", cross, np.linalg.solve(A, cross.T))
    found, spread = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(found, mean + std * cross @ np.linalg.solve(A, z), rtol=1e-8)
    np.testing.assert_allclose(spread, std * np.sqrt(s * variance), rtol=1e-6)
    assert model.noise_std_ == pytest.approx(std * np.sqrt(s * 0.2 * scale))


def test_the_standard_deviation_of_trained_networks_is_that_of_their_formula():
    """K' - 2 T' A^-1 K + T' A^-1 K A^-1 T'^T with the NNGP K and the NTK T, A = T + ridge / weights."""
    model = NTKRegressor(depth=1, ridge=0.2).fit(X, Y, sample_weight=WEIGHTS)
    points, new = torch.from_numpy(model.points_), torch.from_numpy(model.scaling_(NEW))
    (K, T), (k, t) = ([part.numpy() for part in model.kernel_.both(*pair)] for pair in ((points,), (new, points)))
    A = T + np.diag(0.2 * np.average(np.diag(T), weights=WEIGHTS) / WEIGHTS)
    solved = np.linalg.solve(A, t.T)
    prior = model.kernel_.both(new)[0].numpy().diagonal()
    variance = prior - 2 * np.einsum("ij,ji->i", k, solved) + np.einsum("ji,jk,ki->i", solved, K, solved)
    std = np.sqrt(np.average((Y - np.average(Y, weights=WEIGHTS)) ** 2, weights=WEIGHTS))
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1], std * np.sqrt(variance), rtol=1e-6)


def test_a_ridge_of_zero_is_the_least_one_of_a_fit_to_the_end():
    assert NTKRegressor(depth=1, ridge=0.0).fit(X, Y).ridge_ == MIN_RELATIVE_RIDGE == 1e-10
    assert NTKRegressor(depth=1, ridge=0.0, t=3.0).fit(X, Y).ridge_ == 0.0


def test_the_diagonal_is_computed_in_strips():
    kernel = NNGPRegressor(depth=1, ridge=0.1).fit(X, Y).kernel_
    many = torch.randn(600, 3, generator=torch.Generator().manual_seed(0)).double()
    np.testing.assert_allclose(kernel.diagonal(many), kernel(many).diagonal())
