"""Path lengths of HMC: the sums over paths, and the length that pays best, written out in numpy."""

import numpy as np
import pytest
import torch

from gnomon.bayes import HMC
from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.samplers.hmc import _HmcState, leapfrog
from gnomon.bayes.samplers.travel import TIMES, TrajectoryStatistics
from tests.bayes.test_steps_by_hand import START, log_density, normal, quartic, slope


def example(paths, d=3, seed=0):
    """Points, scales, a direction, and (time, before, after, accepted) of some paths."""
    rng = np.random.default_rng(seed)
    points, scale, main = rng.normal(size=(9, d)) * [1, 2, 3], np.array([1.5, 0.5, 2.0]), np.array([0.6, 0.0, 0.8])
    seen = [(time, rng.normal(size=(4, d)), rng.normal(size=(4, d)), rng.uniform(size=4)) for time in paths]
    travel = TrajectoryStatistics(*map(torch.tensor, (points, scale, main)))
    for time, *tensors in seen:
        travel.see(time, *map(torch.tensor, tensors))
    return points, scale, main, seen, travel


def expected_best(points, scale, main, seen, step):
    """For every length the gradients for one effective draw of the slowest statistic."""

    def statistics(x):
        z = (x - points.mean(0)) / scale
        z = np.concatenate([z @ main[:, None], z], 1)
        return np.concatenate([z, z**2], 1)

    variance = statistics(points).var(0, ddof=1)
    bins = {}
    for time, before, after, accepted in seen:
        bin_ = min(time_bin for time_bin in TIMES.tolist() if time_bin >= time)
        bins.setdefault(bin_, []).append(accepted[:, None] * (statistics(after) - statistics(before)) ** 2)
    times = sorted(bins)
    carried = np.array([np.concatenate(bins[t]).mean(0) / (2 * variance) for t in times])
    carried = np.concatenate([np.zeros((1, carried.shape[1])), np.minimum(carried, 1.98)])
    rates = []
    for k, t in enumerate(times, 1):
        mean = np.trapezoid(carried[: k + 1], [0.0, *times[:k]], axis=0) / t
        each = (2 - mean) / mean
        half = len(each) // 2
        rates.append(1 / (each[:half] + each[half:]).max() / max(t / 2 / step + 0.5, 1))
    place = int(np.argmax(rates))
    return times[place] / 2, place == len(times) - 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [0.03, 0.4, 5.0])
def test_the_best_length_is_the_one_with_the_most_effective_draws_per_gradient(seed, step):
    points, scale, main, seen, travel = example([0.1, 0.35, 0.36, 0.7, 1.1, 1.9, 4.0], seed=seed)
    length, ended = travel.best(step)
    expected = expected_best(points, scale, main, seen, step)
    assert (length, ended) == (pytest.approx(expected[0]), expected[1])


def test_the_sums_of_paths_are_kept_by_time_and_weighted_by_acceptance():
    points, scale, main, seen, travel = example([0.5, 0.5, 10_000.0])
    first = int(torch.searchsorted(TIMES, 0.5))
    assert travel._count.nonzero().flatten().tolist() == [first, len(TIMES) - 1]  # the last bin holds what is longer
    assert travel._count[first] == 8 and travel._count[-1] == 4
    total = sum((a[:, None] * (statistic(y) - statistic(x)) ** 2).sum(0) for _, x, y, a in seen[:2])
    np.testing.assert_allclose(travel._sum[first, 1], total[0], rtol=1e-12)


def statistic(x):
    """The first coordinate in its scale; the mean cancels."""
    return x[:, :1] / 1.5


def test_a_path_that_ran_away_counts_as_not_accepted():
    *_, travel = example([0.5])
    before = travel._sum.clone()
    x, away = torch.zeros(1, 3).double(), torch.full((1, 3), torch.inf).double()
    travel.see(0.5, x, away, torch.zeros(1).double())
    assert torch.equal(before, travel._sum)


