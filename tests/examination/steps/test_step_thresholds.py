"""Thresholds and numbers of single steps and of proven fixes, by hand and on both sides."""

from dataclasses import replace
from math import log
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.results import Interval
from gnomon.core.results.plot import Bars
from gnomon.examination.fixes import prove
from gnomon.examination.fixes.score import _loss_of, gain_interval
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix
from gnomon.examination.pictures import layer_path_and_class
from gnomon.examination.positions import _effect_of_context
from gnomon.examination.steps import curvature, margins, regime, samples
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.kernel import KernelStep
from gnomon.examination.steps.regime import RegimeStep
from gnomon.examination.steps.samples import DrawnSamples, SamplesStep
from gnomon.examination.subject import Examples, build_subject
from gnomon.training import SGD, Adam, train
from gnomon.training.plan import BatchPlan
from tests.examination.steps.setting import answered


def by_id(content):
    return {value.id: value.value for value in content.values}


@pytest.mark.parametrize(
    ("sharpness", "words"),
    [(-1.0, "no positive curvature"), (3.19, "80% of the limit"), (3.21, "about as much"), (4.99, "about as much"),
     (5.01, "1.3 times what")],
)  # fmt: skip
def test_sharpness_is_compared_with_the_limit_of_the_rate(sharpness, words):
    """2 (1 + 0.5) / 0.75 = 4: the edge begins at 0.8 of it, and ends at 4 / 0.8."""
    assert words in curvature._answer(sharpness, SGD(0.75, momentum=0.5), trained=True)
    assert "below 0.5 (" in curvature._answer(4.0, None, trained=False)


def test_the_effect_of_context_compares_first_and_last_third():
    assert _effect_of_context([10.0, 1.0, 9.4]).startswith("The perplexity falls along the sequence (from 10 to 9.4)")
    assert _effect_of_context([10.0, 1.0, 9.6]).startswith("The perplexity does not fall")
    long = [float("nan"), 12.0, 8.0, 1.0, 1.0, 99.0, 7.0, 9.0]  # seven numbers: two are a third
    assert _effect_of_context(long).startswith("The perplexity falls along the sequence (from 10 to 8)")


def test_the_interval_of_a_gain_has_the_form_of_its_equation():
    right, wrong = torch.ones(7), torch.zeros(7)
    some = torch.tensor([1.0, 0, 0, 0, 0, 0, 0])
    for before, after, better, worse in ((right, right - some, 0, 1), (wrong, some, 1, 0), (right, wrong, 0, 7)):
        b, w, n = better + 0.5, worse + 0.5, 9
        center, half = (b - w) / n, 1.96 * ((b + w) - (b - w) ** 2 / n) ** 0.5 / n
        found = gain_interval(before, after)
        assert found.low == pytest.approx(max(-1, center - half), abs=1e-4)
        assert found.high == pytest.approx(min(1, center + half), abs=1e-4)
    numbers = gain_interval(torch.zeros(4), torch.tensor([1.0, 2.0, 3.0, 6.0]))  # mean 3, variance 14 / 3
    assert (numbers.high - 3, 3 - numbers.low) == pytest.approx((1.96 * (14 / 3 / 4) ** 0.5,) * 2, rel=1e-4)
    assert gain_interval(torch.zeros(1), torch.full((1,), 0.5)).high == float("inf")


@pytest.mark.parametrize(
    ("before", "gain", "unit", "proven"),
    [(0.5, 0.019, "accuracy", False), (0.5, 0.021, "accuracy", True), (10.0, 0.19, "loss", False),
     (10.0, 0.21, "loss", True), (-10.0, 0.19, "loss", False), (-10.0, 0.21, "loss", True)],
)  # fmt: skip
def test_a_gain_must_be_two_points_or_two_percent_of_a_loss(before, gain, unit, proven):
    for low, sure in ((0.001, True), (-0.001, False)):
        one = TriedFix("k", "i", "w", "", before, before + gain, Interval(low, 1.0, 0.95), unit, 300, 100)
        assert one.is_proven is (proven and sure)


