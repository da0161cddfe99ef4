"""Statements of the ledger that go beyond what their claims measure, each with its own small test."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

from gnomon.atlas.claims.discovery import physical_law_as_compression as compression
from gnomon.atlas.claims.generative import ddpm_closed_form_marginal as noising
from gnomon.atlas.claims.kernel_limit import nngp_linear_unit as linear_unit
from gnomon.atlas.claims.kernel_limit.mean_field_flow import on_sphere

MIN_P_VALUE = 1e-3


@pytest.mark.parametrize("d, side", [(1, 16), (2, 8), (3, 4)])
def test_the_distance_to_a_grid_is_the_worst_lipschitz_function(d, side):
    """Its values on the grid are zero, and it reaches half the diagonal of a cell, sqrt(d) / 2 n^(-1/d)."""
    places = np.linspace(0, 1, 4 * side + 1)  # contains the centers of the cells, which are the grid, and their corners
    x = np.stack(np.meshgrid(*[places] * d), -1).reshape(-1, d)
    grid = np.stack(np.meshgrid(*[(np.arange(side) + 0.5) / side] * d), -1).reshape(-1, d)
    distance = np.linalg.norm(x[:, None] - grid, axis=2).min(1)
    assert distance.min() == pytest.approx(0, abs=1e-12)
    assert distance.max() == pytest.approx(d**0.5 / 2 * (side**d) ** (-1 / d), rel=1e-12)


def least_nuclear_norm(w, seen, steps=1500):
    """Returns the matrix of smallest nuclear norm with the seen entries of w, by alternating two proximal steps."""
    z = np.zeros_like(w)
    for _ in range(steps):
        x = np.where(seen, w, z)
        u, s, v = np.linalg.svd(2 * x - z, full_matrices=False)
        z = z + (u * np.maximum(s - 0.2, 0)) @ v - x
    return x


@pytest.mark.parametrize("rank, recovered", [(2, True), (8, False)])
def test_a_matrix_of_rank_two_is_recovered_and_one_of_rank_eight_is_not(rank, recovered):
    rng = np.random.default_rng(5)
    w = rng.normal(size=(14, rank)) @ rng.normal(size=(rank, 14))
    w /= np.linalg.norm(w)
    error = np.linalg.norm(least_nuclear_norm(w, rng.uniform(size=w.shape) < 0.8) - w)
    assert error < 1e-6 if recovered else error > 0.05


def test_many_noising_steps_end_in_a_gaussian():
    kept = float((1 - noising.problem(20)).prod())
    last = noising.ends(20, 4000, 11, 0.5)[:, 0].numpy()
    assert kstest(last, norm(kept**0.5 * noising.START, (1 - kept) ** 0.5).cdf).pvalue > MIN_P_VALUE
    assert kstest(last, norm(kept * noising.START, (1 - kept) ** 0.5).cdf).pvalue < MIN_P_VALUE


def test_sums_of_a_random_linear_units_outputs_are_gaussian():
    x, a = linear_unit.inputs(4, 6, 3), np.array([1.0, -2.0, 0.5, 1.5])
    outputs = np.random.default_rng(3).normal(size=(4000, 6)) * 1.3 / 6**0.5 @ x.T @ a
    covariance = linear_unit.predicted(4, 6, 1.3, 3).numpy()
    assert kstest(outputs, norm(0, (a @ covariance @ a) ** 0.5).cdf).pvalue > MIN_P_VALUE


def outputs_after_training(w, v, x, y, test):
    """Returns the outputs of a network divided by its width m, trained at rate m."""
    for _ in range(40):
        h = np.tanh(x @ w.T)
        r = y - h @ v / len(v)
        w, v = w + 0.05 * ((r[:, None] * (1 - h**2) * v).T @ x), v + 0.05 * h.T @ r
    return np.tanh(test @ w.T) @ v / len(v)


def test_only_the_distribution_of_the_neurons_matters():
    """Each neuron twice is the same distribution with the same outputs; half of the neurons is another one."""
    rng = np.random.default_rng(2)
    x, test = on_sphere(5).numpy(), on_sphere(6).numpy()
    w, v, y = rng.normal(size=(12, 3)), rng.normal(size=12), rng.uniform(-1, 1, 5)
    once = outputs_after_training(w, v, x, y, test)
    assert outputs_after_training(np.tile(w, (2, 1)), np.tile(v, 2), x, y, test) == pytest.approx(once, abs=1e-6)
    assert np.abs(outputs_after_training(w[:6], v[:6], x, y, test) - once).max() > 0.01


def test_the_true_law_is_the_shortest_description_in_nine_of_ten_draws():
    assert compression.predicted(1000) < 0.05
    assert compression.measure(1000, 50, 0.3, 1, list(range(8))).mean() <= 0.1
