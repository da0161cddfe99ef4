"""Numbers of the examination in closed form, and its limits with a case on each side."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics, LayerSignal
from gnomon.core.inputs.source import Batch, InMemorySource, data_source
from gnomon.core.results import Finding, Value
from gnomon.examination import trainers
from gnomon.examination.fixes import search
from gnomon.examination.fixes.candidates import RepairCandidate
from gnomon.examination.fixes.fix import TrialChange
from gnomon.examination.fixes.held_out_inputs import _changes
from gnomon.examination.fixes.layers import smaller_dropout
from gnomon.examination.fixes.score import HeldOutScores
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.positions import PredictionsAtPositions
from gnomon.examination.score_intervals import explained_variance_interval, perplexity_interval, share_interval
from gnomon.examination.script import install
from gnomon.examination.short_run import _errors
from gnomon.examination.steps import signal, training
from gnomon.examination.steps.columns import ColumnsStep
from gnomon.examination.steps.forecast import _times
from gnomon.examination.steps.importance import ImportanceStep, column_importance
from gnomon.examination.steps.invariance import InvarianceStep
from gnomon.examination.steps.kernel import KernelStep
from gnomon.examination.steps.match import _record_steps
from gnomon.examination.subject import Examples, build_subject
from gnomon.findings import data as data_kinds
from gnomon.training import SGD, train
from gnomon.training.plan import BatchPlan
from tests.examination.steps.setting import answered

FINDING = Finding(data_kinds.DRIFTED_COLUMNS)


def planned(net, data, **changes):
    """A subject and a trial of its training."""
    subject = build_subject(net, data, None, seed=0)
    known = {"optimizer": SGD(0.1), "batches": BatchPlan(2), "steps": 8} | changes
    return subject, TrialRun(net, subject.train, data_source(data), subject.loss, **known)


def test_errors_of_numbers_are_shares_of_the_variance_of_all_columns():
    """The loss is half of the squared error of an example; the columns have the variances 1 and 16."""
    y = torch.tensor([[1.0, 0.0], [3.0, 8.0]])
    subject = build_subject(nn.Linear(1, 2), (torch.ones(2, 1), y), None, seed=0)
    data = InMemorySource(Batch(torch.ones(2, 1), y), None)
    assert _errors(None, torch.tensor([8.5, 1.7]), subject, data) == pytest.approx([1.0, 0.2])
    same = InMemorySource(Batch(torch.ones(2, 1), torch.ones(2, 2)), None)
    assert _errors(None, torch.tensor([8.5, 1.75]), subject, same) == [8.5, 1.75]
    whole = InMemorySource(Batch(torch.ones(2, 1), torch.tensor([4, 2])), None)
    assert _errors(None, torch.tensor([8.0, 2.0]), subject, whole) == [1.0, 0.25]
    assert _errors(None, torch.tensor([0.0, 2.0]), subject, whole) == [0.0, 2.0]
    assert _errors(torch.tensor([0.25, 1.0]), None, subject, whole) == [0.75, 0.0]


def test_a_tenth_of_the_units_is_dropped_instead_of_many():
    net = nn.Sequential(nn.Linear(4, 4000), nn.Dropout(0.8))
    with torch.no_grad():
        net[0].weight.fill_(0.25)
        net[0].bias.zero_()
    subject, trial = planned(net, (torch.ones(9, 4), torch.ones(9, 4000)))
    (change,) = smaller_dropout(trial, FINDING, subject)
    torch.manual_seed(0)
    f = change.trial.module.train()(torch.ones(1, 4))
    assert f.max().item() == pytest.approx(1 / 0.9) and (f == 0).double().mean().item() == pytest.approx(0.1, abs=0.02)
    assert "10% instead of 80%" in change.words


def test_the_prediction_reaches_from_a_tenth_to_ten_thousand_times_of_the_fastest_mode():
    product = SimpleNamespace(kernel=torch.eye(3), spectrum=SimpleNamespace(values=torch.tensor([6.0, 1.0])))
    times = _times(product, None)
    assert len(times) == 41 and times[:2].tolist() == pytest.approx([0.0, 0.05])
    assert times[-1].item() == pytest.approx(5000.0)
    steps = _times(product, 0.25) / 0.25
    assert steps.tolist() == sorted(set(steps.round().tolist())) and steps[:2].tolist() == [0.0, 1.0]
    assert steps[-1].item() == 3000.0


@pytest.mark.parametrize(("size", "said"), [((8, 40), "1/8 of the image"), ((40, 10), "1/10 of the image")])
def test_a_pixel_is_compared_with_the_shorter_side(size, said):
    """The class is the column that is bright: a shift by one pixel moves it to the other one or away."""
    y = torch.arange(200) % 2
    x = torch.zeros(200, 1, *size)
    net = nn.Sequential(nn.Flatten(), nn.Linear(size[0] * size[1], 2, bias=False))
    weight = torch.zeros(2, *size)
    for c in (0, 1):
        x[y == c, :, :, 3 * c] = 1.0
        weight[c, :, 3 * c], weight[c, :, 3 * (1 - c) + 1] = 1.0, 0.5
    with torch.no_grad():
        net[1].weight.copy_(weight.flatten(1))
    (finding,) = answered(InvarianceStep, net, (x, y), [train(net, (x, y), steps=1, optimizer="sgd")]).content.findings
    assert said in finding.message


def test_intervals_of_ratios_of_few_examples_are_their_equations():
    """Of four examples: the standard error divides by n - 1, and the quantile is the one of three degrees."""
    a, b = np.array([1.0, 0.0, 2.0, 1.5]), np.array([2.0, 1.0, 4.0, 2.0])
    ratio = a.sum() / b.sum()
    error = np.sqrt(4 / 3 * ((a - ratio * b) ** 2).sum()) / b.sum()
    found = perplexity_interval(torch.from_numpy(a), torch.from_numpy(b))
    half = stats.t.ppf(0.975, 3) * error
    assert (found.low, found.high) == pytest.approx((np.exp(ratio - half), np.exp(ratio + half)))
    y, f = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([[0.5], [1.0], [2.0], [4.5]])
    a, b = ((f - y) ** 2).sum(1), ((y - y.mean(0)) ** 2).sum(1)
    ratio = a.sum() / b.sum()
    factor = np.exp(stats.t.ppf(0.975, 3) * np.sqrt(4 / 3 * ((a - ratio * b) ** 2).sum()) / b.sum() / ratio)
    found = explained_variance_interval(torch.from_numpy(f), torch.from_numpy(y))
    assert (found.low, found.high) == pytest.approx((1 - ratio * factor, 1 - ratio / factor))
    right, counts = np.array([1.0, 3.0, 0.0, 2.0]), np.array([2.0, 3.0, 2.0, 3.0])
    share = 0.6
    variance = 4 / 3 * ((right - share * counts) ** 2).sum() / 100
    size = min(10.0, share * (1 - share) / variance)
    found = share_interval(torch.from_numpy(right), torch.from_numpy(counts))
    low = stats.beta.ppf(0.025, share * size, size - share * size + 1)
    high = stats.beta.ppf(0.975, share * size + 1, size - share * size)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_loss_of_a_run_is_recorded_at_squares_of_even_places():
    assert _record_steps(24) == list(range(25))
    places = {round(200 * (i / 23) ** 2) for i in range(24)}
    assert _record_steps(200) == sorted(places | {0, 1, 2, 3, 200})


@pytest.mark.parametrize(
    ("losses", "classes", "found"),
    [((-1.0, -2.0, -1.97), 2, False), ((-1.0, -2.0, -1.96), 2, True), ((-1.0, -2.0, -1.96), 0, False),
     ((-1.0, -2.0, -1.94), 0, True)],
)  # fmt: skip
def test_a_negative_loss_rises_by_a_part_of_its_size(losses, classes, found):
    """A twentieth of one, or of log 2 = 0.693; a loss may be negative, as the one of a density is."""
    run = SimpleNamespace(test_loss=torch.tensor(losses), diverges=False, loss=torch.tensor(losses), steps=range(3))
    assert bool(training._overfit(run, classes)) is found


def test_changes_that_gain_less_follow_in_the_order_of_their_gains(monkeypatch):
    base = HeldOutScores(torch.zeros(4), "accuracy")
    monkeypatch.setattr(search, "_score", lambda *_: base)
    done = SimpleNamespace(steps=torch.tensor([10]))
    tested = [
        search._Tested(RepairCandidate(rank, fix, TrialChange(None, fix, "")), None, done, base, gain)
        for rank, fix, gain in ((1, "small", 0.1), (2, "worse", -0.2), (3, "best", 0.5), (4, "good", 0.3),
                                (0, "near", 0.5 - 0.9 * search.EQUAL_GAIN))
    ]  # fmt: skip
    found = search._sort_by_gain(None, FINDING, None, None, tested, 0)
    assert [one.fix for one in found.tried] == ["near", "best", "good", "small", "worse"] and found.equal == 2


def test_a_first_round_keeps_the_relation_of_the_steps(monkeypatch):
    """Of 100 planned steps 20 are tried: a change that needs 400 steps gets 80, and one of 2 steps gets one."""
    subject, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), steps=100)
    given = []
    monkeypatch.setattr(search, "run_trial", lambda *_: SimpleNamespace(model=None))
    monkeypatch.setattr(search, "_score", lambda *_: None)
    monkeypatch.setattr(
        search, "_run_candidate",
        lambda subject, one, fewer, *_: given.append(fewer.steps) or SimpleNamespace(candidate=one, chosen_by=one.rank),
    )  # fmt: skip
    made = [
        RepairCandidate(rank, "", TrialChange(replace(trial, steps=steps), "", ""))
        for rank, steps in ((0, 100), (1, 400), (2, 2))
    ]
    kept = search._first_round(subject, trial, made, 20, None, 0)
    assert given == [20, 80, 1] and [one.rank for one in kept] == [2, 1]  # without gain, the first is left out


def test_one_answer_is_stated_although_two_things_were_found():
    """Equal rows with different labels, and a class that is never seen, are two findings."""
    x = torch.arange(200.0)[:, None].expand(200, 3).clone()
    x[:100] = x[100:]
    y = (torch.arange(200) >= 100).long()
    content = answered(ColumnsStep, nn.Linear(3, 4), (x, y)).content
    assert len(content.findings) > 1 and content.stated == content.findings[:1]


def test_the_error_of_equal_targets_that_are_predicted_is_zero():
    net = nn.Linear(2, 1)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.fill_(3.0)
    x = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))
    subject = build_subject(net, (x, torch.full((8,), 3.0)), None, seed=0)
    found = column_importance(subject, net, Examples(x, torch.full((8, 1), 3.0)), seed=0)
    assert found.error == 0.0 and set(found.importance.values()) == {0.0}


@pytest.mark.parametrize("related", [True, False])
def test_inputs_may_show_a_relation_that_the_kernel_does_not(related):
    torch.manual_seed(1)
    net, x, y = nn.Linear(4, 2), torch.randn(300, 4), torch.randint(2, (300,))
    product = answered(KernelStep, net, (x, y)).product
    inputs = SimpleNamespace(p_value=0.001 if related else 0.5, related=related)
    unseen = replace(product, labels=replace(product.labels, p_value=0.5), inputs=inputs)
    content = KernelStep()._result(build_subject(net, (x, y), None, seed=0), unseen).content
    assert ("the labels are related to the inputs" in content.answer) is related and bool(content.findings) != related


def test_examples_and_not_positions_are_what_intervals_count():
    labels = torch.tensor([[0, 1, 2], [1, 1, 0], [2, 0, 0], [0, 0, 1]])
    answers = torch.tensor([[0, 1, 1], [1, 1, 0], [0, 0, 1], [0, 2, 1]])
    counted = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]]).bool()
    losses = torch.arange(12.0).reshape(4, 3)
    values = (Value("a", 1.0, id="accuracy-on-test"), Value("p", 1.0, id="perplexity-on-test"), Value("n", 1.0, id="n"))
    found = PredictionsAtPositions(labels, answers, losses, counted).with_intervals(values, "test")
    right, counts = torch.tensor([2, 2, 0, 2]), torch.tensor([3, 2, 1, 3])
    sums = torch.tensor([0.0 + 1 + 2, 3 + 4, 6, 9 + 10 + 11])
    assert [value.interval for value in found] == [
        share_interval(right, counts), perplexity_interval(sums, counts), None,
    ]  # fmt: skip


def test_signals_are_compared_as_last_over_first_and_gradients_as_first_over_last():
    layers = tuple(
        LayerSignal(name, "Linear", "nonzero", 8, 8, ForwardStatistics(size, c, dead), BackwardStatistics(1.0, update))
        for name, size, c, dead, update in (
            ("a", 2.0, 0.5, 0.0, 3.0),
            ("b", 5.0, 0.6, 0.25, 9.0),
            ("c", 8.0, 0.7, 0.1, 12.0),
        )
    )
    values = {v.id: v.value for v in signal._values(layers, SimpleNamespace(examples=7, layers=layers))}
    assert values == {
        "layers-with-weights": 3, "signal-examples": 7, "signal-ratio": 4.0, "gradient-ratio": 0.25,
        "correlation-first": 0.5, "correlation-last": 0.7, "dead-units": "25.0% of 'b'",
    }  # fmt: skip
    one = {v.id: v.value for v in signal._values(layers[:1], SimpleNamespace(examples=7, layers=layers[:1]))}
    assert one == {"layers-with-weights": 1, "signal-examples": 7, "dead-units": "none"}


@pytest.mark.parametrize("classes", [True, False])
def test_columns_matter_by_wrong_answers_or_by_explained_variance(classes):
    x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(2, 2 if classes else 1, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[-1.0, 0.0], [1.0, 0.0]])[-(2 if classes else 1) :])
    y = (x[:, 0] > 0).long() if classes else x[:, 0]
    run = train(net, (x, y), steps=1, optimizer=SGD(1e-9))
    content = answered(ImportanceStep, net, (x, y), [run]).content
    assert ("share of wrong answers" in content.answer) is classes
    assert ("explained variance" in content.answer) is not classes
    assert "column is column 0" in content.answer and "Shuffling column 1 does no harm" in content.answer


@pytest.mark.parametrize(("spread", "codes"), [(255 / 5.1, []), (255 / 4.9, ["255 * x"]), (255 * 4.9, ["255 * x"]),
                                               (255 * 5.1, []), (4.9 / 255, ["0.00392157 * x"]), (1.0, [])])  # fmt: skip
def test_images_of_bytes_are_recognized_within_a_factor_of_five(spread, codes):
    """Two numbers 0 and a have the standard deviation a / sqrt(2), and four numbers 0, 0, 1, 1 have sqrt(1 / 3)."""
    train = torch.tensor([[[[0.0]]], [[[spread * (2 / 3) ** 0.5]]]])
    test = torch.tensor([0.0, 0.0, 1.0, 1.0]).reshape(4, 1, 1, 1)
    assert [code for code, _ in _changes(train, test) if code.endswith("* x")] == codes


def test_the_time_of_a_hook_is_the_one_of_each_call(monkeypatch):
    """A call takes a second, and the hook three more."""
    passed = [0.0]

    class Slow(nn.Module):
        def forward(self, x):
            passed[0] += 1.0
            return x

    monkeypatch.setattr(install.nn, "Identity", Slow)
    monkeypatch.setattr(install, "_after_forward", lambda *_: passed.__setitem__(0, passed[0] + 3.0))
    recorder = SimpleNamespace(clock=lambda: passed[0])
    found = install.ModuleHook.calibrate(SimpleNamespace(recorder=recorder))
    assert found == pytest.approx(3.0)


def test_noise_for_comparing_losses_has_the_size_of_the_parameters():
    net = nn.Linear(2, 3)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[3.0, 4.0]]).expand(3, 2))
        net.bias.zero_()
    made = trainers._perturb(net, 5)
    g = torch.Generator().manual_seed(5)
    for p, size in ((net.weight, 12.5**0.5), (net.bias, 0.0)):
        noise = torch.randn(p.shape, generator=g)
        other = dict(made.named_parameters())["weight" if p is net.weight else "bias"]
        assert torch.allclose(other, p + noise * (size + trainers.MIN_PERTURBATION))
