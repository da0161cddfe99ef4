"""Loss before training, size of the first steps, one batch: planted problems, thresholds, and healthy networks."""

from math import log

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.checks.run import one_batch
from gnomon.checks.run.initial_loss import initial_loss_findings
from gnomon.checks.run.one_batch import OneBatchFit, fit_one_batch, one_batch_findings
from gnomon.checks.run.schedule import schedule_findings
from gnomon.checks.run.update_ratio import update_ratio_findings, update_ratios
from gnomon.core.losses import CrossEntropy, Squared
from gnomon.training import SGD, Adam


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def network(kind, seed):
    """A healthy network with 10 inputs and 3 outputs."""
    torch.manual_seed(seed)
    norm = (nn.BatchNorm1d(32),) if kind == "norm" else ()
    activation = {"tanh": nn.Tanh, "gelu": nn.GELU}.get(kind, nn.ReLU)
    drop = (nn.Dropout(0.3),) if kind == "dropout" else ()
    deep = (nn.Linear(32, 32), activation()) if kind == "deep" else ()
    return nn.Sequential(nn.Linear(10, 32), *norm, activation(), *drop, *deep, nn.Linear(32, 3))


KINDS = ("relu", "tanh", "gelu", "norm", "dropout", "deep")


def alarms(kind, seed):
    """The findings of all three checks for one healthy network on random inputs with random labels."""
    net, x, y = network(kind, seed), drawn(64, 10, seed=seed), torch.arange(64) % 3
    rule = (Adam(3e-3), SGD(0.1))[seed % 2]
    found = list(initial_loss_findings(net(x), y, loss=None))
    ratios = update_ratios(net, x, y, loss=CrossEntropy(), optimizer=rule, batch=16, seed=seed)
    found += update_ratio_findings(ratios, lr=rule.lr)
    return found + list(one_batch_findings(fit_one_batch(net, x, y, loss=CrossEntropy(), optimizer=Adam(3e-3))))


@pytest.mark.parametrize("kind", KINDS)
def test_a_healthy_network_raises_no_alarm(kind):
    assert alarms(kind, 0) == []


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_healthy_networks_raise_no_alarm(kind, seed):
    assert alarms(kind, seed) == []


@pytest.mark.parametrize("factor, found", [(3.9, False), (4.1, True)])
def test_the_first_loss_may_be_four_times_that_of_guessing(factor, found):
    wanted = factor * log(4)
    f = torch.zeros(20, 4)
    y = torch.arange(20) % 4
    # one wrong class far above the others: the cross-entropy is about the height, up to log(1 + 3 exp(-h))
    f[torch.arange(20), (y + 1) % 4] = wanted
    assert float(F.cross_entropy(f, y)) == pytest.approx(wanted, rel=0.02)
    assert bool(initial_loss_findings(f, y, loss=None)) is found


def test_the_message_compares_with_the_logarithm_of_the_classes():
    y = torch.arange(20) % 4
    (found,) = initial_loss_findings(60.0 * F.one_hot((y + 1) % 4), y, loss=None)
    assert found.values["guess"] == pytest.approx(log(4)) and found.values["start"] == pytest.approx(60.0, rel=1e-3)


@pytest.mark.parametrize("factor, found", [(-0.01, True), (0.0, False), (4.9, False), (5.1, True)])
def test_a_loss_of_the_users_own_is_compared_with_the_cross_entropy(factor, found):
    y, f = torch.arange(20) % 4, torch.zeros(20, 4)
    loss = lambda outputs, targets: factor * F.cross_entropy(outputs, targets)  # noqa: E731
    assert bool(initial_loss_findings(f, y, loss=loss)) is found


def test_kl_of_probabilities_is_negative():
    y, f = torch.arange(20) % 4, drawn(20, 4)

    def loss(outputs, targets):
        return F.kl_div(outputs.softmax(1), F.one_hot(targets, 4).float(), reduction="batchmean")

    (found,) = initial_loss_findings(f, y, loss=loss)
    assert found.level.name == "PROBLEM" and found.values["start"] < 0


@pytest.mark.parametrize("ratio, kinds", [(2.9e-6, 1), (3.1e-6, 0), (0.19, 0), (0.21, 1)])
def test_the_median_ratio_has_two_limits(ratio, kinds):
    assert len(update_ratio_findings({"a": ratio, "b": ratio, "c": 1.01 * ratio}, lr=0.1)) == kinds


@pytest.mark.parametrize("ratio, found", [(0.9e-7, True), (1.1e-7, False)])
def test_a_layer_that_hardly_moves_is_named(ratio, found):
    result = update_ratio_findings({"first": ratio, "second": 1e-3, "last": 1e-3}, lr=0.1)
    assert [finding.where for finding in result] == (["first"] if found else [])


def test_the_ratio_of_gradient_descent_is_the_gradient_over_the_weight():
    layer = nn.Linear(2, 1, bias=False)
    x, y = torch.ones(8, 2), torch.zeros(8, 1)
    nn.init.constant_(layer.weight, 1.0)
    ratios = update_ratios(layer, x, y, loss=Squared(), optimizer=SGD(1e-3), batch=8)
    # every example has output 2 w, and Squared is half of the squared error: the gradient is 2 w for each weight
    assert ratios[""] == pytest.approx((1 - (1 - 2e-3) ** 4) / 4, rel=1e-4)
    assert float(layer.weight.detach()[0, 0]) == 1.0  # the module is not changed


