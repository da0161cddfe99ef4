"""R-hat, effective sample size and burn-in against slow computations and chains whose numbers are known."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats

from gnomon.bayes import effective_sample_size, r_hat
from gnomon.bayes.diagnostics import burn_in
from gnomon.core import InputError


def autoregressive(rho, chains, n, seed):
    generator = np.random.default_rng(seed)
    x = np.empty((chains, n, 1))
    x[:, 0] = generator.normal(size=(chains, 1))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + (1 - rho**2) ** 0.5 * generator.normal(size=(chains, 1))
    return torch.from_numpy(x)


def slow_r_hat(x):
    half = x.shape[1] // 2
    values = []
    for v in (x, np.abs(x - np.median(x))):
        parts = np.concatenate([v[:, :half], v[:, -half:]])
        z = stats.norm.ppf((stats.rankdata(parts).reshape(parts.shape) - 0.375) / (parts.size + 0.25))
        within = np.mean([np.var(row, ddof=1) for row in z])
        between = np.var([row.mean() for row in z], ddof=1)
        values.append(((half - 1) / half + between / within) ** 0.5)
    return max(values)


@pytest.mark.parametrize("spread", [0.0, 0.3, 5.0])
def test_r_hat_is_its_definition(spread):
    x = autoregressive(0.5, 4, 101, 0) + spread * torch.arange(4.0)[:, None, None]
    assert_allclose(float(r_hat(x)), slow_r_hat(x[..., 0].numpy()), rtol=1e-12)


def test_r_hat_sees_chains_of_unequal_width_and_chains_that_stand_still():
    x = autoregressive(0.0, 4, 400, 1) * torch.tensor([1.0, 1.0, 1.0, 4.0])[:, None, None]
    assert float(r_hat(x)) > 1.1
    still = torch.arange(4.0).double()[:, None, None].expand(4, 20, 1)
    assert float(r_hat(still)) == torch.inf and float(effective_sample_size(torch.zeros(2, 20, 1))) == 0


@pytest.mark.parametrize("rho", [0.0, 0.6, -0.4])
def test_effective_draws_of_an_autoregression(rho):
    """tau = (1 + rho) / (1 - rho); over 8 repetitions of 8,000 draws the mean ratio is within 8 %."""
    ratios = [
        float(effective_sample_size(autoregressive(rho, 4, 2000, seed))) / (8000 * (1 - rho) / (1 + rho))
        for seed in range(8)
    ]
    assert abs(np.mean(ratios) - 1) < 0.08, ratios


@pytest.mark.full
def test_effective_draws_tell_the_error_of_the_mean():
    """The spread of means over 300 repetitions is what the effective sample size says, at 4 standard errors."""
    means, told = [], []
    for seed in range(300):
        x = autoregressive(0.7, 2, 400, seed)
        means.append(float(x.mean()))
        told.append(float(x.var() / effective_sample_size(x)))
    assert abs(np.var(means) / np.mean(told) - 1) < 4 * (2 / 300) ** 0.5


def evenly_spread(t):
    """The t-th number of van der Corput's sequence, from which HMC takes the lengths of its paths."""
    return int(f"{t:012b}"[::-1], 2) / 2**12


@pytest.mark.parametrize("spread", [True, False])
def test_errors_are_right_where_long_and_short_paths_come_in_turn(spread):
    """x' = x cos a + z sin a, a evenly spread over (0, pi) or drawn: 95 % intervals of 600 runs hold the mean 0.

    Summed over single draws, the intervals of the evenly spread ones held it in 99.9 % of runs."""
    rng, runs, chains, n = np.random.default_rng(0), 600, 4, 300
    x, kept = rng.normal(size=(runs, chains)), []
    for t in range(n):
        a = np.pi * (evenly_spread(t + 1) if spread else rng.random((runs, 1)))
        x = x * np.cos(a) + rng.normal(size=(runs, chains)) * np.sin(a)
        kept.append(x)
    table = torch.from_numpy(np.stack(kept, 2)).permute(1, 2, 0)  # a run is a coordinate
    error = table.flatten(0, 1).std(0) / effective_sample_size(table).sqrt()
    hits = float((table.mean((0, 1)).abs() < 1.96 * error).double().mean())
    assert 0.92 < hits < 0.98  # three standard errors of 600 runs are 2.7 %


def test_burn_in_is_about_as_long_as_the_way_in():
    x = autoregressive(0.0, 3, 1000, 0)
    x[1, :100] += 10.0
    assert 100 <= burn_in(x) <= 130
    assert burn_in(autoregressive(0.0, 3, 1000, 1)) < 200


@pytest.mark.parametrize("function", [r_hat, effective_sample_size, burn_in])
def test_what_cannot_be_judged_is_refused(function):
    with pytest.raises(InputError, match=r"8 draws or more, but the shape is \(2, 3, 1\)"):
        function(torch.zeros(2, 3, 1))
    with pytest.raises(InputError, match="the draws are not finite"):
        function(torch.full((2, 20, 1), torch.nan))
