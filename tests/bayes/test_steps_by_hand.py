"""Samplers one step at a time against the same step by hand, with the same random numbers; records against numpy."""

from math import ceil, exp, log, sqrt

import numpy as np
import pytest
import scipy.stats
import torch
from torch import nn
from torch.distributions import Normal

from gnomon.bayes import (
    HMC,
    Langevin,
    Metropolis,
    StochasticGradientSampler,
    effective_sample_size,
    gauss_newton,
    laplace,
    module_posterior,
    r_hat,
    sample_posterior,
)
from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.diagnostics import burn_in
from gnomon.bayes.draws import PosteriorDraws
from gnomon.bayes.predictive import posterior_predictive, prediction_from_outputs
from gnomon.bayes.samplers.base import StepSize
from gnomon.bayes.samplers.hmc import _halton, _HmcState
from gnomon.bayes.samplers.metropolis import _factor
from gnomon.core.errors import InputError


def quartic(x):
    return -(x**4).sum() / 4 + x[0] * x[1]


def slope(x):
    return -(x**3) + x.flip(1)


def log_density(x):
    return -(x**4).sum(1) / 4 + x[:, 0] * x[:, 1]


START = torch.tensor([[1.0, -0.5], [0.3, 0.8], [-1.2, 0.1], [2.0, 1.5], [0.0, 0.0]]).double()


def walk(method, steps, density=quartic, start=START):
    path = method.walk(LogDensityWithGradient(density, True), start, 0, torch.Generator().manual_seed(3))
    return [next(path) for _ in range(steps)], torch.Generator().manual_seed(3)


def normal(generator, like=START):
    return torch.randn(like.shape, generator=generator, dtype=torch.float64)


def test_adjusted_langevin_accepts_by_the_rule_of_metropolis_and_hastings():
    """min(1, p(x') q(x | x') / (p(x) q(x' | x))) with q the normal law of a proposal, from torch."""
    e, rejected = 0.6, 0
    steps, g = walk(Langevin(e, None, adjusted=True), 6)
    x = START
    for step in steps:
        moved = x + e / 2 * slope(x) + sqrt(e) * normal(g)
        forth = Normal(x + e / 2 * slope(x), sqrt(e)).log_prob(moved).sum(1)
        back = Normal(moved + e / 2 * slope(moved), sqrt(e)).log_prob(x).sum(1)
        probability = (log_density(moved) + back - log_density(x) - forth).exp().clamp(max=1)
        taken = torch.rand(5, generator=g, dtype=torch.float64) < probability
        x = torch.where(taken[:, None], moved, x)
        rejected += int((~taken).sum())
        assert torch.allclose(step.x, x) and step.accepted == pytest.approx(float(probability.mean()))
    assert rejected > 0 and [step.gradients for step in steps[:3]] == [10, 5, 5]


def test_overdamped_langevin_is_euler_with_noise_of_variance_step():
    steps, g = walk(Langevin(0.1, None), 3)
    x = START
    for step in steps:
        x = x + 0.05 * slope(x) + sqrt(0.1) * normal(g)
        torch.rand(5, generator=g, dtype=torch.float64)  # drawn for an acceptance that is not asked
        assert torch.allclose(step.x, x) and step.accepted == 1.0


def test_underdamped_langevin_is_kick_drift_noise_drift_kick():
    h, friction = 0.3, 0.7
    steps, g = walk(Langevin(h, friction), 3)
    x, v = START, normal(g)
    for step in steps:
        v = v + h / 2 * slope(x)
        x = x + h / 2 * v
        v = exp(-friction * h) * v + sqrt(1 - exp(-2 * friction * h)) * normal(g)
        x = x + h / 2 * v
        v = v + h / 2 * slope(x)
        assert torch.allclose(step.x, x)


def test_metropolis_accepts_by_the_ratio_of_densities():
    steps, g = walk(Metropolis(0.8, adapt=False), 6)
    x, rejected = START, 0
    for step in steps:
        moved = x + 0.8 * normal(g)
        probability = (log_density(moved) - log_density(x)).exp().clamp(max=1)
        taken = torch.rand(5, generator=g, dtype=torch.float64) < probability
        x = torch.where(taken[:, None], moved, x)
        rejected += int((~taken).sum())
        assert torch.equal(step.x, x) and step.accepted == pytest.approx(float(probability.mean()))
    assert rejected > 0 and [step.gradients for step in steps[:3]] == [10, 5, 5]


