"""Numbers and thresholds of steps of an examination, each on both sides, with runs that have only what is read."""

from math import inf
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.dynamics.trajectory import Trajectory
from gnomon.examination import training_plots
from gnomon.examination.fixes import prove
from gnomon.examination.fixes.fix import TrialChange
from gnomon.examination.fixes.prove import FixTrialBudget
from gnomon.examination.fixes.rewrite import count_calls, without_last_call
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.step import StepSkipped
from gnomon.examination.steps import match, optimizer
from gnomon.examination.steps import training as step
from gnomon.examination.steps.attribution import draw_map_over_image
from gnomon.examination.steps.data import DataSummary
from gnomon.examination.steps.importance import SHUFFLES_PER_COLUMN, column_importance
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.steps.margins import _regression
from gnomon.examination.subject import build_subject
from gnomon.landscape.sharpness import Sharpness
from gnomon.training import SGD, Adam
from gnomon.training.plan import BatchPlan


def run_of(loss, **more):
    """A run with a loss at the steps 0, 10, 20, ..."""
    steps = 10 * torch.arange(len(loss))
    given = {"test_loss": None, "accuracy": None, "diverges": False, "optimizer": SGD(0.1), "loss_name": "loss",
             "seconds": 4.0, **more}  # fmt: skip
    return SimpleNamespace(steps=steps, loss=torch.tensor(loss), **given)


@pytest.mark.parametrize(
    ("losses", "classes", "found"),
    [([1.0, 0.4, 0.479], 0, False), ([1.0, 0.4, 0.481], 0, True), ([1.0, 0.1, 0.149], 0, False),
     ([1.0, 0.1, 0.151], 0, True), ([0.1, 0.01, 0.029], 0, False), ([0.1, 0.01, 0.031], 0, True),
     ([9.0, 0.1, 0.134], 2, False), ([9.0, 0.1, 0.136], 2, True), ([9.0, 0.1, 0.5], 0, False)],
)  # fmt: skip
def test_a_test_loss_rose_by_a_fifth_and_by_a_part_of_knowing_nothing(losses, classes, found):
    """A twentieth of the first loss, or of log 2 = 0.693 for two classes; and at least 0.02."""
    findings = step._overfit(run_of(losses, test_loss=torch.tensor(losses)), classes)
    assert [f.values["step"] for f in findings] == ([10] if found else [])


RISING = [2.6, 1.0, 1.01, 1.04, 1.08, 1.15]


@pytest.mark.parametrize(
    ("train", "test", "classes", "found"),
    [([2.6, 1.0, 0.9, 0.8, 0.7, 0.6], RISING, 0, True), ([2.6, 1.0, 0.9, 0.8, 0.7, 0.6], RISING, 2, False),
     ([2.6, 1.0, 1.1, 1.2, 1.3, 1.4], RISING, 0, False),
     ([2.6, 1.0, 0.9, 0.8, 0.7, 0.6], [2.6, 1.0, 1.04, 1.01, 1.08, 1.15], 0, False),
     ([2.6, 1.0, 0.9, 0.8, 0.7, 0.6], [2.6, 1.0, 1.01, 1.04, 1.08, 1.12], 0, False),
     ([2.6, 0.9, 0.8, 0.7, 0.6], [2.6, 1.0, 1.04, 1.08, 1.15], 0, False)],
)  # fmt: skip
def test_a_test_loss_that_rises_without_a_break_until_the_end(train, test, classes, found):
    """A rise by less than a fifth counts for tasks without classes: five rising losses while the training loss falls.

    The healthy ones: classes, a training loss that rises as well, a break, a rise below a twentieth of 2.6, four losses.
    """
    findings = step._overfit(run_of(train, test_loss=torch.tensor(test)), classes)
    assert [f.kind for f in findings] == (["overfit"] if found else [])


