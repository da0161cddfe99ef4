"""If the budget was too small to judge a network, it is not called healthy, and the report names a budget that suffices."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.results import Finding
from gnomon.core.results.curves import Curves
from gnomon.examination.record import Examination
from gnomon.examination.run import run_steps
from gnomon.examination.step import AbstractStep, StepContext, StepResult
from gnomon.examination.subject import build_subject
from gnomon.examination.summary import round_up_seconds
from gnomon.examination.timed import out_of_time_error
from gnomon.findings.network import FROZEN
from gnomon.report import PageContent, Section
from gnomon.training import TrainingRun
from gnomon.training.optimizers import SGD


def section(state="answered", factor=1.0, **more):
    return Section("training", "Training", "?", PageContent("."), state, time_factor=factor, **more)


def examination(*sections, budget=30.0):
    return Examination("net", sections, {}, budget=budget)


def test_training_that_was_too_short_is_neither_healthy_nor_faulty():
    result = examination(section("unsure", 4.0, if_unsure="training was too short"))
    assert result.healthy is None and result.sufficient_budget == 150.0  # 120, rounded up to 100 or 150
    assert result.to_dict()["healthy"] is None and "about 150 s would suffice" in result.verdict


def test_an_essential_question_without_time_names_the_budget():
    result = examination(section("late", 10.0, essential=True))
    assert result.healthy is None and result.sufficient_budget == 300.0


def test_enough_time_and_problems_name_no_budget():
    assert examination(section()).healthy is True and examination(section()).sufficient_budget is None
    broken = Section("a", "A", "?", PageContent(".", (Finding(FROZEN),)))
    result = examination(broken, section("unsure", 4.0))
    assert result.healthy is False and result.sufficient_budget is None


@pytest.mark.parametrize("seconds, rounded", [(1.0, 1.0), (11.0, 15.0), (15.1, 20.0), (99.0, 100.0), (420.0, 450.0)])
def test_budgets_are_rounded_up(seconds, rounded):
    assert round_up_seconds(seconds) == pytest.approx(rounded)


def test_a_step_that_needs_five_times_the_time_says_so():
    context = StepContext(0, deadline=3.0, fit=False, clock=lambda: 1.0)
    assert out_of_time_error("It", 10.0, context).time_factor == pytest.approx(5.0)
    assert out_of_time_error("It", 1e9, context).time_factor == 100.0


def run_of(losses, steps, epochs, stopped="time"):
    curves = Curves(torch.tensor(steps).double(), torch.tensor(losses, dtype=torch.float64), "squared loss")
    return TrainingRun(nn.Linear(1, 1), torch.tensor(steps), curves, {}, SGD(0.1), stopped, 1.0, epochs)


def test_the_time_factor_of_a_run_that_was_too_short():
    assert run_of([1.0, 0.9], [0, 50], 5.0).time_factor == pytest.approx(2 * 100 / 50)
    assert run_of([1.0, 0.9], [0, 200], 0.25).time_factor == pytest.approx(2 / 0.25)
    assert run_of([1.0, 0.5, 0.49], [0, 500, 1000], 9.0).time_factor == 1.0
    # the second half brings a quarter of the first one: 0.2 of 1.0, then 0.05 of 1.05
    assert run_of([2.0, 1.2, 1.0], [0, 500, 1000], 9.0).time_factor == 2.0
    assert run_of([2.0, 1.2, 1.0], [0, 500, 1000], 9.0, "finished").time_factor == 1.0


class One(AbstractStep):
    """A step that answers at once."""

    key, title, question, share, gives = "one", "First things", "?", 1.0, int

    def run(self, subject, products, context):
        return StepResult(PageContent("Yes."))


def test_each_step_has_a_line_when_it_ends_and_somebody_watches(monkeypatch, capsys):
    network = build_subject(nn.Linear(2, 1), (torch.eye(2), torch.ones(2)), None, seed=0)
    for watched in (False, True):
        monkeypatch.setattr("gnomon.examination.run.is_terminal", lambda watched=watched: watched)
        run_steps((One(),), network, end=1e9, seed=0, fit=False, progress=None, clock=lambda: 0.0)
        assert capsys.readouterr().err == ("1/1  First things: 0.0 s\n" if watched else "")


def test_the_wall_time_is_kept(monkeypatch, capsys):
    monkeypatch.setattr("gnomon.examination.run.is_terminal", lambda: True)
    result = gnomon.examine(nn.Linear(2, 1), (torch.eye(2), torch.ones(2)), budget=7, examination_steps=(One(),))
    assert result.manifest["wall time"].endswith("with imports and compilation")
    assert capsys.readouterr().err.startswith("examining the network, at most 7 s\n")
