"""Ranking before training."""

import math

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Interval
from gnomon.examination import rank
from gnomon.examination.rank import Candidate, Ranking
from gnomon.examination.short_run import ShortRun, extrapolate_error, extrapolate_gap
from gnomon.training import Adam
from tests.examination.patients import cnn, data, perceptron

TRAIN, _ = data(150, 50)


def test_what_suits_images_comes_first():
    def flat():
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

    def silent():
        return nn.Sequential(nn.Flatten(), *perceptron(40, gain=0.5))

    ranking = rank({"silent": silent, "line": flat, "cnn": cnn}, TRAIN, optimizer=Adam(5e-3), steps=160)
    assert ranking.names[-1] == "silent" and not ranking.candidates[-1].trainable
    assert "nearly the same for all examples" in ranking.candidates[-1].reason
    assert ranking.names[0] in ("cnn", "line") and ranking.candidates[0].score > 0.7
    assert ranking.candidates[0].short_run.steps == 80 and ranking.candidates[0].short_run.last < 0.5


@pytest.mark.parametrize(
    "last, half, steps, wanted", [(0.2, 0.4, 200, 0.1), (0.2, 0.4, 100, 0.2), (0.3, 0.2, 400, 0.3)]
)
def test_the_error_continues_a_power_law_and_never_rises(last, half, steps, wanted):
    """e ~ 1 / s: halved from 50 to 100 steps, so it is halved again by 200."""
    assert extrapolate_error(last, half, 100, steps) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "last, half, wanted", [(0.1, 0.08, 0.125), (0.1, 0.01, 0.2), (0.1, 0.2, 0.1), (-0.1, 0.0, -0.1)]
)
def test_the_gap_grows_and_never_faster_than_the_steps(last, half, wanted):
    assert extrapolate_gap(last, half, 100, 200) == pytest.approx(wanted)
    assert extrapolate_gap(last, half, 100, 100) == last


def test_learning_by_heart_is_told_from_learning_slowly():
    """Both are wrong on 20 % of the examples left out, and one of them on none of its own."""
    heart = ShortRun(0.2, 0.2, 0.1, 0.0, 1.0, 100, False)
    slow = ShortRun(0.4, 0.2, 0.4, 0.2, 1.0, 100, False)
    halfway = [(0.2 * 0.4) ** 0.5, (0.2 * 0.1) ** 0.5]  # between staying there and going on to 0.4 and to 0.1
    assert [heart.after(200), slow.after(200)] == pytest.approx(halfway) and heart.after(100) == pytest.approx(0.2)


def test_regression_is_ranked_by_the_variance_that_is_left():
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    networks = {"line": nn.Linear(3, 1), "deep": lambda: perceptron(2, 32, nn.ReLU, 2**0.5, 3, 1)}
    ranking = rank(networks, (x, x[:, 0].square()), optimizer=Adam(1e-2), steps=400)
    assert ranking.names == ("deep", "line") and 0.3 < ranking.candidates[0].score <= 1


def test_nothing_to_rank_is_told():
    with pytest.raises(gnomon.InputError, match="Pass at least one"):
        rank({}, TRAIN)


def test_candidates_beyond_the_budget_are_named():
    """On a clock that moves a second at each look, to measure the cost and take a step is 11 s: two fit in 20 s."""
    begun, clock = [], FakeClock(1.0)
    networks = dict.fromkeys("abcd", cnn)
    ranking = rank(networks, TRAIN, examples=20, budget=20.0, progress=lambda *told: begun.append(told), clock=clock)
    assert begun == [("a", 0, 4), ("b", 1, 4)] and set(ranking.names) == {"a", "b"} and ranking.unranked == ("c", "d")
    assert clock.now <= 1.15 * 20 + 5


def test_the_first_is_judged_and_the_others_are_told():
    ranking = rank({"a": cnn, "b": cnn}, TRAIN, examples=20, budget=1e-9)
    assert ranking.names == ("a",) and ranking.unranked == ("b",) == tuple(ranking.to_dict()["unranked"])
    assert "not ranked because the time ran out: b" in str(ranking)
    assert rank({"a": cnn, "b": cnn}, TRAIN, examples=20).unranked == ()
    with pytest.raises(gnomon.InputError, match="budget must be .* but it is 0"):
        rank({"a": cnn}, TRAIN, budget=0)


def test_the_front_door_has_it():
    assert gnomon.rank is rank


def test_ctrl_c_ends_with_those_that_were_judged():
    x = torch.randn(80, 2, generator=torch.Generator().manual_seed(0))
    data = (x, (x[:, 0] > 0).long())

    class Stopped(nn.Linear):
        def forward(self, x):
            if self.training and len(x) > 2:  # two examples are a look at the module, more are a training step
                raise KeyboardInterrupt
            return super().forward(x)

    found = rank({"one": nn.Linear(2, 2), "two": Stopped(2, 2), "three": nn.Linear(2, 2)}, data, steps=20)
    assert found.names == ("one",) and found.unranked == ("two", "three")
    with pytest.raises(KeyboardInterrupt):
        rank({"two": Stopped(2, 2)}, data, steps=20)


def candidate(name, score, last, half, held=400):
    run = ShortRun(half, last, half, last, 1.0, 100, False, held=held)
    deviation = run.deviation(200)
    return Candidate(
        name, score, 0.0, 1.0, True, run, "", Interval(score - 0.1, min(score + 0.1, 1.0), 0.95), deviation
    )


def test_candidates_that_differ_by_less_than_their_uncertainty_are_equal():
    near = Ranking((candidate("a", 0.92, 0.1, 0.15), candidate("b", 0.91, 0.11, 0.16)), 500)
    assert near.equal_to_best == ("a", "b") and "a and b are equal" in near.verdict
    assert "equal within these intervals: a, b" in str(near)
    far = Ranking((candidate("a", 0.95, 0.05, 0.05), candidate("b", 0.6, 0.4, 0.4)), 500)
    assert far.equal_to_best == ("a",) and far.verdict.startswith("a should do best")


def test_the_interval_shrinks_with_held_out_examples_and_grows_with_the_extrapolation():
    few, many = (ShortRun(0.2, 0.2, 0.2, 0.2, 1.0, 100, False, held=n) for n in (50, 5000))
    assert few.deviation(100) == pytest.approx(10 * many.deviation(100))  # 1 / sqrt(n)
    falling = ShortRun(0.4, 0.2, 0.4, 0.2, 1.0, 100, False, held=10**9)
    assert falling.deviation(200) == pytest.approx(math.log(2) / 12**0.5, rel=1e-3)  # uniform between 0.2 and 0.1
    assert 0 < ShortRun(0.1, 0.0, 0.0, 0.0, 1.0, 100, False, held=100).deviation(200) < 3  # no error seen


def test_networks_that_are_the_same_are_ranked_as_equal():
    flat = lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10))  # noqa: E731
    ranking = rank({"one": flat, "other": flat}, TRAIN, optimizer=Adam(5e-3), steps=80)
    assert set(ranking.equal_to_best) == {"one", "other"}
    assert all(c.interval.low <= c.score <= c.interval.high for c in ranking.candidates)