def test_noise_around_a_constant_rises_five_times_in_less_than_one_of_a_hundred_runs():
    draws = torch.randn(20_000, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    runs = [run_of([2.0, 1.9, 1.8, 1.7, 1.6], test_loss=row) for row in draws]
    share = sum(map(step._rises_until_the_end, runs)) / len(runs)
    assert abs(share - 1 / 120) < 4 * (1 / 120 / len(runs)) ** 0.5


@pytest.mark.parametrize(("score", "found"), [(0.71, True), (0.69, False)])
def test_a_network_is_undertrained_ten_points_below_its_kernel(score, found):
    products = {
        DataSummary: DataSummary(1.0, 0.5),
        ProbeKernel: SimpleNamespace(prediction=SimpleNamespace(accuracy=score)),
    }
    run = run_of([1.0, 0.5], accuracy=torch.tensor([0.5, 0.6]))
    assert bool(step._below_kernel(run, products)) is found


def predicted(times, loss):
    return SimpleNamespace(times=torch.tensor(times), loss=torch.tensor(loss), test_loss=None)


def test_the_predicted_loss_is_read_at_the_time_of_the_last_step():
    products = {Trajectory: predicted([0.0, 1.0, 2.0, 3.0], [9.0, 5.0, 3.0, 2.0])}
    (value,) = step.compare_with_prediction(run_of([9.0, 5.0, 3.0]), products)  # 20 steps of 0.1
    assert value.value == 3.0
    assert step.compare_with_prediction(run_of([1.0] * 4), products)[0].value == 2.0
    assert step.compare_with_prediction(run_of([1.0] * 5), products) == ()  # beyond the last time
    other = {**products, Sharpness: SimpleNamespace(largest_lr=0.2)}
    assert step.compare_with_prediction(run_of([1.0] * 3, optimizer=Adam(9.0)), other)[0].value == 3.0
    assert training_plots.predicted_rate(run_of([1.0], optimizer=Adam(9.0)), products) is None
    assert (
        training_plots.predicted_rate(run_of([1.0], optimizer=Adam(9.0)), {Sharpness: SimpleNamespace(largest_lr=inf)})
        is None
    )


@pytest.mark.parametrize(
    ("wanted", "got", "word"),
    [(0.4, 0.21, ""), (0.4, 0.19, "learned better"), (0.21, 0.4, ""), (0.19, 0.4, "still fall"), (0.06, 0.02, ""),
     (0.08, 0.02, "learned better")],
)  # fmt: skip
def test_prediction_and_measurement_disagree_by_a_factor_of_two(wanted, got, word):
    text = step._disagreement(run_of([1.0, got]), (SimpleNamespace(value=wanted),))
    assert word in text and bool(text) is bool(word)


def test_predicted_losses_are_drawn_over_steps():
    times = [0.0, 0.2, 0.3, 1.0, 2.0, 2.1]
    products = {Trajectory: predicted(times, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])}
    plot = training_plots.loss_plot(run_of([6.0, 3.0, 2.0], test_loss=torch.tensor([7.0, 4.0, 3.0])), products)
    train, test, line = plot.marks
    assert (train.x, train.y, test.y) == ((0.0, 10.0, 20.0), (6.0, 3.0, 2.0), (7.0, 4.0, 3.0))
    assert line.x == pytest.approx((0.0, 2.0, 3.0, 10.0, 20.0)) and line.y == (6.0, 5.0, 4.0, 3.0, 2.0)
    assert not plot.x.log  # the start has a place on the axis
    assert plot.x.other_unit == ("seconds", 0.2)


def test_the_loss_decides_which_rates_are_tried():
    assert optimizer._side(run_of([1.0, 1.0])) == (1.0, 0.1, 0.01)
    assert optimizer._side(run_of([1.0, 0.91])) == (1.0, 10.0, 100.0)
    assert optimizer._side(run_of([-1.0, -1.09])) == (1.0, 10.0, 100.0)
    for losses in ([1.0, 0.89], [-1.0, -1.11]):
        with pytest.raises(StepSkipped):
            optimizer._side(run_of(losses))


@pytest.mark.parametrize(
    ("lr", "momentum", "own"), [(0.19, 0.0, True), (0.21, 0.0, False), (0.37, 0.9, True), (0.39, 0.9, False)]
)
def test_theory_is_compared_at_a_stable_rate(lr, momentum, own):
    measured = SimpleNamespace(largest_lr=0.2)
    rule, _ = match._rule(SimpleNamespace(optimizer=SGD(lr, momentum=momentum)), measured)
    assert (rule.lr, rule.momentum) == ((lr, momentum) if own else (0.1, 0.0))
    with pytest.raises(StepSkipped):
        match._rule(SimpleNamespace(optimizer=Adam(0.1)), SimpleNamespace(largest_lr=inf))


def test_losses_of_theory_are_measured_more_often_at_the_beginning():
    count = match.RECORDED_STEPS
    assert match._record_steps(count) == list(range(count + 1))
    found = match._record_steps(1000)
    assert found == sorted({0, 1, 2, 3, *(round(1000 * (i / (count - 1)) ** 2) for i in range(count))})


def test_predictions_and_measurements_are_paired_by_step():
    theory = predicted([0.0, 0.2, 0.5], [4.0, 3.0, 1.0])
    measured = SimpleNamespace(steps=torch.tensor([0, 2, 3, 5]), loss=torch.tensor([4.0, 2.0, 9.0, 1.5]))
    found = match._match(theory, measured, SGD(0.1))
    assert found.pairs == ((0, 0), (1, 1), (3, 2)) and found.gap == 0.25