def test_the_proposal_of_metropolis_is_shrunk_towards_the_diagonal():
    points = torch.randn(30, 3, generator=torch.Generator().manual_seed(0)).double() * torch.tensor([1.0, 2.0, 3.0])
    covariance = np.cov(points.numpy().T)
    expected = 30 / 45 * covariance + 15 / 45 * np.diag(np.diag(covariance))
    factor = _factor(points).numpy()
    np.testing.assert_allclose(factor @ factor.T, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("friction", [None, 1.5])
def test_stochastic_gradients_are_scaled_to_all_data_and_the_noise_has_its_size(friction):
    """Linear regression y = w x on minibatches: the force is n / m sum (y - w x) x / s^2 - w / r^2."""
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(12, 1, generator=g).double(), torch.randn(12, generator=g).double()
    posterior = module_posterior(nn.Linear(1, 1, bias=False).double(), (x, y), prior_std=2.0, noise=0.5)
    method, e = StochasticGradientSampler(0.01, batch=4, friction=friction), 0.01
    start = torch.tensor([[0.5], [-1.0]]).double()
    steps, g = walk(method, 3, posterior, start)
    w, v = start, torch.zeros_like(start)
    for step in steps:
        index = torch.randperm(12, generator=g)[:4]
        a, b = x[index, 0], y[index]
        force = 12 / 4 * ((b - w * a) * a).sum(1, keepdim=True) / 0.25 - w / 4
        noise = normal(g, start)
        if friction is None:
            w = w + e / 2 * force + sqrt(e) * noise
        else:
            v = (1 - e * friction) * v + e * force + sqrt(2 * friction * e) * noise
            w = w + e * v
        assert torch.allclose(step.x, w)


def test_a_path_of_hmc_is_accepted_by_its_change_of_energy():
    """H = -log p + v^T M^-1 v / 2 with M^-1 the variances; 2 h(t) L / step steps with h of van der Corput."""
    state = _HmcState(HMC(length=1.3), LogDensityWithGradient(quartic, True), START, torch.Generator().manual_seed(1))
    state.variance, state.size.now = torch.tensor([0.5, 2.0]).double(), 0.8
    assert [_halton(t) for t in (1, 2, 3, 4)] == [0.5, 0.25, 0.75, 0.125]
    x, rejected = START, 0
    for t in range(5):
        state.generator, g = torch.Generator().manual_seed(t), torch.Generator().manual_seed(t)
        probability, error = state.move(t, warm=False)
        v = normal(g) / state.variance.sqrt()
        before = (state.variance * v**2).sum(1) / 2 - log_density(x)
        z = x
        for _ in range(ceil(2 * _halton(t + 1) * 1.3 / 0.8)):
            v = v + 0.4 * slope(z)
            z = z + 0.8 * state.variance * v
            v = v + 0.4 * slope(z)
        after = (state.variance * v**2).sum(1) / 2 - log_density(z)
        assert torch.allclose(error, after - before) and torch.allclose(
            probability, (before - after).exp().clamp(max=1)
        )
        taken = torch.rand(5, generator=g, dtype=torch.float64) < probability
        rejected += int((~taken).sum())
        x = torch.where(taken[:, None], z, x)
        assert torch.allclose(state.x, x) and torch.allclose(state.value, log_density(x))
        assert torch.allclose(state.gradient, slope(x))
    assert rejected > 0


def test_variances_of_coordinates_are_learned_and_drawn_towards_a_small_unit():
    state = _HmcState(HMC(length=1.0), LogDensityWithGradient(quartic, True), START, torch.Generator().manual_seed(1))
    seen = [3 * normal(torch.Generator().manual_seed(k)) for k in range(8)]
    for k, points in enumerate(seen):
        state.x = points
        state.adapt(torch.full((5,), 0.7).double(), k, 16)  # the first window of more than four ends at a half
    used = torch.cat(seen[4:])
    assert torch.allclose(state.variance, (used.var(0) * len(used) + 0.005) / (len(used) + 5))


def test_the_step_size_follows_dual_averaging():
    size, center, gap, mean = StepSize(0.5, 0.8), log(2 * 0.5), 0.0, log(0.5)
    for t, accepted in enumerate((0.2, 0.9, 1.0, 0.6, 0.7), 1):
        size.update(accepted)
        gap = (1 - 1 / (t + 10)) * gap + (0.8 - accepted) / (t + 10)
        value = center - sqrt(t) / 0.05 * gap
        mean = t**-0.75 * value + (1 - t**-0.75) * mean
        assert size.now == pytest.approx(exp(value)) and size.average == pytest.approx(exp(mean))
    size.settle()
    assert size.now == pytest.approx(exp(mean))
    size.update(0.8)
    assert size.now == pytest.approx(2 * exp(mean))  # as asked for: it stays at the new center


def test_uncertainty_is_split_over_all_outputs():
    f = np.random.default_rng(0).standard_normal((6, 4, 3))
    found = prediction_from_outputs(torch.tensor(f), 0.3, False)
    np.testing.assert_allclose(found.epistemic, f.var(0, ddof=1).sum(1))
    np.testing.assert_allclose(found.aleatoric, np.full(4, 3 * 0.3**2))
    for logits in (f, f[:, :, :1]):
        found = prediction_from_outputs(torch.tensor(logits), 1.0, True)
        rows = logits if logits.shape[2] > 1 else np.concatenate([0 * logits, logits], 2)
        p = np.exp(rows) / np.exp(rows).sum(2, keepdims=True)
        inside = scipy.stats.entropy(p, axis=2).mean(0)
        np.testing.assert_allclose(found.mean, p.mean(0))
        np.testing.assert_allclose(found.aleatoric, inside)
        np.testing.assert_allclose(found.epistemic, scipy.stats.entropy(p.mean(0), axis=1) - inside, atol=1e-12)


def chains(length=200, rho=0.6, count=3):
    z = np.random.default_rng(0).standard_normal((count, length, 1))
    for t in range(1, length):
        z[:, t] = rho * z[:, t - 1] + sqrt(1 - rho**2) * z[:, t]
    return z


def test_draws_are_summarized_by_plain_formulas():
    values = chains()
    draws = PosteriorDraws(torch.tensor(values), "", 1.0, 0, 0, 0)
    flat = values[:, :, 0].ravel()
    assert float(draws.mean) == pytest.approx(flat.mean()) and float(draws.std) == pytest.approx(flat.std(ddof=1))
    assert float(draws.error) == pytest.approx(flat.std(ddof=1) / sqrt(float(draws.effective)))
    (ends,) = draws.interval(0.8)
    assert (ends.low, ends.high) == pytest.approx(tuple(np.quantile(flat, [0.1, 0.9])))


@pytest.mark.parametrize("length", [40, 202])
def test_the_effective_sample_size_is_that_of_geyers_sums(length):
    """Autocovariances by a double loop; chains of 64 draws or more have means of blocks of 4 for the error."""
    values = chains(length)
    block = 4 if length >= 64 else 1

    def parts(x):
        half = x.shape[1] // 2
        return np.concatenate([x[:, :half], x[:, -half:]])

    def moments(x):
        m, n = x.shape
        c = x - x.mean(1, keepdims=True)
        cov = np.array([[(c[i, k:] * c[i, : n - k]).sum() / n for k in range(n)] for i in range(m)])
        within = cov[:, 0].mean() * n / (n - 1)
        total = within * (n - 1) / n + x.mean(1).var(ddof=1)
        rho = 1 - (within - cov.mean(0) * n / (n - 1)) / total
        tau, least, k = -1.0, np.inf, 0
        while k + 1 < n and rho[k] + rho[k + 1] > 0:
            least = min(least, rho[k] + rho[k + 1])
            tau, k = tau + 2 * least, k + 2
        return total, total * max(tau, 1 / np.log10(m * n)) / (m * n)

    x = values[:, :, 0]
    blocks = x[:, length % block :].reshape(3, -1, block).mean(2)
    expected = moments(parts(x))[0] / moments(parts(blocks))[1]
    assert float(effective_sample_size(torch.tensor(values))) == pytest.approx(expected, rel=1e-9)


def test_burn_in_minimizes_the_standard_error_of_what_is_left():
    values = chains(120, 0.3, 2)
    values[1, :25, 0] += 6 * 0.9 ** np.arange(25)
    best = [min(range(61), key=lambda d, row=row: row[d:].var() / (120 - d)) for row in values[:, :, 0]]
    assert burn_in(torch.tensor(values)) == max(best) and max(best) > 5


@pytest.mark.parametrize("structure", ["full", "low rank", "diagonal"])
def test_draws_of_laplace_have_its_covariance(structure):
    """(G + d)^-1 with G = X^T X / s^2; means and covariances of 20,000 draws within five standard errors."""
    x = torch.randn(3 if structure == "low rank" else 30, 5, generator=torch.Generator().manual_seed(0)).double()
    net = nn.Linear(5, 1, bias=False).double()
    found = laplace(net, (x, x[:, 0]), prior_precision=2.0, noise=0.7, structure=structure)
    precision = (x.T @ x / 0.49 + 2 * torch.eye(5)).numpy()
    exact = np.diag(1 / np.diag(precision)) if structure == "diagonal" else np.linalg.inv(precision)
    np.testing.assert_allclose(found.variance(), np.diag(exact), rtol=1e-9)
    drawn = found.sample(20_000).values[0].numpy()
    spread = np.sqrt((np.outer(np.diag(exact), np.diag(exact)) + exact**2) / 20_000)
    assert (np.abs(np.cov(drawn.T) - exact) < 5 * spread).all()
    assert (np.abs(drawn.mean(0) - net.weight.detach().numpy()[0]) < 5 * np.sqrt(np.diag(exact) / 20_000)).all()


def test_the_record_counts_acceptances_and_gradients_of_all_steps():
    method, seen = Metropolis(0.8, adapt=False), []
    draws = sample_posterior(
        quartic, START, method=method, chains=5, draws=20, warmup=10, seed=3, progress=lambda *a: seen.append(a)
    )
    generator = torch.Generator().manual_seed(3)
    path = method.walk(LogDensityWithGradient(quartic, True), START, 10, generator)
    steps = [next(path) for _ in range(30)]
    assert torch.equal(draws.values, torch.stack([s.x for s in steps[10:]], 1))
    assert draws.accepted == pytest.approx(sum(s.accepted for s in steps[10:]) / 20)
    assert draws.gradients == 31 * 5 and draws.divergences == 0 and seen[0] == (1, 30) and seen[-1] == (30, 30)


def test_metropolis_learns_its_covariance_in_the_middle_of_the_warm_up():
    """The proposal restarts at 2.4 / sqrt(d) of the covariance of the second half of what was seen."""
    warmup = 20
    path = Metropolis(0.7).walk(LogDensityWithGradient(quartic, True), START, warmup, torch.Generator().manual_seed(3))
    steps, g = [next(path) for _ in range(26)], torch.Generator().manual_seed(3)
    x, factor, size, seen = START, torch.eye(2).double(), StepSize(0.7, 0.234), []
    for t, step in enumerate(steps):
        moved = x + size.now * (factor @ normal(g).T).T
        probability = (log_density(moved) - log_density(x)).exp().clamp(max=1)
        x = torch.where((torch.rand(5, generator=g, dtype=torch.float64) < probability)[:, None], moved, x)
        assert torch.allclose(step.x, x)
        if t < warmup:
            size.update(float(probability.mean()))
            seen.append(x)
        if t == 10:
            factor, size = _factor(torch.cat(seen[5:])), StepSize(2.4 / sqrt(2), 0.234)
        if t == warmup - 1:
            size.now = size.average
    assert steps[0].gradients == 10 and steps[1].gradients == 5


def test_metropolis_aims_at_another_acceptance_in_one_dimension():
    start = START[:, :1]
    path = Metropolis(0.7).walk(
        LogDensityWithGradient(lambda x: -x.square().sum(), True), start, 4, torch.Generator().manual_seed(3)
    )
    first, second = next(path), next(path)
    g = torch.Generator().manual_seed(3)
    normal(g, start), torch.rand(5, generator=g, dtype=torch.float64)
    size = StepSize(0.7, 0.44)
    size.update(first.accepted)
    moved = first.x + size.now * normal(g, start)
    assert second.accepted == pytest.approx(float((first.x.square() - moved.square()).exp().clamp(max=1).mean()))


def test_few_points_leave_the_proposal_of_metropolis_as_it_is():
    """One chain and two coordinates: 11 draws are more than 4 d, 7 are not."""
    for warmup, restarts in ((12, False), (20, True)):
        path = Metropolis(0.7).walk(
            LogDensityWithGradient(quartic, True), START[:1], warmup, torch.Generator().manual_seed(3)
        )
        steps, g, size, x = (
            [next(path) for _ in range(14)],
            torch.Generator().manual_seed(3),
            StepSize(0.7, 0.234),
            START[:1],
        )
        agree = []
        for step in steps[:12]:
            moved = x + size.now * normal(g, x)
            probability = (log_density(moved) - log_density(x)).exp().clamp(max=1)
            agree.append(step.accepted == pytest.approx(float(probability)))
            x = torch.where((torch.rand(1, generator=g, dtype=torch.float64) < probability)[:, None], moved, x)
            size.update(float(probability))
        assert all(agree[:11]) and agree[11] != restarts


def test_a_step_size_restarts_around_another_step():
    size = StepSize(0.5, 0.8)
    size.update(0.3)
    size.restart(3.0)
    assert size.now == 3.0 and size.average == pytest.approx(3.0)
    size.update(0.8)
    assert size.now == pytest.approx(6.0)


def spread_chains(length, gap=0.0):
    values = np.random.default_rng(0).standard_normal((4, length, 2))
    values[0, :, 1] += gap
    return PosteriorDraws(torch.tensor(values), "", 1.0, 0, 0, 0)


def test_draws_have_converged_if_every_coordinate_has():
    assert spread_chains(600).converged
    apart = spread_chains(600, gap=1.0)
    assert float(apart.r_hat[0]) < 1.01 < float(apart.r_hat[1])
    assert not apart.converged and apart.findings[0].where == "x[1]"
    few = spread_chains(60)
    assert float(few.effective.min()) < 400 and not few.converged


@pytest.mark.parametrize(("rho", "converged"), [(0.0, True), (0.9, False)])
def test_draws_need_four_hundred_effective_ones(rho, converged):
    """480 independent draws suffice; 2,000 correlated ones are worth about 100."""
    draws = PosteriorDraws(torch.tensor(chains(600 if rho == 0 else 500, rho, 4)), "", 1.0, 0, 0, 0)
    assert draws.converged == converged


@pytest.mark.parametrize(("divergences", "level"), [(19, "WARNING"), (21, "PROBLEM")])
def test_divergences_are_severe_from_one_percent_on(divergences, level):
    values = torch.tensor(chains(500, 0.0, 4))
    (found,) = (f for f in PosteriorDraws(values, "", 1.0, divergences, 0, 0).findings if f.kind == "divergent-paths")
    assert found.level.name == level and found.evidence[0].value == pytest.approx(divergences / 2000)


def test_an_effective_sample_size_is_at_most_n_times_log10_n():
    """Alternating draws estimate their mean better than independent ones; tau is bounded below by 1 / log10(m n)."""
    z = torch.tensor(np.random.default_rng(0).standard_normal((2, 40, 1)))
    z[:, 1::2] = -z[:, ::2] + 0.01 * z[:, 1::2]
    assert float(effective_sample_size(z)) == pytest.approx(80 * np.log10(80))


def test_r_hat_is_that_of_normal_scores_of_ranks_and_of_distances_from_the_median():
    for values in (
        chains(31, 0.4, 3),
        np.round(chains(40, 0.9, 3), 1),
        chains(30, 0, 3) * np.array([1.0, 1, 4])[:, None, None],
    ):

        def ratio(x):
            half = x.shape[1] // 2
            x = np.concatenate([x[:, :half], x[:, -half:]])
            ranks = scipy.stats.rankdata(x).reshape(x.shape)
            z = scipy.stats.norm.ppf((ranks - 3 / 8) / (x.size + 1 / 4))
            within, between = z.var(1, ddof=1).mean(), half * z.mean(1).var(ddof=1)
            return sqrt((within * (half - 1) / half + between / half) / within)

        x = values[:, :, 0]
        expected = max(ratio(x), ratio(np.abs(x - np.median(x))))
        assert float(r_hat(torch.tensor(values))) == pytest.approx(expected, rel=1e-12)


def test_only_four_chains_and_about_four_hundred_draws_are_drawn():
    values = torch.tensor(chains(900, 0.0, 6))
    paths, _ = PosteriorDraws(values, "", 1.0, 0, 0, 0).plots()
    assert len(paths.marks) == 4 and len(paths.marks[0].x) == 450


@pytest.mark.parametrize("count", [10, 11, 20, 21, 1])
def test_at_most_the_stated_number_of_draws_is_used_evenly_spaced(count):
    """Weights 0, 1, 2, ... of two chains: the mean output at x = 1 is the mean of those that are used."""
    net = nn.Linear(1, 1, bias=False).double()
    posterior = module_posterior(net, (torch.ones(4, 1).double(), torch.ones(4).double()), noise=1.0)
    values = torch.arange(2.0 * count).double().reshape(2, count, 1)
    draws = PosteriorDraws(values, "by hand", 1.0, 0, 0, 0)
    found = posterior_predictive(posterior, draws, torch.ones(1, 1).double(), most=20)
    used = np.arange(0, 2 * count, ceil(2 * count / 20))
    assert len(used) <= 20
    assert float(found.mean) == pytest.approx(used.mean()) and float(found.epistemic) == pytest.approx(used.var(ddof=1))


def slow_effective_size(x, block):
    """Equation (2) with sums instead of Fourier transforms, for chains (c, n)."""

    def halves(v):
        n = v.shape[1] // 2
        return np.concatenate([v[:, :n], v[:, -n:]])

    def variances(v):
        m, n = v.shape
        c = v - v.mean(1, keepdims=True)
        covariance = [np.mean([(row[: n - k] * row[k:]).sum() / n for row in c]) for k in range(n)]
        within = covariance[0] * n / (n - 1)
        total = within * (n - 1) / n + v.mean(1).var(ddof=1)
        rho = [1 - (within - r * n / (n - 1)) / total for r in covariance]
        tau, least = -1.0, np.inf
        for k in range(0, n - 1, 2):
            least = min(least, rho[k] + rho[k + 1])
            if least <= 0:
                break
            tau += 2 * least
        return total, total * max(tau, 1 / np.log10(m * n)) / (m * n)

    whole = x[:, x.shape[1] % block :]
    means = whole.reshape(len(x), -1, block).mean(2)
    return variances(halves(x))[0] / variances(halves(means))[1]


@pytest.mark.parametrize(("n", "block"), [(63, 1), (64, 4), (101, 4), (150, 4)])
def test_draws_are_averaged_in_blocks_of_four_from_64_draws_on(n, block):
    g = np.random.default_rng(n)
    x = g.normal(size=(2, n))
    for t in range(1, n):
        x[:, t] = 0.6 * x[:, t - 1] + 0.8 * x[:, t]
    found = effective_sample_size(torch.as_tensor(x)[:, :, None])
    assert float(found) == pytest.approx(slow_effective_size(x, block), rel=1e-6)
    both = effective_sample_size(torch.stack([torch.as_tensor(x), torch.ones(2, n).double()], 2))
    assert both.tolist() == pytest.approx([float(found), 0.0])


def test_a_finding_about_chains_names_the_worst_r_hat_and_the_fewest_effective_draws():
    g = torch.Generator().manual_seed(0)
    values = torch.randn(2, 100, 3, generator=g).double()
    values[1, :, 1] += 5  # the chains disagree about the second coordinate
    values[:, :, 2] = values[:, :, 2].cumsum(1)
    (found,) = PosteriorDraws(values, "by hand", 1.0, 0, 0, 0).findings
    expected = [float(r_hat(values).max()), float(effective_sample_size(values).min())]
    assert [value.value for value in found.evidence] == pytest.approx(expected)
    assert expected[1] < 0.5 * float(effective_sample_size(values).max())


@pytest.mark.parametrize("n", [20, 21])
def test_a_chain_that_has_not_converged_loses_at_most_half_of_its_draws(n):
    trend = torch.arange(float(n)).double()[None, :, None]
    assert burn_in(trend) == n // 2 and burn_in(torch.cat([torch.zeros(1, n, 1).double(), trend])) == n // 2


@pytest.mark.parametrize(("friction", "accepted"), [(99.0, True), (101.0, False)])
def test_friction_is_below_one_over_the_step(friction, accepted):
    if accepted:
        assert StochasticGradientSampler(step=0.01, friction=friction).friction == friction
    else:
        with pytest.raises(InputError, match="friction"):
            StochasticGradientSampler(step=0.01, friction=friction)


@pytest.mark.parametrize("held", [1, 7, 10**6])
def test_squares_of_positions_do_not_depend_on_how_many_examples_are_held(held, monkeypatch):
    """The derivative of a weight sums over the positions of an example, and its square over examples."""
    monkeypatch.setattr(gauss_newton, "MAX_NUMBERS_HELD", held)
    g = torch.Generator().manual_seed(0)
    d, a = torch.randn(5, 3, 2, generator=g).double(), torch.randn(5, 3, 4, generator=g).double()
    expected = sum((d[i].T @ a[i]) ** 2 for i in range(5))
    torch.testing.assert_close(gauss_newton._square(d, a), expected)