def _early(monkeypatch, *, high=0.1, steps=160, proven=True, stops=False):
    """The result of `_early` for a fix with this interval of the gain, and the steps of the runs that it made."""
    found = TriedFix("k", "i", "w", "", 0.5, 0.5, Interval(-0.1, high, 0.95), "accuracy", 300, steps)
    better = TriedFix("k", "i", "w", "", 0.5, 0.9, Interval(0.3 if proven else -0.1, 0.5, 0.95), "accuracy", 300, 20)
    subject = build_subject(nn.Linear(2, 2), (torch.zeros(9, 2), torch.arange(9) % 2), None, seed=0)
    trial = TrialRun(subject.module, subject.train, subject.train, subject.loss, Adam(), BatchPlan(4), steps)
    made = []
    monkeypatch.setattr(prove, "run_trial", lambda t, budget, seed: None if stops else made.append(t.steps) or "run")
    return prove._early(found, lambda trials, runs: better, (trial, trial), None, 0), made


def test_runs_are_compared_after_an_eighth_of_the_steps(monkeypatch):
    early, made = _early(monkeypatch)
    assert made == [20, 20] and early.after == 0.9 and "After 160 steps" in early.later
    for options in ({"high": -0.01}, {"steps": 159}):  # significantly worse; 19 steps are too few
        early, made = _early(monkeypatch, **options)
        assert made == [] and early.after == 0.5
    assert _early(monkeypatch, high=0.01)[1] == [20, 20]
    assert _early(monkeypatch, proven=False)[0].after == 0.5 and _early(monkeypatch, stops=True)[0].after == 0.5


def test_the_loss_of_examples_is_the_cross_entropy_of_their_classes():
    net = nn.Linear(1, 3)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.copy_(torch.tensor([5.0, 2.0, 3.0]).log())
    subject = build_subject(net, (torch.ones(9, 1), torch.arange(9) % 3), None, seed=0)
    found = _loss_of(subject, net, Examples(torch.ones(2, 1), torch.tensor([0, 1])))
    assert found == pytest.approx(-(log(0.5) + log(0.2)) / 2)


def test_the_five_largest_parameters_are_listed():
    net = nn.Sequential(*(nn.Linear(k, k + 1) for k in range(2, 6)), nn.Linear(6, 1))
    content = answered(ArchitectureStep, net, (torch.zeros(20, 2), torch.zeros(20, 1))).content
    sizes = {name: p.numel() for name, p in net.named_parameters()}
    wanted = sorted(sizes, key=lambda name: -sizes[name])[:5]
    listed = {value.id: value.value for value in content.values if value.id.startswith("parameters-of-")}
    assert listed == {f"parameters-of-{name}": sizes[name] for name in wanted} and len(listed) == 5
    assert by_id(content)["parameters"] == sum(sizes.values())


def test_layers_are_named_by_path_and_class_in_the_plot_of_their_changes():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.randn(30, 3)
    data = x, x[:, :1]
    run = train(net, data, optimizer=SGD(0.5), steps=20)
    found = answered(KernelStep, net, data)
    result = answered(RegimeStep, net, data, (run, found.product))
    (bars,) = (mark for plot in result.content.plots for mark in plot.marks if isinstance(mark, Bars))
    assert list(bars.labels) == [layer_path_and_class(name, net.get_submodule(name)) for name in ("0", "1", "2")]
    assert regime._share(3.0) == "300.0% of their size" and regime._share(3.01) == "3.01 times their size"


def test_samples_are_compared_with_training_examples():
    seen = torch.tensor([[0.0, 0.0], [3.0, 4.0], [10.0, 0.0], [10.0, 1.0], [0.0, 2.0]])
    drawn = DrawnSamples(torch.tensor([[0.0, 1.0], [6.0, 8.0]]), 3, torch.tensor([1.0, 5.0]), 9.0, 8.0)
    content = samples._content(drawn, seen, torch.tensor([0, 1]), unfinished=False)
    neighbors = torch.cdist(seen, seen).fill_diagonal_(99).min(1).values.median()
    assert by_id(content) == pytest.approx({
        "sample-distance": float(drawn.distances.median()), "training-distance": float(neighbors),
        "sample-spread": 9.0, "training-spread": 8.0,
    })  # fmt: skip
    for spread, wanted, good in ((3.9, 8.0, False), (4.1, 8.0, True), (0.0, 0.0, True)):
        few = DrawnSamples(drawn.samples, 3, torch.ones(2), spread, wanted)
        found = samples._content(few, seen, torch.tensor([0, 1]), unfinished=False)
        assert found.good_news is good and bool(found.findings) is not good
        assert samples._content(few, seen, torch.tensor([0, 1]), unfinished=True).findings == ()
    shown = samples._exhibit(1, torch.arange(15.0), torch.arange(15.0), 2.0)
    assert shown.hidden == 3 and len(shown.features) == 12
    assert samples._exhibit(1, torch.arange(12.0), torch.arange(12.0), 2.0).hidden == 0


