"""What the fixes change, against numbers worked out by hand."""

from dataclasses import replace
from functools import partial
from math import log

import pytest
import torch
from torch import nn

from gnomon.core.inputs.source import data_source
from gnomon.core.results import Finding
from gnomon.examination.fixes.descent import constant_rate, higher_rate, lower_rate, no_augmentation, optimizer_code
from gnomon.examination.fixes.ends import end_in_log_softmax, usual_loss
from gnomon.examination.fixes.examples import SourceOfChosenExamples, _without
from gnomon.examination.fixes.layers import initialize
from gnomon.examination.fixes.scale import (
    StandardizedInputs,
    TransformedSource,
    input_statistics,
    match_test_scale,
    standardize_inputs,
    standardize_targets,
)
from gnomon.examination.fixes.score import score_network
from gnomon.examination.fixes.trial import TrialRun, steps_to_record
from gnomon.examination.fixes.tried import format_score
from gnomon.examination.recipe import build_recipe
from gnomon.examination.steps.wiring import _find_unregistered
from gnomon.examination.subject import build_subject
from gnomon.findings import data as kinds
from gnomon.training import SGD, Adam
from gnomon.training.plan import BatchPlan

FINDING = Finding(kinds.DRIFTED_COLUMNS)
X = torch.tensor([[1.0, 4.0], [3.0, 8.0], [5.0, 6.0], [3.0, 6.0]])


def planned(net, train, test, *, optimizer=None, steps=8):
    """A subject and a trial of it."""
    network = build_subject(net, train, test, seed=0)
    rule = SGD(0.1) if optimizer is None else optimizer
    return network, TrialRun(net, network.train, data_source(test), network.loss, rule, BatchPlan(2), steps)


def test_statistics_are_those_of_columns_channels_and_all_numbers():
    (mean, std), none = input_statistics((X, torch.arange(4)))
    assert mean.tolist() == [3.0, 6.0] and std.tolist() == pytest.approx([2**0.5, 2**0.5]) and none is None
    images = torch.stack([torch.full((2, 2), 1.0), torch.tensor([[3.0, 5.0], [3.0, 5.0]])])[None]
    ((mean, std),) = input_statistics(images)
    assert mean.flatten().tolist() == [1.0, 4.0] and std.flatten().tolist() == [1.0, 1.0] and mean.shape == (2, 1, 1)
    ((mean, std),) = input_statistics(torch.tensor([1.0, 3.0, 5.0, 7.0]))
    assert (float(mean), float(std)) == (4.0, pytest.approx(5**0.5))
    ((mean, std),) = input_statistics(torch.tensor([[[1.0, 5.0], [3.0, 5.0]], [[1.0, 5.0], [3.0, 5.0]]]))
    assert mean.tolist() == [2.0, 5.0] and std.tolist() == [1.0, 1.0]


class _Given(nn.Module):
    def forward(self, a, b, plain):
        return a, b, plain


def test_inputs_are_standardized_inside_of_the_network():
    network, trial = planned(nn.Linear(2, 1), (X, X[:, :1]), (X, X[:, :1]))
    (change,) = standardize_inputs(trial, FINDING, network)
    change.trial.module.module = nn.Identity()
    z = change.trial.module(X)
    assert torch.allclose(z.mean(0), torch.zeros(2), atol=1e-6) and torch.allclose(
        z.std(0, correction=0), torch.ones(2)
    )
    two = StandardizedInputs(_Given(), [None, (torch.tensor([1.0]), torch.tensor([4.0]))])
    a, b, plain = two(torch.tensor([7.0]), torch.tensor([9.0]), plain=3)
    assert (a.item(), b.item(), plain) == (7.0, 2.0, 3)


def test_targets_are_standardized_by_those_of_train():
    y = torch.tensor([[1.0], [3.0]])
    network, trial = planned(nn.Linear(2, 1), (X[:2], y), (X[:2], torch.tensor([[4.0], [2.0]])))
    (change,) = standardize_targets(trial, FINDING, network)
    root = 2**-0.5  # the standard deviation with divisor n - 1 is the root of 2
    assert change.trial.train.labels().flatten().tolist() == pytest.approx([-root, root])
    assert change.trial.test.labels().flatten().tolist() == pytest.approx([2 * root, 0.0])
    assert standardize_targets(*_classes()) == ()