def test_many_coordinates_are_thinned_evenly():
    travel = TrajectoryStatistics(torch.randn(5, 100).double(), torch.ones(100).double(), torch.ones(100).double())
    some = travel._some.tolist()
    assert len(some) == 31 and some[0] == 0 and some[-1] == 99 and set(np.diff(some)) == {3, 4}


def state(**options):
    return _HmcState(HMC(**options), LogDensityWithGradient(quartic, True), START, torch.Generator().manual_seed(1))


def test_the_first_step_is_doubled_or_halved_until_acceptance_crosses_four_fifths():
    for variance in ([0.5, 2.0], [40.0, 90.0], [1e-4, 3e-4], *([0.02 * 1.7**k, 0.01 * 1.7**k] for k in range(9))):
        found = state()
        found.variance = torch.tensor(variance).double()
        found.generator, g = torch.Generator().manual_seed(7), torch.Generator().manual_seed(7)
        before = found.gradients
        v = normal(g) / found.variance.sqrt()

        def acceptance(step, v=v, inverse=found.variance):
            half = v + step / 2 * slope(START)
            x = START + step * inverse * half
            w = half + step / 2 * slope(x)
            kinetic = [(inverse * u**2).sum(1) / 2 for u in (v, w)]
            return float((log_density(x) - kinetic[1] - log_density(START) + kinetic[0]).exp().clamp(max=1).mean())

        step = found._first_step()
        tried = round(abs(np.log2(step))) + 1
        if acceptance(1.0) > 0.8:
            assert acceptance(step / 2) > 0.8 >= acceptance(step)
        else:
            assert acceptance(2 * step) <= 0.8 < acceptance(step)
        assert found.gradients - before == 5 * tried


def test_the_leading_direction_is_the_first_principal_axis():
    points = normal(torch.Generator().manual_seed(0), torch.zeros(50, 4)) * torch.tensor([1.0, 4.0, 2.0, 0.5])
    axis = torch.linalg.eigh(points.T @ points).eigenvectors[:, -1]
    assert abs(float(state()._leading(points) @ axis)) == pytest.approx(1.0, abs=1e-9)


class Told(TrajectoryStatistics):
    """Names a best length, and remembers when it was asked and what it was shown."""

    def __init__(self, length, ended):  # nothing of what Travel holds
        self.answer, self.steps, self.seen = (length, ended), [], []

    def best(self, step):
        self.steps.append(step)
        return self.answer

    def see(self, time, before, after, accepted):
        self.seen.append((time, before, after, accepted))


@pytest.mark.parametrize(("ended", "expected"), [(False, 0.9), (True, 1.8)])
def test_a_length_that_ended_the_record_is_doubled(ended, expected):
    found = state()
    found._lengthen(Told(0.9, ended))
    assert np.exp(found.log_length) == pytest.approx(expected)


def test_a_path_has_at_most_the_allowed_steps():
    """Paths are at most 2 T long, so T is at most half of most steps."""
    found, told = state(most=6), Told(50.0, False)
    found._lengthen(told)
    assert told.steps == [found.size.average]
    assert np.exp(found.log_length) == pytest.approx(6 * found.size.average / 2)


def test_paths_of_the_warm_up_are_half_as_long_again_and_shown_step_by_step():
    found, told = state(length=1.0), Told(1.0, False)
    found.size.now, found._travel = 0.1, told
    found.move(2, warm=True)  # 2 h T / step steps with h = 0.75: 15, and 23 with a half more
    assert len(told.seen) == 23
    assert [time for time, *_ in told.seen] == pytest.approx([0.1 * (i + 1) for i in range(23)])
    found = state(length=1.0)
    found.size.now, before = 0.1, found.gradients
    found.move(2, warm=True)
    assert found.gradients - before == 15 * 5
    found._travel, before = told, found.gradients
    found.move(2, warm=False)
    assert found.gradients - before == 15 * 5 and len(told.seen) == 23