class _Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(3, 2), nn.Linear(2, 3)

    def forward(self, x):
        code = self.encode(x)
        return self.decode(code + torch.randn_like(code))


def test_the_nearest_training_example_is_that_of_each_sample():
    torch.manual_seed(0)
    net, x = _Decoder(), torch.randn(20, 3)
    run = train(net, (x, x), optimizer=SGD(1e-9), steps=1)
    product = answered(SamplesStep, net, (x, x), (run,)).product
    wanted = torch.cdist(product.samples.double(), x.double()).min(1).values
    assert product.samples.shape == (12, 3) and torch.allclose(product.distances, wanted)
    assert product.data_spread == pytest.approx(float(torch.pdist(x).median()), rel=1e-5)


def test_unrelated_labels_are_left_open_if_the_inputs_hint_at_a_relation():
    """A p-value below 0.05 for the inputs is a doubt; without inputs that can be compared, there is none."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    x, y = torch.randn(300, 4), torch.randint(2, (300,))
    product = answered(KernelStep, net, (x, y)).product
    subject = build_subject(net, (x, y), None, seed=0)
    for p, unsure in ((None, False), (0.06, False), (0.04, True)):
        inputs = None if p is None else SimpleNamespace(p_value=p, related=False)
        labels = replace(product.labels, p_value=0.5)
        found = KernelStep()._result(subject, replace(product, inputs=inputs, labels=labels))
        assert (found.state == "unsure") is unsure and bool(found.content.findings) is not unsure


def _decided(**known):
    """Facts of a run with these measurements; the interval of the accuracy is 0.7 to 0.8."""
    values = {"explained": None, "test_loss": 1.0, "test_accuracy": 0.75, "diverges": False, "guess": 0.5,
              "simple": 0.75, "related": True, "shortage": "", "interval": (0.7, 0.8)} | known  # fmt: skip
    margin = SimpleNamespace(accuracy_interval=Interval(*values["interval"], 0.95))
    kept = {
        margins.DataSummary: SimpleNamespace(largest_class=values["guess"]),
        margins.DataChecks: SimpleNamespace(related=values["related"], simple=values["simple"]),
        margins.TrainingRun: SimpleNamespace(
            **{n: values[n] for n in ("test_loss", "test_accuracy", "diverges", "shortage")}
        ),
    }
    decisions = SimpleNamespace(margins=margin, explained=values["explained"])
    return margins._facts(decisions, SimpleNamespace(get=kept.get))


@pytest.mark.parametrize(
    ("known", "fact", "holds"),
    [({"guess": 0.69}, "labels_related", True), ({"guess": 0.71}, "labels_related", False),
     ({"explained": margins.MIN_EXPLAINED + 0.001}, "labels_related", True),
     ({"explained": margins.MIN_EXPLAINED - 0.001}, "labels_related", False),
     ({"simple": 0.79}, "does_well", True), ({"simple": 0.81}, "does_well", False),
     ({"diverges": True}, "does_well", False), ({"shortage": "too short"}, "does_well", False),
     ({"related": False}, "does_well", False),
     ({"explained": 0.81}, "good_results", True), ({"explained": 0.79}, "good_results", False),
     ({"explained": 0.81, "diverges": True}, "good_results", False),
     ({"explained": 0.81, "test_loss": None}, "good_results", False)],
)  # fmt: skip
def test_facts_about_decisions_are_decided_on_both_sides(known, fact, holds):
    assert bool(_decided(**known)[fact]) is holds