def _classes():
    network, trial = planned(nn.Linear(2, 2), (X, torch.tensor([0, 1, 0, 1])), (X, torch.tensor([0, 1, 0, 1])))
    return trial, FINDING, network


def test_test_inputs_get_the_scale_of_train():
    network, trial = planned(nn.Linear(2, 1), (X, X[:, :1]), (10 * X + 7, X[:, :1]))
    (change,) = match_test_scale(trial, FINDING, network)
    moved = change.trial.test.whole().x
    assert torch.allclose(moved, X, atol=1e-5)
    named = TransformedSource(data_source({"x": X, "y": X[:, :1]}), targets=lambda y: y - 1)
    assert named.labels().flatten().tolist() == [0.0, 2.0, 4.0, 2.0]


def test_examples_are_left_out_up_to_less_than_half():
    trial, _, _ = _classes()
    (change,) = _without(trial, torch.tensor([2]), "fewer", "")
    assert change.trial.train.labels().tolist() == [0, 1, 1] and len(change.trial.train) == 3
    assert _without(trial, torch.tensor([0, 1]), "half", "") == () == _without(trial, torch.tensor([]), "none", "")
    chosen = SourceOfChosenExamples(trial.train, torch.tensor([3, 0, 1]))
    assert torch.equal(chosen.at(torch.tensor([1, 0])).x, X[[0, 3]])
    assert [len(batch.x) for batch in chosen.batches(2)] == [2, 1]


@pytest.mark.parametrize(
    ("named", "rates"), [(0.0, [0.2, 0.02, 0.002]), (0.5, [0.5, 0.2, 0.02, 0.002]), (2.0, [0.2, 0.02, 0.002]),
                         (1e-6, [0.2, 0.02, 0.002])]
)  # fmt: skip
def test_lower_rates_are_the_usual_factors_and_the_rate_that_is_named(named, rates):
    network, trial = planned(nn.Linear(2, 1), (X, X[:, :1]), (X, X[:, :1]), optimizer=SGD(2.0))
    finding = Finding(kinds.DRIFTED_COLUMNS, values={"other": named})
    changes = lower_rate(trial, finding, network)
    assert [change.trial.optimizer.lr for change in changes] == pytest.approx(rates)


def test_higher_rates_are_ten_to_ten_thousand_times_as_large():
    network, trial = planned(nn.Linear(2, 1), (X, X[:, :1]), (X, X[:, :1]), optimizer=SGD(2.0))
    found = [change.trial.optimizer.lr for change in higher_rate(trial, Finding(kinds.DRIFTED_COLUMNS), network)]
    assert found[:4] == pytest.approx([20.0, 200.0, 2000.0, 20000.0])
    assert optimizer_code(Adam(0.25)) == "torch.optim.Adam(model.parameters(), lr=0.25)"


@pytest.mark.parametrize(("bias", "weight", "count"), [(2.0, 0.5, 1), (2.0, 50.0, 2), (0.01, 0.5, 2)])
def test_large_biases_are_removed_if_the_weights_are_usual(bias, weight, count):
    net = nn.Linear(4, 3)
    with torch.no_grad():
        net.weight.fill_(weight)
        net.bias.copy_(torch.tensor([-bias, bias, bias]))
    network, trial = planned(
        net, (torch.ones(4, 4), torch.tensor([0, 1, 2, 0])), (torch.ones(4, 4), torch.zeros(4).long())
    )
    changes = initialize(trial, FINDING, network)
    assert len(changes) == count
    if count == 1:
        made = changes[0].trial.module
        assert made.bias.tolist() == [0.0] * 3 and torch.equal(made.weight, net.weight) and net.bias[1] == bias


@pytest.mark.parametrize(("steps", "expected"), [(0, [0, 1]), (1, [0, 1]), (3, [0, 1, 2, 3])])
def test_few_steps_are_all_recorded(steps, expected):
    assert steps_to_record(steps) == expected


