"""Small parts of an examination by hand: time spent on measurements, thinned series, names, shares of time, regimes."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics, LayerSignal
from gnomon.checks.run.loop.facts import LoopFacts, ModelFacts, OptimizerFacts
from gnomon.core.errors import InputError
from gnomon.examination.fixes import tried
from gnomon.examination.names import check_class_names, check_probabilities, column_names
from gnomon.examination.script import report
from gnomon.examination.script.launch import ScriptEnding
from gnomon.examination.script.report import watch_report
from gnomon.examination.script.series import ThinnedSeries
from gnomon.examination.script.session import WatchSession
from gnomon.examination.step import StepContext
from gnomon.examination.steps import STEPS, optimizer, regime, signal
from gnomon.examination.subject import build_subject
from gnomon.examination.tracker import KERNEL_TIMER_NAME, SHARPNESS, ModelTracker, TimeSpent
from gnomon.tangent.laziness import Laziness

SHARES = {
    "architecture": 0.05, "data": 0.05, "wiring": 0.05, "columns": 0.03, "split": 0.01, "signal": 0.06, "kernel": 0.12,
    "stability": 0.06, "forecast": 0.06, "match": 0.06, "training": 0.6, "optimizer": 0.1, "outcome": 0.04,
    "fixes": 0.0, "regime": 0.06, "curvature": 0.06, "margins": 0.05, "examples": 0.03, "samples": 0.02,
    "importance": 0.03, "invariance": 0.05, "sequences": 0.03, "graphs": 0.02, "attribution": 0.03, "limit": 0.1,
}  # fmt: skip


def test_shares_of_the_time_are_as_intended():
    """A third for training, which all others wait for; more for none of the others than for the kernel."""
    found = {step.key: step.share for step in STEPS}
    assert found == SHARES
    assert 0.3 < found["training"] / sum(found.values()) < 0.4
    assert max(share for key, share in found.items() if key != "training") == found["kernel"]


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def test_time_is_counted_by_kind_without_inner_blocks():
    clock = Clock()
    time = TimeSpent(clock, None)
    assert (time.total, time.share) == (0.0, 0.0)
    for _ in range(2):
        with time.on("outer"):
            clock.now += 1.0
            with time.on("inner"):
                clock.now += 3.0
            clock.now += 0.5
    clock.now += 9.0
    assert time.spent == {"outer": 3.0, "inner": 6.0} and time.counts == {"outer": 2, "inner": 2}
    assert time.started == 0.0 and time.total == 9.0 and time.share == 9.0 / 18.0


@pytest.mark.parametrize(
    ("kind", "now", "allowed"),
    [
        # 4 seconds spent of each kind; 2 for a kernel, 4 for a curvature; a tenth of the other time may be spent
        (KERNEL_TIMER_NAME, 8 + 121.0, True),  # 4 + 2 of 12.1 / 2
        (KERNEL_TIMER_NAME, 8 + 119.0, False),
        (SHARPNESS, 8 + 161.0, True),  # 4 + 4 of 16.1 / 2
        (SHARPNESS, 8 + 159.0, False),
    ],
)
def test_each_kind_may_spend_half_of_the_limit(kind, now, allowed):
    spent, counts = {KERNEL_TIMER_NAME: 4.0, SHARPNESS: 4.0}, {KERNEL_TIMER_NAME: 2, SHARPNESS: 1}
    time = TimeSpent(lambda: now, 0.1, spent=spent, counts=counts, started=0.0)
    assert time.affordable(kind) is allowed
    assert TimeSpent(lambda: now, None, spent=spent, counts=counts, started=0.0).affordable(kind)
    assert TimeSpent(lambda: now, 0.1, started=0.0).affordable(kind)


@pytest.mark.parametrize(("now", "allowed"), [(2 + 161.0, True), (2 + 159.0, False)])
def test_the_first_curvature_is_expected_to_cost_eight_kernels(now, allowed):
    time = TimeSpent(lambda: now, 0.1, spent={KERNEL_TIMER_NAME: 2.0}, counts={KERNEL_TIMER_NAME: 2}, started=0.0)
    assert time.affordable(SHARPNESS) is allowed  # 8 seconds of 16.1 / 2


@pytest.mark.parametrize(("others", "allowed"), [(3.9, True), (4.1, False)])
def test_all_kinds_together_may_spend_the_limit(others, allowed):
    """One second for a kernel, and others, of a tenth of 50 seconds."""
    spent = {"other": others, KERNEL_TIMER_NAME: 0.5}
    time = TimeSpent(
        lambda: 50 + others + 0.5, 0.1, spent=spent, counts={"other": 1, KERNEL_TIMER_NAME: 1}, started=0.0
    )
    assert time.affordable(KERNEL_TIMER_NAME) is allowed


def test_a_kernel_that_doubled_has_drifted_by_one_and_not_turned():
    """f = w x has the kernel x x', 2 w x has four times that: a drift of 3, and the alignment of x x^T with y y^T."""

    class Scaled(nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.w, self.factor = nn.Parameter(torch.tensor([[2.0]])), factor

        def forward(self, x):
            return self.factor * (x @ self.w)

    x, y = torch.tensor([[1.0], [2.0], [6.0]]), torch.tensor([0.0, 1.0, 5.0])
    of = build_subject(Scaled(1.0), (x, y), None, seed=0)
    clock = Clock()
    tracker = ModelTracker(of, of.probe, products=4, time=TimeSpent(clock, None))
    first = tracker.measure(Scaled(1.0), lambda name, function: function())
    then = tracker.measure(Scaled(2.0), lambda name, function: function())
    residuals = 2 * x[:, 0] - y
    assert first["probe loss"] == pytest.approx(float(residuals.square().mean() / 2), rel=1e-5)
    assert (first["kernel drift"], first["kernel rotation"]) == (0.0, pytest.approx(0.0, abs=1e-12))
    assert then["kernel drift"] == pytest.approx(3.0) and then["kernel rotation"] == pytest.approx(0.0, abs=1e-12)
    assert first["alignment"] == then["alignment"] == pytest.approx(1.0)  # y is x - 1
    assert first["sharpness"] == pytest.approx(41 / 3, rel=1e-3) and then["sharpness"] == pytest.approx(
        4 * 41 / 3, rel=1e-3
    )
    assert tracker.time.counts == {KERNEL_TIMER_NAME: 2, SHARPNESS: 2}


def test_a_measurement_that_is_not_affordable_is_skipped_and_counted():
    of = build_subject(nn.Linear(1, 1), (torch.ones(2, 1), torch.ones(2)), None, seed=0)
    time = TimeSpent(lambda: 10.0, 0.01, spent={KERNEL_TIMER_NAME: 5.0}, counts={KERNEL_TIMER_NAME: 1}, started=0.0)
    tracker = ModelTracker(of, of.probe, products=1, time=time)
    watch = tracker.watchers()["probe loss"]
    assert watch(0, of.module, 0.0) != watch(1, of.module, 0.0)  # NaN
    assert time.skipped == 2


@pytest.mark.parametrize(("outputs", "combined"), [(32, False), (33, True)])
def test_kernels_of_more_than_thirty_two_outputs_are_those_of_one_combination(outputs, combined, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "gnomon.examination.tracker.random_combination", lambda model, *_, **__: seen.append(model) or model
    )
    varied = torch.arange(2.0)[:, None]
    of = build_subject(nn.Linear(1, outputs), (varied, varied.expand(2, outputs)), None, seed=0)
    tracker = ModelTracker(of, of.probe, products=1, time=TimeSpent(Clock(), None))
    tracker._kernel(of.module, lambda name, function: function())
    assert bool(seen) is combined


def test_a_thinned_series_doubles_its_spacing_at_the_limit():
    series = ThinnedSeries(limit=3)
    kept = []
    for step in range(8):
        series.add(10 * step, step)
        kept.append([s // 10 for s, _ in series.pairs])
    assert kept == [[0], [0, 1], [0, 1, 2], [0, 2], [0, 2, 4], [0, 2, 4], [0, 4], [0, 4]]
    assert series.count == 8 and ThinnedSeries().limit == 2000


def test_names_are_one_for_each_column_and_at_least_one_for_each_class():
    assert column_names(["a", "b"], torch.zeros(5, 2)) == ("a", "b")
    assert column_names(["a", "b", "c"], (torch.zeros(5, 2), torch.zeros(5, 1))) == ("a", "b", "c")
    for names in (["a"], ["a", "b", "c"], "ab"):
        with pytest.raises(InputError, match="an example has 2 numbers"):
            column_names(names, torch.zeros(5, 2))
    assert check_class_names(["a", "b", "c"], 2) == ("a", "b", "c") and check_class_names([], 2) == ()
    with pytest.raises(InputError, match="there are 2 classes"):
        check_class_names(["a"], 2)


@pytest.mark.parametrize(("off", "accepted"), [(0.9e-3, True), (-0.9e-3, True), (1.1e-3, False), (-1.1e-3, False)])
def test_probabilities_sum_to_one_within_a_thousandth(off, accepted):
    y = torch.tensor([[0.25, 0.75], [0.5, 0.5 + off]]).double()
    if accepted:
        check_probabilities(y, 2)
    else:
        with pytest.raises(InputError, match=f"sum to {min(1, 1 + off):g} to {max(1, 1 + off):g}"):
            check_probabilities(y, 2)
    with pytest.raises(InputError, match="one output"):
        check_probabilities(torch.ones(3, 1), 1)


@pytest.mark.parametrize(
    ("kernel", "parameters", "words"),
    [
        (0.09, 0.5, "(lazy training): the weights moved by 50.0% of their size"),
        (0.11, 2.9, "kept part of its initial features"),
        (0.49, 2.9, "moved by 290.0% of their size"),
        (0.51, 3.1, "(feature learning): the weights moved by 3.1 times their size"),
    ],
)
def test_the_regime_is_named_by_the_change_of_the_kernel(kernel, parameters, words):
    assert words in regime._answer(Laziness(parameters, kernel, 0.0, 0.0, {}))


def test_the_meter_of_the_regime_ends_at_a_hundred_or_the_next_power_of_ten():
    assert [regime._meter(change).marks[0].edges[-1] for change in (0.3, 99.0, 101.0, 5000.0)] == [
        100.0, 100.0, 1000.0, 10000.0,
    ]  # fmt: skip


def test_the_report_of_a_script_states_what_was_counted():
    facts = LoopFacts(
        steps=12, backwards=11, losses=((0, 2.0), (1, 1.0)), norms=((0, 1.0), (1, 0.0)),
        optimizers=(OptimizerFacts("SGD", steps=12, judged=10, stale=1, sampled=3, rates=((0, 0.1), (4, 0.2))),),
        models=(ModelFacts("net", validated=3), ModelFacts("other", validated=4)),
    )  # fmt: skip
    made = watch_report("a.py", facts, ending="the end", overhead=0.03, command="")
    sections = {section.key: section.content for section in made.sections}
    assert {v.id: v.value for v in sections["run"].values} == {
        "steps-taken": 12, "backward-passes": 11, "overhead": 3.0,
    }  # fmt: skip
    assert sections["run"].plots[0].y.log is True and sections["values"].plots[0].y.log is False
    assert "7 validation passes" in sections["modes"].answer
    (line,) = sections["schedule"].plots[0].marks
    assert list(line.x) == [0, 4, 4, 12] and list(line.y) == [0.1, 0.1, 0.2, 0.2]
    assert report._loss_plot(LoopFacts(losses=((0, 2.0),))) == ()
    assert report._loss_plot(LoopFacts(losses=((0, 2.0), (1, 0.0))))[0].y.log is False


@pytest.mark.parametrize(("steps", "backwards", "state"), [(9, 9, "unsure"), (10, 0, "answered"), (0, 10, "answered")])
def test_a_script_of_ten_steps_is_judged(steps, backwards, state):
    assert report._section("values", (), LoopFacts(steps=steps, backwards=backwards)).state == state


def test_processes_are_judged_if_there_are_several():
    for ranks in (1, 2):
        made = watch_report("a.py", LoopFacts(), ending="the end", overhead=0.0, command="", ranks=ranks)
        assert ("processes" in {section.key for section in made.sections}) is (ranks > 1)


@pytest.mark.parametrize(("spent", "running", "told"), [(0.5, 10.0, 5.0), (0.0, 0.0, 0.0)])
def test_the_overhead_is_the_share_of_the_running_time(spent, running, told, monkeypatch, tmp_path):
    (tmp_path / "a.py").touch()
    session = WatchSession(str(tmp_path / "a.py"))
    monkeypatch.setattr(type(session.recorder), "total_spent", spent)
    monkeypatch.setattr(type(session.recorder), "running_time", running)
    made = session.report(ScriptEnding())
    assert {v.id: v.value for v in made.sections[0].content.values}["overhead"] == told


def test_curves_of_fixes_are_accuracies_or_losses_relative_to_the_size_of_the_first():
    def run(loss, test_loss=None, accuracy=None):
        given = [None if values is None else torch.tensor(values) for values in (loss, test_loss, accuracy)]
        return SimpleNamespace(**dict(zip(("loss", "test_loss", "test_accuracy"), given, strict=True)))

    name, curves = tried._curves([run([2.0, 1.0], accuracy=[0.25, 0.5]), run([2.0, 1.0], accuracy=[0.5, 1.0])])
    assert name.startswith("share right") and curves == [[0.25, 0.5], [0.5, 1.0]]
    name, curves = tried._curves([run([4.0, 1.0]), run([9.0, 9.0], test_loss=[-2.0, -5.0], accuracy=[0.5, 1.0])])
    assert "relative to its start" in name and curves == [[1.0, 0.25], [-1.0, -2.5]]


def test_the_theory_is_drawn_at_the_layers_that_it_knows():
    layers = tuple(
        LayerSignal(name, "Linear", "nonzero", 8, 8, ForwardStatistics(size, 0.0, 0.0), BackwardStatistics(1.0, 1.0))
        for name, size in (("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0))
    )
    forwards, _ = signal._through_layers(layers, {"a": 1.5, "b": 0.0, "d": 4.5})
    measured, predicted = forwards.marks
    assert list(measured.x) == [1, 2, 3, 4] and list(measured.y) == [1.0, 2.0, 3.0, 4.0]
    assert list(predicted.x) == [1, 4] and list(predicted.y) == [1.5, 4.5]
    assert len(signal._through_layers(layers, {})[0].marks) == 1


@pytest.mark.parametrize(("batch", "steps"), [(32, 22), (40, 18)])
def test_short_runs_take_what_four_evaluations_leave(batch, steps):
    """Of 90 seconds for 900 examples, four evaluations of 128 take 4 / 3 passes: 729.3 are left for training."""
    of = build_subject(nn.Linear(1, 1), (torch.zeros(600, 1), torch.zeros(600)), None, seed=0)
    some, found = optimizer._affordable(of, batch, 0.1, StepContext(0, 100.0, True, lambda: 0.0))
    assert len(some) == 128 and found == steps
