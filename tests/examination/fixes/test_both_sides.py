"""Changes of fixes do what they say, and the search for a repair has its limits with a case on each side."""

from math import exp
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.inputs.source import data_source
from gnomon.core.results import Finding, Interval
from gnomon.examination.fixes import candidates, held_out_inputs, prove, repairs
from gnomon.examination.fixes.descent import higher_rate, lower_rate
from gnomon.examination.fixes.design import add_biases
from gnomon.examination.fixes.operations import _Scores, _Softer
from gnomon.examination.fixes.prove import FixTrialBudget
from gnomon.examination.fixes.search import Repairs
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix, TriedFixes
from gnomon.examination.subject import build_subject
from gnomon.findings import data as data_kinds
from gnomon.findings import training as training_kinds
from gnomon.training import SGD
from gnomon.training.plan import BatchPlan

FINDING = Finding(data_kinds.DRIFTED_COLUMNS)


def planned(net, data, **changes):
    """A subject and a trial of its training."""
    subject = build_subject(net, data, None, seed=0)
    known = {"optimizer": SGD(0.1), "batches": BatchPlan(2), "steps": 8} | changes
    return subject, TrialRun(net, subject.train, data_source(data), subject.loss, **known)


@pytest.mark.parametrize("code, function", [*held_out_inputs.IMAGE_CHANGES, *held_out_inputs.SEQUENCE_CHANGES])
def test_changes_of_images_and_sequences_do_what_their_code_says(code, function):
    x = torch.arange(2.0 * 3 * 4 * 4).reshape(2, 3, 4, 4)
    assert torch.equal(function(x), eval(code)) and not torch.equal(function(x), x)


@pytest.mark.parametrize(("by", "unusual"), [(0.19, False), (0.21, True), (-0.19, False), (-0.21, True)])
def test_inputs_are_unusual_by_a_mean_of_a_tenth_or_a_fifth_of_the_log_of_their_deviation(by, unusual):
    """Six numbers, whose deviation with the divisor five is one."""
    x = torch.tensor([[-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]) * (5 / 6) ** 0.5
    scaled = SimpleNamespace(probe=SimpleNamespace(x=x * exp(by)))
    assert candidates._has_unusual_inputs(scaled, None) is unusual
    moved = SimpleNamespace(probe=SimpleNamespace(x=x + by / 2))
    assert candidates._has_unusual_inputs(moved, None) is unusual


def test_a_rate_that_a_finding_names_is_tried_between_the_usual_ones():
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), optimizer=SGD(0.1))
    named = Finding(data_kinds.DRIFTED_COLUMNS, values={"other": 0.35})
    assert [c.trial.optimizer.lr for c in higher_rate(trial, named, None)] == pytest.approx([0.35, 1, 10, 100, 1000])
    lower = Finding(data_kinds.DRIFTED_COLUMNS, values={"other": 0.035})
    assert [c.trial.optimizer.lr for c in higher_rate(trial, lower, None)] == pytest.approx([1, 10, 100, 1000])
    assert [c.trial.optimizer.lr for c in lower_rate(trial, lower, None)] == pytest.approx([0.035, 0.01, 1e-3, 1e-4])


def test_added_biases_are_uniform_up_to_one_over_the_root_of_the_inputs():
    _, trial = planned(nn.Linear(16, 3, bias=False), (torch.ones(4, 16), torch.ones(4, 3)))
    (change,) = add_biases(trial, FINDING, None)
    drawn = 2 * torch.rand(3, generator=torch.Generator().manual_seed(0)) - 1
    assert torch.allclose(change.trial.module.bias, drawn / 4)


def test_scores_of_a_saturated_softmax_are_measured_along_its_axis():
    """Along the last axis the largest weights are 0.98, and along the one before them 0.5."""
    scores = torch.tensor([[[4.0, 0.0], [4.0, 0.0]]])
    for x, saturated in ((scores, True), (scores.mT, False)):
        seen = _Scores()
        seen(None, 3, lambda x: x.softmax(-1), (x,), {})
        assert seen.calls == 4 and seen.sizes == ({3: pytest.approx((4 * 4 / 3) ** 0.5)} if saturated else {})
    small = _Scores()
    small(None, 0, lambda x, dim: x.softmax(dim), (torch.tensor([[2.0, 0.0]]), 1), {})
    assert small.sizes == {0: pytest.approx(2**0.5)}
    assert torch.allclose(_Softer({2: 4.0})(None, 2, torch.softmax, (scores, 2), {}), (scores / 4).softmax(2))


def test_the_difference_of_two_seeds_widens_an_interval():
    found = prove.combine_seeds(Interval(0.1, 0.3, 0.9), (0.1, 0.4))
    half = (0.1**2 + (1.96 * 0.15) ** 2) ** 0.5
    assert (found.low, found.high, found.confidence) == pytest.approx((0.25 - half, 0.25 + half, 0.9), rel=1e-4)


@pytest.mark.parametrize(
    ("proven", "after", "taken"),
    [(None, 0.7, True), (0.7, 0.759, False), (0.7, 0.761, True)],
)
def test_a_repair_beats_the_fixes_that_helped_by_six_points(proven, after, taken, monkeypatch):
    """The repair gets four fifths of the time; the others are kept under the symptom."""

    def one(fix, after, low=0.3):
        return TriedFix("k", fix, fix, "", 0.2, after, Interval(low, 0.9, 0.95), "accuracy", 500, 400)

    subject, trial = planned(nn.Linear(1, 2), (torch.ones(9, 1), torch.arange(9) % 2))
    given = []
    monkeypatch.setattr(repairs, "has_poor_results", lambda *_, **__: True)
    monkeypatch.setattr(repairs, "repeat_with_second_seed", lambda subject, best, budget, seed: best)

    def search(subject, asked, trial, run, budget, *, seed):
        given.append(budget.left)
        return Repairs((one("higher-rate", after), one("use-adam", 0.3, low=-0.1)), 1)

    monkeypatch.setattr(repairs, "search_repairs", search)
    known = TriedFixes(() if proven is None else (one("usual-loss", proven),))
    symptom = Finding(training_kinds.OVERFIT)
    found, findings = repairs.add_repairs(
        subject, known, (trial, None), symptom, FixTrialBudget(10.0, 0.1, lambda: 0.0), seed=0, explained=False
    )
    assert given == [pytest.approx(8.0)] and bool(findings) is taken
    assert [t.fix for t in found.tried[len(known.tried) :]] == (["higher-rate", "use-adam"] if taken else [])
    assert [t.kind for t in found.tried[len(known.tried) :]] == (["k", symptom.kind] if taken else [])
