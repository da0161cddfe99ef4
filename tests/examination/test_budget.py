"""Budgets hold for networks of any cost: a clock that moves only when the network computes."""

from functools import partial

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Finding, Level
from gnomon.data import digits
from gnomon.examination import examine, rank
from gnomon.examination.cost import choose_threads, with_one_thread
from gnomon.examination.run import LARGEST_SHARE, _share
from gnomon.examination.step import AbstractStep, OutOfTime, StepContext, StepProducts
from gnomon.examination.steps.split import SplitStep
from gnomon.examination.subject import build_subject
from gnomon.findings import network, training
from gnomon.training import SGD

SPLIT = digits(400, 200)
TRAIN, TEST = (SPLIT.x, SPLIT.y), (SPLIT.x_test, SPLIT.y_test)


class Worked:
    """A clock that tells how long a network has computed; copies of the network share it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def __deepcopy__(self, memo):
        return self


class Metered(nn.Module):
    """A perceptron that takes so many seconds for each example, and three times that with its gradient."""

    def __init__(self, clock, each):
        super().__init__()
        self.clock, self.each = clock, each
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x):
        self.clock.now += self.each * len(x) * (3 if torch.is_grad_enabled() else 1)
        return self.layers(x)


FULL = pytest.mark.full
COSTS = [(0.003, 10), (0.03, 10), (0.03, 60), (0.3, 10), (0.3, 60), *(
    pytest.param(each, budget, marks=FULL) for each, budget in ((1e-4, 10), (1e-4, 60), (0.003, 60))
)]  # fmt: skip


@pytest.mark.parametrize("each, budget", COSTS)
def test_an_examination_ends_in_its_time(each, budget):
    """0.3 s for an example is a transformer of 50 million parameters on one core."""
    clock = Worked()
    torch.manual_seed(0)
    result = examine(Metered(clock, each), TRAIN, TEST, budget=float(budget), fit=True, clock=clock)
    spent = {s.key: s.seconds for s in result.sections}
    assert clock.now <= 1.15 * budget + 5, spent
    assert not result.problems and not [s.answer for s in result.sections if s.state == "failed"]


def test_an_explosion_is_looked_for_within_the_time():
    clock = Worked()
    result = examine(Metered(clock, 0.03), TRAIN, TEST, optimizer=SGD(1e6), budget=20.0, fit=True, clock=clock)
    assert clock.now <= 1.15 * 20 + 5 and not result.healthy
    assert result.findings[0].kind in ("learning-rate-too-large", "exploding-loss", "training-diverged")


def test_a_ranking_ends_in_its_time():
    """Each candidate has its share of what is left; a dear one at the beginning takes nothing from the others."""
    clock = Worked()
    costs = {"dear": 0.05, "cheap": 1e-4, "also cheap": 1e-4}
    networks = {name: Metered(clock, each) for name, each in costs.items()}
    ranking = rank(networks, TRAIN, steps=400, budget=30.0, clock=clock)
    steps = {c.name: c.short_run.steps for c in ranking.candidates}
    assert clock.now <= 1.15 * 30 + 5 and not ranking.unranked
    assert steps["cheap"] == steps["also cheap"] == 200 and 0 < steps["dear"] < 200


class _Faster:
    """A clock on which a second passes in a time that falls with torch's threads, as the power says."""

    def __init__(self, power):
        self.now, self.power = 0.0, power

    def __call__(self):
        self.now += torch.get_num_threads() ** -self.power
        return self.now


@pytest.mark.parametrize("power, threads", [(1.0, 2), (0.2, 1), (-3.0, 1)], ids=["idle", "hardly faster", "busy"])
def test_several_threads_are_used_where_they_are_faster(power, threads):
    network = build_subject(nn.Linear(2, 1), (torch.randn(40, 2), torch.randn(40)), None, seed=0)
    with with_one_thread():
        assert choose_threads(network, _Faster(power), 1e6, 2) == threads
        clock = _Faster(power)
        assert choose_threads(network, clock, 60.0, 2) == 1  # a pass takes a second: no time to try
        assert clock.now == 4.0 and torch.get_num_threads() == 1  # two passes with one thread, none with two


def test_the_number_of_threads_is_left_as_it_was():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with with_one_thread() as threads:
            assert threads == 2 and torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_train_and_test_are_not_compared_where_the_machine_is_too_slow_for_it():
    """At a hundredth of the speed that would take a minute or more; with time it is done."""
    data, others = (torch.randn(200, 5), torch.arange(200) % 2), (torch.randn(200, 5), torch.arange(200) % 2)
    network = build_subject(nn.Linear(5, 2), data, others, seed=0)
    with pytest.raises(OutOfTime, match="Comparing train with test would take about 70 s"):
        SplitStep().run(network, StepProducts(), StepContext(0, 3.0, False, FakeClock(2.0)))
    assert SplitStep().run(network, StepProducts(), StepContext(0, 1e4, False, FakeClock(2.0))).product.leaks.exact == 0


class _Ended(AbstractStep):
    """A step that comes first once there is a problem that has a fix."""

    key, title, question, share = "ended", "Ended", "How much time?", 0.1
    gives = float

    def comes_first(self, findings, facts):
        return any(finding.level is Level.PROBLEM for finding in findings)

    def run(self, subject, products, context):
        raise NotImplementedError


class _Later(_Ended):
    key, gives, share = "later", bytes, 0.3

    def comes_first(self, findings, facts):
        return False


def test_a_step_that_comes_first_gets_most_of_the_time_only_after_a_problem():
    problem, warning = Finding(network.DEAD_LAYER), Finding(training.OVERFIT)
    share = partial(_share, _Ended(), [_Later()], None, StepProducts(), fit=True)
    assert share([problem], {}) == LARGEST_SHARE
    assert share([warning], {}) == pytest.approx(0.1 / 0.4) == share([], {})
    # an earlier step leaves as much as before to one that may come first
    assert _share(_Later(), [_Ended()], None, StepProducts(), [problem], {}, fit=True) == pytest.approx(0.3 / 0.4)