def test_recorded_steps_are_even_in_logarithms():
    found = steps_to_record(1000)
    assert found == [0, *sorted({round(10 ** (3 * i / 15)) for i in range(16)})]


def test_scores_of_regression_and_of_losses_of_batches():
    y = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    net = nn.Linear(2, 1)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.fill_(3.0)
    network, trial = planned(net, (X, y), (X, y))
    found = score_network(network, trial, net, examples=10, seed=0)
    assert sorted(found.values.tolist()) == pytest.approx(sorted([1 - 9 / 5, 1 - 1 / 5] * 2))  # the variance is 5
    assert found.mean == pytest.approx(0.0) and found.is_share
    assert format_score(0.004, "accuracy") == "0.4 %" and format_score(-1e-9, "accuracy") == "below 0 %"


@pytest.mark.parametrize("given", ["probabilities", "numbers"])
def test_the_ends_of_a_network_become_log_probabilities(given):
    network, trial = planned(nn.Linear(2, 3), (X, torch.tensor([0, 1, 2, 0])), (X, torch.tensor([0, 1, 2, 0])))
    (change,) = end_in_log_softmax(trial, Finding(kinds.DRIFTED_COLUMNS, values={"given": given}), network)
    raw = trial.module(X)
    expected = raw.clamp(min=1e-30).log() if given == "probabilities" else raw.log_softmax(1)
    made = change.trial.module(X)
    assert torch.allclose(made[raw > 0], expected[raw > 0]) if given == "probabilities" else torch.equal(made, expected)
    assert end_in_log_softmax(trial, FINDING, network) == ()


class _Hidden(nn.Module):
    """A layer in a plain list, which has no parameters of the module."""

    def __init__(self):
        super().__init__()
        self.last, self.layers = nn.Linear(3, 2), [nn.Linear(2, 3)]

    def forward(self, x):
        return self.last(self.layers[0](x))


def test_layers_in_a_list_are_found_by_the_gradient_of_the_users_loss():
    network, _ = planned(_Hidden(), (X, torch.tensor([0, 1, 1, 0])), (X, torch.tensor([0, 1, 1, 0])))
    (finding,) = _find_unregistered(network, network.examples(network.train.first(4)))
    assert finding.kind == "layers-not-registered" and finding.values["size"] == 9


def test_the_augmentation_is_left_out_and_nothing_else():
    network, trial = planned(nn.Linear(2, 1), (X, X[:, :1]), (X, X[:, :1]))
    assert no_augmentation(trial, FINDING, network) == ()
    augmented = replace(trial, batches=BatchPlan(2, None, lambda x: 0 * x))
    (change,) = no_augmentation(augmented, FINDING, network)
    assert change.trial.batches == BatchPlan(2) and change.trial.loss is trial.loss


def test_the_usual_loss_replaces_only_a_loss_of_the_user():
    classes = X, torch.tensor([0, 1, 0, 1])
    network, trial = planned(nn.Linear(2, 2), classes, classes)
    assert usual_loss(trial, FINDING, network) == ()
    plan = partial(build_recipe, loss=nn.NLLLoss())
    network = build_subject(nn.Linear(2, 2), classes, classes, seed=0, plan=plan)
    (change,) = usual_loss(replace(trial, loss=network.loss), FINDING, network)
    outputs = torch.tensor([[0.0, 0.0]])
    assert float(change.trial.loss(outputs, torch.tensor([1]))) == pytest.approx(log(2))
    pair, plan = (X, X[:, :1]), partial(build_recipe, loss=nn.L1Loss())
    numbers, regression = planned(nn.Linear(2, 1), pair, pair)
    assert usual_loss(regression, FINDING, numbers) == ()
    numbers = build_subject(nn.Linear(2, 1), pair, pair, seed=0, plan=plan)
    (change,) = usual_loss(regression, FINDING, numbers)
    assert float(change.trial.loss(torch.zeros(2), torch.full((2,), 3.0))) == 9.0


def test_a_schedule_is_left_out():
    network, trial = planned(nn.Linear(2, 1), (X, X[:, :1]), (X, X[:, :1]))
    assert constant_rate(trial, FINDING, network) == ()
