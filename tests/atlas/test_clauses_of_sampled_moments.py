"""Clauses of the scope that give the accuracy of a sampled mean or of a slope; the ledger names these tests."""

import numpy as np
import pytest

from gnomon.atlas.claims.basics import curse_of_dimensionality_histogram, expected_vs_empirical_risk
from gnomon.atlas.claims.bayesian import gaussian_process_definition, gp_regression, langevin_dynamics
from gnomon.atlas.claims.dynamics_implicit_bias import (
    backward_error_analysis,
    dropout_mask,
    effective_complexity_not_param_count,
    implicit_gradient_regularisation,
    input_noise_equals_l2,
)
from gnomon.atlas.claims.generative import ddpm_closed_form_marginal, ddpm_energy_conservation, diffusion_forward_sde


def mean(rows):
    """The mean over repetitions."""
    return np.asarray(rows, dtype=float).mean(0)


def test_means_of_noised_examples_are_within_one_percent():
    """ddpm-energy-conservation, ddpm-closed-form-marginal: sampled squared norms and moments within 1 %."""
    energies = mean(ddpm_energy_conservation.squares(10, 0.2, 40_000, 0, 1.0))
    assert energies == pytest.approx(np.asarray(ddpm_energy_conservation.predicted(10, 0.2)), rel=0.01)
    moments = mean(ddpm_closed_form_marginal.ends(20, 60_000, 0, 0.5))
    assert moments == pytest.approx(np.asarray(ddpm_closed_form_marginal.predicted(20)), rel=0.01)


def test_moments_of_the_forward_equation_are_within_two_percent():
    """diffusion-forward-sde: Euler-Maruyama mean and variance against e^(-B/2) x_0 and 1 - e^(-B), within 2 %."""
    x, square = mean(diffusion_forward_sde.ends(200, 40_000, 0, 0.5))
    center, second = np.asarray(diffusion_forward_sde.predicted())
    assert x == pytest.approx(center, rel=0.02)
    assert square - x**2 == pytest.approx(second - center**2, rel=0.02)


def test_the_penalties_of_dropout_and_of_noise_are_within_one_percent():
    """dropout-mask, input-noise-equals-l2: mean loss over masks, and over noise on a linear unit, within 1 %."""
    dropped = float(dropout_mask.observed(20, 10, 0.5, 20_000, 0).mean())
    assert dropped == pytest.approx(dropout_mask.predicted(20, 10, 0.5, 0), rel=0.01)
    noisy = mean(input_noise_equals_l2.losses(50, 6, 5000, 0, False))
    assert noisy[0] == pytest.approx(input_noise_equals_l2.predicted(50, 6, 0)[0], rel=0.01)


def test_covariances_of_outputs_of_networks_are_within_three_percent():
    """gaussian-process-definition: sampled covariance of outputs against the kernel, within 3 %."""
    f = gaussian_process_definition.outputs(100, 20_000, 0).numpy()
    assert (f.T @ f / len(f)).ravel() == pytest.approx(gaussian_process_definition.predicted(0).numpy(), rel=0.03)


@pytest.mark.full
def test_intervals_of_gaussian_processes_cover_ninety_five_percent():
    """gp-regression: coverage of intervals of two standard deviations 95 +- 3 %."""
    assert abs(mean(gp_regression.scores(600, 12, 2.0, 0))[0] - 0.95) <= 0.03


def test_langevin_positions_and_velocities_have_variance_one_to_two_percent():
    """langevin-dynamics: variances of position and velocity 1 within 2 %, energy x^2 / 2."""
    assert mean(langevin_dynamics.squares(1.0, 2000, 400, 1.0, 0)) == pytest.approx([1.0, 1.0], rel=0.02)


def test_occupied_bins_are_within_two_percent_in_one_to_ten_dimensions():
    """curse-of-dimensionality-histogram: B (1 - (1 - 1/B)^n) for n = 10^4, b = 4, N = 1 to 10, within 2 %."""
    sizes = tuple(range(1, 11))
    found = mean(curse_of_dimensionality_histogram.observed(10_000, 4, sizes, 2, 0))
    bins = 4.0 ** np.array(sizes)
    expected = bins * (1 - (1 - 1 / bins) ** 10_000) / np.minimum(bins, 10_000)
    np.testing.assert_allclose(found, expected, rtol=0.02)
    empty = 1 - found * np.minimum(bins, 10_000) / bins
    assert np.all(np.diff(empty) >= 0) and empty[-1] > 0.99


def test_the_variance_of_an_error_rate_is_within_ten_percent():
    """expected-vs-empirical-risk: over 2000 samples the mean of R_n is within 3 standard errors, n Var(R_n) within 10 %."""
    rows = np.asarray(expected_vs_empirical_risk.errors(50, 2000, 0, [expected_vs_empirical_risk.TILT_ANGLE]))
    rate, spread = expected_vs_empirical_risk.predicted()
    assert abs(rows[:, 0].mean() - rate) <= 3 * rows[:, 0].std() / 2000**0.5
    assert rows[:, 1].mean() == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("share, step, whole", [(0.0, 2, 1), (1.0, 3, 2)])
def test_slopes_with_and_without_the_correction_of_the_flow(share, step, whole):
    """implicit-gradient-regularisation: slope 2 or 3 a step; backward-error-analysis: slope 1 or 2 overall, +- 0.1."""
    rates, errors = implicit_gradient_regularisation.gap(5, (0.0025, 0.005, 0.01, 0.02), 0, share)
    assert np.polyfit(np.log(rates), np.log(errors), 1)[0] == pytest.approx(step, abs=0.1)
    rates, errors = backward_error_analysis.gap(1.0, (50, 84, 141, 238), 0, share)
    assert np.polyfit(np.log(rates), np.log(errors), 1)[0] == pytest.approx(whole, abs=0.1)


def test_degrees_of_freedom_change_by_less_than_a_fifth_while_the_width_grows_a_hundredfold():
    """effective-complexity-not-param-count: tr K_m (K_m + a)^-1 at m = 100 and 10,000 random features, within 20 %."""
    x, counts = effective_complexity_not_param_count.problem(30, 4, 0), []
    for width in (100, 10_000):
        draws = [np.maximum(x @ np.random.default_rng(k).normal(size=(4, width)), 0) / width**0.5 for k in range(5)]
        counts.append(np.mean([np.trace(np.linalg.solve(f @ f.T + np.eye(30), f @ f.T)) for f in draws]))
    limit = effective_complexity_not_param_count.predicted(30, 4, (1,), 1.0, 0)[0]
    assert counts[0] == pytest.approx(counts[1], rel=0.2) and counts[1] == pytest.approx(limit, rel=0.03)
