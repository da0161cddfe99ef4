"""Faults of training: learning rates, decay, explosions and how a run ended, each with its healthy control."""

import pytest
import torch
from torch import nn

from gnomon.checks import find_explosion
from gnomon.checks.run.decay import weight_decay_findings, weight_decay_of
from gnomon.checks.run.outcome import AccuracyOutcome, outcome_findings
from gnomon.checks.run.outcome_numbers import regression_outcome_findings
from gnomon.checks.run.step_size import learning_rate_findings, scale_learning_rates, short_runs
from gnomon.data import digits
from gnomon.training import SGD, Adam, CrossEntropy
from gnomon.training.torch_optimizers import resolve_optimizer

SPLIT = digits(300, 100)
X, Y = SPLIT.x.flatten(1), SPLIT.y


def perceptron():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


RATES = [
    (Adam(1e-3), None),
    (Adam(1e-6), "learning-rate-too-small"),
    (Adam(10.0), "learning-rate-too-large"),
    (Adam(1e3), "learning-rate-too-large"),  # nothing above a thousandth of it brings the loss down
    (SGD(0.1, momentum=0.9), None),
    (SGD(1e-6), "learning-rate-too-small"),
    (resolve_optimizer(lambda p: torch.optim.RMSprop(p, lr=1e-3), None), None),
    (resolve_optimizer(lambda p: torch.optim.RMSprop(p, lr=1e-7), None), "learning-rate-too-small"),
]


@pytest.mark.parametrize("rule, kind", RATES, ids=lambda v: getattr(v, "name", v))
def test_learning_rates(rule, kind):
    falls, start = short_runs(perceptron(), X, Y, loss=CrossEntropy(), optimizer=rule, steps=30, batch=32)
    found = [f.kind for f in learning_rate_findings(falls, start=start, lr=rule.lr, steps=30)]
    assert found == ([] if kind is None else [kind]), falls


def test_a_whole_run_that_brought_nothing_is_no_patience():
    """Its loss is of other examples than that of the short runs: they differ by more than any of the falls."""
    falls = {0.1: 1.6e-6, 1.0: 1.6e-5, 10.0: 1.6e-4, 100.0: 1.6e-3}
    for reached, kinds in ((0.007, ["learning-rate-too-small"]), (0.5, [])):
        found = learning_rate_findings(falls, start=2.3, lr=1e-7, steps=15, fall_in_whole_run=reached)
        assert [f.kind for f in found] == kinds


def test_rates_of_torch_optimizers_are_scaled():
    rule = resolve_optimizer(lambda p: torch.optim.SGD(p, lr=0.1), None)
    made = scale_learning_rates(rule, 10.0).memory([nn.Parameter(torch.zeros(1))])
    assert made.param_groups[0]["lr"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "rule, decay, apart",
    [
        (lambda p: torch.optim.AdamW(p, weight_decay=0.1), 0.1, True),
        (lambda p: torch.optim.Adam(p, weight_decay=0.2), 0.2, False),
        (lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.3), 0.3, False),
    ],
)
def test_decay_is_read_from_optimizers(rule, decay, apart):
    assert weight_decay_of(resolve_optimizer(rule, None)) == (decay, apart)


def test_decay():
    usual = {"weights": 15.0, "rms": 0.05, "gradient": 1.0}
    assert (
        weight_decay_findings(5e-4, **usual, decoupled=False) == ()
        and weight_decay_findings(0.05, **usual, decoupled=True) == ()
    )
    assert weight_decay_findings(1.0, **usual, decoupled=False)[0].kind == "weight-decay-wins"
    assert weight_decay_findings(30.0, **usual, decoupled=True)[0].kind == "weight-decay-wins"


def test_explosion_names_step_and_layer():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    found = find_explosion(net, (X, Y), loss=nn.functional.cross_entropy, optimizer=SGD(1e5))
    assert found.findings[0].kind == "exploding-loss" and 1 < found.step <= 4 and found.layer in "02"
    assert find_explosion(net, (X, Y), loss=nn.functional.cross_entropy, optimizer=Adam()).findings == ()


@pytest.mark.parametrize(
    "found, kinds",
    [
        (AccuracyOutcome(1.0, 0.97, 1000, 1000, 0.1, 0.95), []),
        (AccuracyOutcome(1.0, 0.7, 1000, 1000, 0.1, 0.72), ["overfit"]),
        (AccuracyOutcome(1.0, 0.8, 60, 20, 0.1, 0.8), []),  # too few to tell
        (AccuracyOutcome(0.6, 0.6, 1000, 1000, 0.1, 0.95), ["underfit"]),
        (AccuracyOutcome(0.11, 0.1, 1000, 1000, 0.11, 0.95), ["not-learning"]),
        (AccuracyOutcome(0.7, 0.69, 1000, 1000, 0.65, 0.7), []),  # a hard problem
    ],
)
def test_outcomes(found, kinds):
    assert [f.kind for f in outcome_findings(found)] == kinds


def test_what_helps_against_overfitting_is_told_by_the_learning_curve():
    steep = outcome_findings(AccuracyOutcome(1.0, 0.7, 1000, 1000, 0.1, 0.72, gain=0.05, fitted=900))[0].fix
    flat = outcome_findings(AccuracyOutcome(1.0, 0.7, 1000, 1000, 0.1, 0.72, gain=0.001, fitted=900))[0].fix
    assert steep.startswith("Collect more examples") and "+5.0 points" in steep
    assert flat.startswith("Stop earlier") and "help little" in flat


def errors(mean, n, seed=0):
    """Squared errors like those of normal residuals."""
    return mean * torch.randn(n, generator=torch.Generator().manual_seed(seed)).square()


@pytest.mark.parametrize(
    "train, test, simple, kinds",
    [
        (errors(0.05, 1000), errors(0.07, 500, 1), 0.9, []),
        (errors(0.02, 300), errors(0.6, 200, 1), 0.4, ["overfit"]),
        (errors(0.02, 12), errors(0.3, 6, 1), 0.4, []),  # too few to tell
        (errors(0.5, 1000), errors(0.5, 500, 1), 0.9, ["underfit"]),
        (errors(1.0, 1000), errors(1.0, 500, 1), 0.9, ["not-learning"]),
        (errors(0.95, 1000), errors(0.97, 500, 1), 0.1, []),  # a hard problem
        (errors(0.05, 1000), None, 0.9, []),
    ],
)
def test_outcomes_of_regression(train, test, simple, kinds):
    assert [f.kind for f in regression_outcome_findings(train, test, simple=simple)] == kinds


def test_batch_norm_does_not_hide_a_learning_rate_that_is_too_small():
    """By running statistics the loss falls while these settle, by the same for every rate."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
    x = 5 * X + 3
    for rule, kinds in ((Adam(1e-7), ["learning-rate-too-small"]), (Adam(1e-3), []), (Adam(1e-4), [])):
        falls, start = short_runs(net, x, Y, loss=CrossEntropy(), optimizer=rule, steps=30, batch=32)
        assert [f.kind for f in learning_rate_findings(falls, start=start, lr=rule.lr, steps=30)] == kinds, falls
    assert not net[1].num_batches_tracked