@pytest.mark.parametrize("own, adam, kind", [(0.79, 0.79, "PROBLEM"), (0.79, 0.81, "WARNING"), (0.81, 0.81, None)])
def test_the_optimizer_or_the_network_is_the_reason(own, adam, kind):
    levels = [finding.level.name for finding in one_batch_findings(OneBatchFit(8, 200, own, adam))]
    assert levels == ([] if kind is None else [kind])


class Rounded(nn.Module):
    """A network whose output does not depend on its input."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(10, 3)

    def forward(self, x):
        return self.layer(0 * x)


def test_a_network_that_ignores_its_inputs_cannot_fit_a_batch():
    x, y = drawn(40, 10), torch.arange(40) % 3
    found = fit_one_batch(Rounded(), x, y, loss=CrossEntropy(), optimizer=Adam(1e-2))
    assert found.adam < 0.8 and one_batch_findings(found)[0].level.name == "PROBLEM"


def test_a_tiny_rate_cannot_fit_a_batch_and_adam_can():
    x, y = drawn(40, 10), torch.arange(40) % 3
    found = fit_one_batch(network("relu", 0), x, y, loss=CrossEntropy(), optimizer=SGD(1e-6))
    assert found.own < 0.8 <= found.adam


def test_numbers_are_fitted_by_explained_variance():
    x = drawn(40, 10)
    found = fit_one_batch(nn.Linear(10, 1), x, x[:, :1], loss=Squared(), optimizer=Adam(3e-2))
    assert found.own > 0.95 and found.examples == 8


def test_seven_different_examples_are_too_few():
    x, y = drawn(7, 10).repeat(5, 1), torch.arange(35) % 3
    assert fit_one_batch(network("relu", 0), x, y, loss=CrossEntropy(), optimizer=Adam(1e-2)) is None


@pytest.mark.parametrize("top, found", [(0.009, True), (0.011, False)])
def test_a_schedule_must_reach_a_tenth_of_the_rate(top, found):
    rates = [top * (i + 1) / 10 for i in range(10)]
    assert bool(schedule_findings(rates, base=0.1)) is found
    assert schedule_findings(rates) == ()


@pytest.mark.parametrize(("middle", "other"), [(1e-6, 0.5 * 1e3), (1e-10, 0.5 * 1e6), (0.5, 0.5 * 1e-2 / 0.5)])
def test_the_rate_that_is_proposed_gives_usual_steps(middle, other):
    """A ratio of 1e-3, at most a million times the rate; steps that are too large are brought to 1e-2."""
    (found,) = update_ratio_findings({"a": middle, "b": middle}, lr=0.5)
    assert found.values["other"] == pytest.approx(other) and found.values["ratio"] == middle


def test_the_fitted_share_of_numbers_is_the_explained_variance():
    """A network that hardly moves predicts 1 and 2: errors of 1, 3, 1, 3 and of 0, 2, 2, 0 around means 3 and 3."""
    layer = nn.Linear(1, 2)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([1.0, 2.0]))
    y = torch.tensor([[2.0, 2.0], [4.0, 4.0], [2.0, 4.0], [4.0, 2.0]])
    share = one_batch._fitted_share(layer, torch.ones(4, 1), y, Squared(), SGD(1e-9), lambda t: t)
    assert share == pytest.approx(1 - (20 + 8) / 8, rel=1e-5)
    right = torch.tensor([1, 1, 0, 1])
    assert one_batch._fitted_share(layer, torch.ones(4, 1), right, CrossEntropy(), SGD(1e-9), lambda t: t) == 0.75
    assert one_batch._fitted_share(layer, torch.ones(4, 1), 0 * y + 3, Squared(), SGD(1e-9), lambda t: t) == 1.0


@pytest.mark.parametrize(
    ("reached", "rates", "own", "best"),
    [((0.9,), (), 0.9, 0.9), ((0.1, 0.85), (3e-3,), 0.1, 0.85), ((0.1, 0.5, 0.3), (3e-3, 3e-2), 0.1, 0.5)],
)
def test_adam_is_tried_at_two_rates_until_the_batch_is_fitted(reached, rates, own, best, monkeypatch):
    tried, left = [], list(reached)

    def fitted(module, x, y, loss, optimizer, targets):
        tried.append(optimizer)
        return left.pop(0)

    monkeypatch.setattr(one_batch, "_fitted_share", fitted)
    found = fit_one_batch(
        nn.Linear(10, 3), drawn(40, 10), torch.arange(40) % 3, loss=CrossEntropy(), optimizer=SGD(1.0)
    )
    assert tried == [SGD(1.0), *(Adam(rate) for rate in rates)] and not left
    assert (found.examples, found.steps, found.own, found.adam) == (8, 200, own, best)


def test_a_batch_is_trained_for_two_hundred_steps_at_once(monkeypatch):
    asked, original = {}, one_batch.train
    monkeypatch.setattr(one_batch, "train", lambda *data, **known: asked.update(known) or original(*data, **known))
    one_batch._fitted_share(nn.Linear(1, 1), drawn(8, 1), drawn(8, 1), Squared(), SGD(0.1), lambda t: t)
    assert (asked["steps"], asked["batch"], asked["record"]) == (200, 8, [0, 200])


def test_shares_below_zero_are_shown_as_zero():
    (found,) = one_batch_findings(OneBatchFit(8, 200, -0.5, -0.2))
    assert (found.values["own"], found.values["adam"]) == (0.0, 0.0)