class _TwoTimes(nn.Module):
    def forward(self, x):
        return torch.softmax(2 * torch.softmax(x, 1), 1)


def test_only_the_last_of_several_calls_is_left_out():
    x = torch.tensor([[0.0, 1.0]])
    functions = frozenset({torch.softmax})
    assert count_calls(_TwoTimes(), x, functions) == 2
    assert torch.allclose(without_last_call(_TwoTimes(), x, functions)(x), 2 * torch.softmax(x, 1))


@pytest.mark.parametrize(
    ("falls", "chosen"),
    [([0.81, 1.0], 0), ([0.79, 1.0], 1), ([-2.0, -1.0], 1), ([None, 0.2, 0.5], 2), ([None, None], None)],
)
def test_the_first_change_close_to_the_best_fall_is_taken(falls, chosen, monkeypatch):
    steps = []

    def run(trial, budget, seed):
        steps.append(trial.steps)
        fall = falls[len(steps) - 1]
        return None if fall is None else SimpleNamespace(diverges=False, loss=torch.tensor([3.0, 3.0 - fall]))

    monkeypatch.setattr(prove, "run_trial", run)
    net, data = nn.Linear(1, 1), (torch.ones(8, 1), torch.ones(8, 1))
    network = build_subject(net, data, None, seed=0)
    trial = TrialRun(net, network.train, network.train, network.loss, SGD(0.1), BatchPlan(4), 500)
    changes = [TrialChange(trial, str(i), "") for i in range(len(falls))]
    best = prove._best(changes, 500, FixTrialBudget(inf, 1.0, FakeClock(0.0)), 0)
    assert best is (None if chosen is None else changes[chosen]) and steps == [50] * len(falls)
    assert prove._best(changes, 500, FixTrialBudget(50.0 * len(falls) + 499, 1.0, FakeClock(0.0)), 0) is changes[0]


def test_images_are_overlaid_in_gray_red_and_blue():
    image = torch.tensor([[[0.0, 4.0]], [[2.0, 6.0]]])  # means 1 and 5: gray 0 and 1
    red, green, blue = draw_map_over_image(image, torch.tensor([[-1.0, 2.0]]))
    assert (red.tolist(), green.tolist(), blue.tolist()) == ([[0.0, 1.0]], [[0.0, 0.0]], [[0.5, 0.0]])
    red, green, blue = draw_map_over_image(image, torch.tensor([[2.0, 0.5]]))
    assert (red.tolist(), green.tolist(), blue.tolist()) == ([[1.0, 1.0]], [[0.0, 0.75]], [[0.0, 0.75]])


@pytest.mark.parametrize("classes", [True, False])
def test_importance_is_the_mean_growth_of_the_error(classes):
    net = nn.Linear(3, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[2.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))
        net.bias.zero_()
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    y = net(x).argmax(1) if classes else net(x).detach() + 0.5 * x[:, 1:].flip(1)
    network = build_subject(net, (x, y), None, seed=0)
    examples = network.examples(network.train.first(40))

    def error(inputs):
        f = net(inputs).detach()
        if classes:
            return (f.argmax(1) != y).double().mean()
        return (f - y).square().sum(1).mean().double() / (y - y.mean(0)).square().sum(1).mean()

    found = column_importance(network, net, examples, seed=5)
    draw, expected = torch.Generator().manual_seed(5), []
    for j in range(3):
        grown = []
        for _ in range(SHUFFLES_PER_COLUMN):
            shuffled = x.clone()
            shuffled[:, j] = x[torch.randperm(40, generator=draw), j]
            grown.append(float(error(shuffled) - error(x)))
        expected.append(sum(grown) / 3)
    assert list(found.importance.values()) == pytest.approx(sorted(expected, reverse=True), rel=1e-4, abs=1e-6)
    assert found.error == pytest.approx(float(error(x)), rel=1e-4) and found.importance["column 1"] == pytest.approx(
        0.0
    )


def test_errors_of_regression_by_hand():
    f, y = torch.tensor([[1.0, 1.0], [4.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]])
    found = _regression(f, y, "test", torch.tensor([7, 8, 9]), trained=True, short=False)
    values = {value.id: value.value for value in found.content.values}
    # squared errors 0 0, 16 0, 4 0: their mean is 20 / 6; variances of the targets are 2 / 3 each
    assert values["root-mean-square-error"] == pytest.approx((20 / 6) ** 0.5)
    assert (
        values["hardest-examples"] == "8, 9, 7"
        and f"deviation of the targets {(2 / 3) ** 0.5:.3g}" in found.content.answer
    )
    assert found.product.errors.tolist() == pytest.approx([0.0, 8.0, 2.0]) and found.state == "unsure"