def test_the_warm_up_learns_at_its_eighth_quarter_half_and_three_quarters():
    warmup, found, changes, asked = 64, state(), [], []
    found._first_step = lambda: 0.3
    told = Told(1.0, False)
    for t in range(warmup):
        found.x = normal(torch.Generator().manual_seed(t)) * (t + 1)
        before, count = found.variance, len(told.steps)
        found.adapt(torch.full((5,), 0.7).double(), t, warmup)
        if len(told.steps) > count:
            asked.append(t)
        if found.variance is not before:
            changes.append(t + 1)
            assert found.size.now == pytest.approx(0.3)
            found._travel = told
    assert changes == [8, 16, 32, 48]
    assert asked == [10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 63]
    assert found.size.now == pytest.approx(found.size.average)


def test_a_window_with_four_draws_is_too_short_to_learn_from():
    for length, learned in ((4, False), (5, True)):
        found = state()
        for t in range(length):
            found.x = normal(torch.Generator().manual_seed(t))
            found.adapt(torch.ones(5).double(), t, 8 * length)
        assert (not torch.equal(found.variance, torch.ones(2).double())) == learned


def test_a_path_starts_as_long_as_the_first_step_or_one():
    density = LogDensityWithGradient(lambda x: -x.square().sum() / 2, True)
    assert state(length=2.5).log_length == pytest.approx(np.log(2.5))
    small = _HmcState(HMC(), density, START, torch.Generator().manual_seed(0))
    assert np.exp(small.log_length) == pytest.approx(max(1.0, small.size.now))
    wide = _HmcState(
        HMC(),
        LogDensityWithGradient(lambda x: -(x / 50).square().sum() / 2, True),
        START,
        torch.Generator().manual_seed(0),
    )
    assert wide.size.now > 8 and np.exp(wide.log_length) == pytest.approx(wide.size.now)


def test_leapfrog_of_several_steps_is_that_of_single_steps():
    density, v, inverse = (
        LogDensityWithGradient(quartic, True),
        normal(torch.Generator().manual_seed(2)),
        torch.tensor([0.5, 2.0]),
    )
    inverse = inverse.double()
    many = leapfrog(density, START, v, slope(START), 0.2, inverse, 3)
    x, w, gradient = START, v, slope(START)
    for _ in range(3):
        x, w, value, gradient = leapfrog(density, x, w, gradient, 0.2, inverse, 1)
    for found, expected in zip(many, (x, w, value, gradient), strict=True):
        assert torch.allclose(found, expected)


@pytest.mark.parametrize(("error", "divergences"), [(999.0, 0), (1001.0, 5)])
def test_a_path_counts_as_divergent_when_its_energy_is_off_by_more_than_a_thousand(error, divergences, monkeypatch):
    monkeypatch.setattr(_HmcState, "move", lambda *_, **__: (torch.ones(5), torch.full((5,), error)))
    step = next(HMC(length=1.0).walk(LogDensityWithGradient(quartic, True), START, 0, torch.Generator().manual_seed(0)))
    assert step.divergences == divergences


def test_variances_of_the_statistics_are_unbiased():
    points, scale, main, _, travel = example(())
    z = (points - points.mean(0)) / scale
    z = np.concatenate([z @ main[:, None], z], 1)
    assert travel._variance.tolist() == pytest.approx(np.concatenate([z, z**2], 1).var(0, ddof=1).tolist())


@pytest.mark.parametrize(("numbers", "draws"), [(1, 16), (17 * START.numel(), 17), (100 * START.numel() + 1, 100)])
def test_sixteen_draws_are_kept_or_as_many_as_fit(numbers, draws, monkeypatch):
    monkeypatch.setattr("gnomon.bayes.samplers.hmc.MAX_KEPT_NUMBERS", numbers)
    state = _HmcState(HMC(), LogDensityWithGradient(quartic, True), START, torch.Generator().manual_seed(1))
    assert state._seen.maxlen == draws


def test_the_first_step_is_halved_at_most_forty_times():
    found = state()
    found.variance = torch.full((2,), 2.0**100).double()  # moves of 2^50 times the step, which are too far up to 2^-50
    assert found._first_step() == 2.0**-40
