"""Numbers that single steps state, in closed form, and their limits with a case on each side."""

from math import inf, nan
from types import SimpleNamespace

import pytest
import torch
from scipy.stats import beta
from torch import nn

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.core.machine.clock import FakeClock
from gnomon.core.metrics import binomial_interval
from gnomon.core.results.plot import Bars
from gnomon.examination import training_plots
from gnomon.examination.cost import AFFORDABLE_EXAMPLE_COUNTS, StepCost
from gnomon.examination.step import StepContext, StepProducts
from gnomon.examination.steps import (
    architecture,
    attribution,
    columns,
    curvature,
    forecast,
    invariance,
    kernel,
    limit,
    optimizer,
    outcome,
    signal,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.invariance import InvarianceStep
from gnomon.examination.steps.kernel_size import KernelMethod
from gnomon.examination.subject import Examples, build_subject
from gnomon.examination.timed import OutOfTime
from gnomon.report.shown_example import draw_picture
from gnomon.symmetry.invariance import ImageInvariance, ImageMotion
from gnomon.training import SGD, Adam, train
from tests.examination.steps.setting import PROFILE


def test_the_largest_parts_are_drawn_in_their_order():
    sizes = [3, 50, 2, *range(4, 4 + architecture.SHOWN_PARTS)]
    net = nn.Sequential(*(nn.Linear(size, 1, bias=False) for size in sizes))
    (plot,) = architecture._sizes(net)
    (bars,) = (mark for mark in plot.marks if isinstance(mark, Bars))
    assert list(bars.values) == [size for size in sizes if size > 4]
    assert "3 smaller parts are left out" in plot.caption


def test_maps_are_summed_over_channels():
    g = torch.Generator().manual_seed(0)
    values, images = torch.randn(2, 3, 3, 3, generator=g), torch.rand(2, 3, 3, 3, generator=g)
    shown = attribution._maps(SimpleNamespace(attribution=SimpleNamespace(values=values), inputs=images))
    for example, value, image in zip(shown, values, images, strict=True):
        total = value[0].double() + value[1].double() + value[2].double()
        wanted = draw_picture(attribution.draw_map_over_image(image.double(), total))
        assert example.label_picture == wanted


def test_the_rate_that_a_curvature_allows_is_stated():
    """2 (1 + 0.5) / 10 = 0.3, and the finding begins at 0.3 / 0.8."""
    (finding,) = curvature._findings(10.0, SGD(0.38, momentum=0.5))
    assert finding.values == {"limit": pytest.approx(0.3), "lr": 0.38}
    assert not curvature._findings(10.0, SGD(0.37, momentum=0.5))


def test_too_many_images_for_the_time_are_not_moved():
    x, y = torch.rand(20, 1, 4, 4), torch.arange(20) % 2
    subject = build_subject(nn.Sequential(nn.Flatten(), nn.Linear(16, 2)), (x, y), None, seed=0)
    products = StepProducts({type(PROFILE): PROFILE})
    with pytest.raises(OutOfTime):
        InvarianceStep().run(subject, products, StepContext(0, 1e-4, False, FakeClock(0.0)))


def test_speeds_below_rounding_are_not_drawn():
    rounding = 4 * torch.finfo(torch.float32).eps
    values = torch.tensor([1.0, 1.1 * rounding, 0.9 * rounding, -1e-12], dtype=torch.float64)
    (line,) = kernel._speeds(SimpleNamespace(values=values)).marks
    assert list(line.y) == pytest.approx([1.0, 1.1 * rounding, nan, nan], nan_ok=True)


@pytest.mark.parametrize(("factor", "possible"), [(0.9, True), (1.1, False)])
def test_a_first_trial_has_the_square_of_its_examples(factor, possible, monkeypatch):
    subject = build_subject(nn.Linear(2, 1), (torch.ones(40, 2), torch.arange(40.0)), None, seed=0)
    entries = factor * 100_000_000 / limit.FIRST_TRIAL_EXAMPLES**2
    monkeypatch.setattr(limit, "_seconds", lambda *_: 0.0)
    known = SimpleNamespace(plan=lambda few: SimpleNamespace(pair_entries=lambda tangent: entries))
    assert limit._triable(known, subject, StepContext(0, 1.0, True, FakeClock(0.0))) is possible


def test_wrong_answers_do_not_count_as_answers_of_a_rare_class():
    """A network that always answers the first class never answers the second, of which there are 40 of 400."""
    net = nn.Linear(3, 2)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.copy_(torch.tensor([1.0, 0.0]))
    x, y = torch.randn(400, 3, generator=torch.Generator().manual_seed(0)), (torch.arange(400) % 10 == 0).long()
    subject = build_subject(net, (x, y), (x, y), seed=0)
    run = train(net, (x, y), optimizer=SGD(1e-9), steps=1)
    _, findings, values = outcome._classes(subject, run, SimpleNamespace(guess=0.9, simple=0.9), 400, 0)
    assert any("1" in finding.message and "test examples" in finding.message for finding in findings)
    assert {v.id: v.value for v in values}["accuracy-on-test"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("seconds", "whole", "factors", "batch"),
    [(inf, True, False, 20), (inf, False, False, 20), (0.5, True, True, 16)],
)
def test_short_runs_take_batches_of_the_examples_and_few_rates_if_time_is_short(
    seconds, whole, factors, batch, monkeypatch
):
    """Of 20 examples; if time is short, 16 at once, and the trained run decides on which side other rates are tried."""
    asked = {}

    def short_runs(*_, factors, batch, **__):
        asked["factors"], asked["batch"] = factors, batch
        return {1.0: 1.0}, 2.0

    monkeypatch.setattr(optimizer, "short_runs", short_runs)
    monkeypatch.setattr(optimizer, "update_ratios", lambda *_, batch, **__: asked.update(ratios=batch) or {})
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(3, 1)
    subject = build_subject(net, (x, x[:, :1]), None, optimizer=SGD(0.1), seed=0)
    run = train(net, (x, x[:, :1]), optimizer=SGD(1e-9), steps=2)
    products = {type(PROFILE): PROFILE} | ({type(run): run} if whole else {})
    context = StepContext(0, seconds, True, FakeClock(0.0))
    optimizer.OptimizerStep().run(subject, StepProducts(products), context)
    assert bool(asked["factors"]) is factors and asked["batch"] == asked["ratios"] == batch


def test_sequences_of_different_lengths_are_not_searched_for_an_order():
    """A loader that gives batches of two lengths, whose targets are sorted."""
    batches = [(torch.zeros(30, length), torch.full((30,), float(i))) for i, length in enumerate((4, 4, 5))]
    net = nn.Sequential(nn.AdaptiveAvgPool1d(2), nn.Linear(2, 1))
    findings = []
    for data in (batches, batches[:2]):
        source_of = SimpleNamespace(batches=lambda data=data: iter(data), __len__=lambda: 90)
        subject = SimpleNamespace(
            recipe=SimpleNamespace(loader=_Loader(data)), task=SimpleNamespace(classes=0), asks_for_targets=True,
            examples=lambda batch: SimpleNamespace(x=batch[0], y=batch[1]), columns=(), train=source_of, module=net,
        )  # fmt: skip
        findings.append([f.kind for f in columns._order_findings(subject)])
    assert findings == [[], ["row-order"]]


class _Loader(list):
    """Batches in their order."""

    def batches(self):
        return iter(self)


def test_padding_that_is_counted_is_named_with_its_share():
    """Sequences of labels whose ends are one label, which the loss of positions counts."""
    y = torch.randint(1, 5, (40, 8), generator=torch.Generator().manual_seed(0))
    lengths = torch.arange(40) % 3 + 2
    y[torch.arange(8)[None] >= lengths[:, None]] = 0
    task = SimpleNamespace(loss=PositionCrossEntropy(classes=5, positions=8), shape=(8,))
    subject = SimpleNamespace(recipe=SimpleNamespace(own_loss=None), task=task)
    findings = columns._void_label_findings(subject, Examples(y, y))
    share = float((y == 0).double().mean())
    assert [f.values for f in findings] == [{"label": 0, "share": pytest.approx(share)}]
    ignoring = SimpleNamespace(loss=PositionCrossEntropy(classes=5, positions=8, ignored=0), shape=(8,))
    assert columns._void_label_findings(SimpleNamespace(recipe=subject.recipe, task=ignoring), Examples(y, y)) == ()


def test_signals_are_measured_on_the_most_examples_unless_time_is_short():
    sizes = signal.AFFORDABLE_EXAMPLE_COUNTS
    assert signal._examples(None, StepContext(0, inf, True, FakeClock(0.0))) == max(sizes)
    cost = StepCost(0.0, 1e-3, 0.0)
    profile = NetworkProfile(None, "", cost)
    for n in sizes:
        for factor, kept in ((1.01, n), (0.99, max([m for m in sizes if m < n], default=n))):
            context = StepContext(0, factor * 8 * cost.passes(n), True, FakeClock(0.0))
            assert signal._examples(profile, context) == kept
    with pytest.raises(OutOfTime):
        signal._examples(profile, StepContext(0, 0.99 * cost.passes(min(sizes)), True, FakeClock(0.0)))


@pytest.mark.parametrize("classes", [0, 3])
def test_the_wide_network_is_scored_on_test_examples(classes):
    y = (
        torch.eye(3).double()[torch.tensor([0, 1, 2, 2, 1])]
        if classes
        else torch.tensor([[1.0], [2.0], [6.0]]).double()
    )
    f = y.clone()
    f[0] = f[1]
    subject = SimpleNamespace(task=SimpleNamespace(classes=classes), targets=lambda y: y)
    known = SimpleNamespace(ntk=lambda one, other: None), SimpleNamespace(at=lambda kernel: f)
    (value,), share = limit._test(known[0], subject, known[1], None, Examples(torch.zeros(len(y), 1), y))
    if classes:
        assert (value.value, share) == (0.8, 0.8) and value.interval.low < 0.8 < value.interval.high
    else:
        assert value.value == pytest.approx(1 / 14) and share is None  # squares 1, and 4 + 1 + 9


@pytest.mark.parametrize(
    ("rule", "largest", "words", "holds"),
    [
        (SGD(0.5), 0.4, "learning rate 0.5 would take", False),
        (SGD(0.5), 0.6, "learning rate 0.5 would take", True),
        (SGD(0.5, momentum=0.5), 0.4, "in 40 steps", True),  # 0.6 is stable with this momentum
        (None, 0.4, "learning rate 0.2 (half of the largest stable one) would take the loss from 4 to 1 in 100 steps", True),
        (None, inf, "plain gradient descent would take the loss from 4 to 1 until learning rate × steps is 20", True),
    ],
)  # fmt: skip
def test_a_prediction_holds_below_the_stable_limit(rule, largest, words, holds):
    run = SimpleNamespace(
        times=torch.tensor([0.0, 20.0]), loss=torch.tensor([4.0, 1.0]), loss_name="loss", diverges=False
    )
    told, can_hold = forecast._answer(run, rule, SimpleNamespace(largest_lr=largest))
    assert words in told and can_hold is holds


@pytest.mark.parametrize(("simple", "tells"), [(0.41, True), (0.39, False)])
def test_a_regression_is_judged_by_its_shares_of_the_variance(simple, tells, monkeypatch):
    """Half of the deviation of the targets is missed: a quarter on train; on test 0.2 of the variance are missed."""
    x = torch.randn(40, 1, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        net.weight.fill_(0.5)
    subject = build_subject(
        net, (x - x.mean(), x - x.mean()), (x - x.mean(), (x - x.mean()) * 0.5 / (1 - 0.2**0.5)), seed=0
    )
    run = train(net, (x, x), optimizer=SGD(1e-12), steps=1)
    known = {}
    monkeypatch.setattr(outcome, "_simple", lambda *_: SimpleNamespace(score=simple, gain=0.1, examples=77))
    monkeypatch.setattr(
        outcome, "advice_for_overfitting", lambda gain, examples, what: known.update(examples=examples) or ""
    )
    _, values = outcome._numbers(subject, run, 100, 0)
    assert {v.id: v.value for v in values} == {
        "explained-on-train": pytest.approx(0.75, abs=1e-5), "simple-explained": simple,
        "explained-on-test": pytest.approx(0.8, abs=1e-5),
    }  # fmt: skip
    assert known["examples"] == (77 if tells else 0)  # half of the 0.8 that the network explains


@pytest.mark.parametrize(
    ("share", "called"),
    [(0.99 * 640 / 2, None), (1.01 * 640 / 2, "search"), (0.99 * 13_088, "search"), (1.01 * 13_088, "all")],
)
def test_shortcuts_are_searched_and_maps_are_made_if_there_is_time(share, called, monkeypatch):
    """128 examples need 640 passes in the search, of which half must fit; maps of 1,024 need 800 + 12 x 1,024 passes."""
    x, y = torch.rand(140, 3), torch.arange(140) % 2
    subject = build_subject(nn.Linear(3, 2), (x, y), None, seed=0)
    seen = []
    record = SimpleNamespace(level=0.005, reliance=(), findings=(), verdict="", plots=lambda: ())
    sheet = SimpleNamespace(**vars(record), shortcuts=record, sanity=SimpleNamespace(weights=0.1), mask=None,
                            attribution=SimpleNamespace(values=torch.zeros(1)), inputs=None)  # fmt: skip
    monkeypatch.setattr(attribution, "shortcuts", lambda *_, **__: seen.append("search") or record)
    monkeypatch.setattr(attribution, "attribution_overview", lambda *_, **__: seen.append("all") or sheet)
    seconds = share * 2 * PROFILE.cost.each
    step, products = attribution.AttributionStep(), StepProducts({type(PROFILE): PROFILE})
    if called is None:
        with pytest.raises(OutOfTime):
            step.run(subject, products, StepContext(0, seconds, False, FakeClock(0.0)))
    else:
        step.run(subject, products, StepContext(0, seconds, False, FakeClock(0.0)))
    assert seen == ([] if called is None else [called])


@pytest.mark.parametrize("shifts", [1, 4])
def test_shifts_share_their_level(shifts):
    """The exact lower limit at 0.005 / shifts on one side, by scipy, must exceed what is accepted."""
    n, accepted = 500, invariance.MAX_CHANGED_DECISIONS
    limits = [beta.ppf(0.005 / shifts, k, n - k + 1) if k else 0.0 for k in range(n)]
    first = next(k for k in range(n) if limits[k] > accepted)
    for k in (first - 1, first):
        motions = tuple(
            ImageMotion(f"to {i}", 0.1, (k if i == 0 else 1) / n, binomial_interval(k, n), f"pixel-{i}")
            for i in range(shifts)
        )
        other = ImageMotion("mirror", 0.9, 0.9, binomial_interval(450, 500), "mirror")
        assert bool(invariance.shift_findings(ImageInvariance((*motions, other), n), 28)) is (k == first)


def test_the_smallest_test_loss_is_named_unless_it_is_the_last_one():
    for losses, words in (([3.0, 1.0, 2.0], "smallest at step 10 (1)"), ([3.0, 2.0, 1.0], "")):
        run = SimpleNamespace(
            steps=10 * torch.arange(3), loss=torch.tensor(losses), test_loss=torch.tensor(losses), seconds=4.0,
            optimizer=Adam(), loss_name="loss",
        )  # fmt: skip
        plot = training_plots.loss_plot(run, StepProducts())
        assert words in plot.caption and bool(words) == ("smallest" in plot.caption)


def test_a_kernel_is_timed_on_the_second_smallest_number_of_examples():
    timed = sorted(AFFORDABLE_EXAMPLE_COUNTS)[1]
    method = KernelMethod(nn.Linear(1, 1), False, 3.0)
    assert method.estimate(timed) == 3.0 and method.estimate(4 * timed) == pytest.approx(3.0 * 8)
    assert method.affordable(StepContext(0, 6.0, True, FakeClock(0.0)), 0.5) == timed
    with pytest.raises(OutOfTime):
        method.affordable(StepContext(0, 5.9, True, FakeClock(0.0)), 0.5)


@pytest.mark.parametrize(
    ("seconds", "n"), [(64 + 1.5 * 256 + 0.001, 256), (64 + 1.5 * 256 - 0.001, 128), (50.0, None), (81.0, 64)]
)
def test_training_is_judged_on_the_examples_that_time_allows(seconds, n, monkeypatch):
    """64 passes for activity, and one and a half for each example; twice the time is the limit of the smallest number."""
    x = torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(2, 1)
    subject = build_subject(net, (x, x[:, :1]), None, seed=0)
    run = train(net, (x, x[:, :1]), optimizer=SGD(1e-9), steps=400)
    asked = []
    monkeypatch.setattr(outcome, "_numbers", lambda subject, run, n, seed: asked.append(n) or ((), ()))
    monkeypatch.setattr(outcome, "design_findings", lambda *_, **__: ())
    products = StepProducts({type(PROFILE): PROFILE, type(run): run})
    context = StepContext(0, seconds * PROFILE.cost.each, True, FakeClock(0.0))
    if n is None:
        with pytest.raises(OutOfTime):
            outcome.OutcomeStep().run(subject, products, context)
    else:
        outcome.OutcomeStep().run(subject, products, context)
        assert asked == [n]
