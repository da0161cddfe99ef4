"""Decisions of a network: over all examples, in whatever batches they come."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.margins import MarginsStep
from gnomon.training import train
from tests.examination.steps.setting import answered


def test_regression_explains_what_is_left_of_the_variance():
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    net = nn.Linear(1, 1)
    with torch.no_grad():
        net.weight.fill_(1.0)
        net.bias.fill_(0.5)
    result = answered(MarginsStep, net, (x, torch.tensor([0.0, 1.0, 2.0, 5.0])))
    values = {v.name: v.value for v in result.content.values}
    # residuals 1/2, 1/2, 1/2, -3/2: their mean square is 3/4; targets around 2: variance (4 + 1 + 0 + 9) / 4
    assert values["root mean square error"] == pytest.approx(0.75**0.5)
    assert result.product.explained == pytest.approx(1 - 0.75 / 3.5)
    assert values["hardest examples"].startswith("3")


def kinds(result):
    return [finding.kind for finding in result.content.findings]


def test_how_sure_a_network_is_that_guesses_is_no_finding():
    """Logits of +-50: always sure of one class, right in half of the cases; then right in three of four."""
    net = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[50.0], [-50.0]]))
    x, y = torch.ones(20, 1), torch.arange(20) % 2
    result = answered(MarginsStep, net, (x, y))
    assert kinds(result) == ["untrained"] and "sure" not in result.content.answer
    assert result.product.calibration.gap == pytest.approx(0.5) and result.product.margins.accuracy == 0.5
    run = train(net, (x, y), steps=1, optimizer="sgd")
    assert kinds(answered(MarginsStep, net, (x, y), [run])) == ["chance-level"]
    y = torch.arange(40) % 2
    x, y = 1.0 - 2.0 * y[:, None], torch.where(torch.arange(40) < 10, 1 - y, y)
    result = answered(MarginsStep, net, (x, y))
    assert kinds(result) == ["overconfident"] and result.product.calibration.gap == pytest.approx(0.25)


def test_an_accuracy_far_below_a_simple_model_is_no_good_news():
    x = torch.arange(200.0)[:, None] % 2
    y = x[:, 0].long()
    net = nn.Linear(1, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0], [1.0]]))
        net.bias.copy_(torch.tensor([0.0, -0.5]))
    wrong = y.clone()
    wrong[:60] = 1 - y[:60]  # the network is right on 70 % of these labels, up to 76 % by its interval
    strong = DataChecks(guess=0.5, simple=0.95, examples=200)
    weak = DataChecks(guess=0.5, simple=0.75, examples=4000)
    poor = answered(MarginsStep, net, (x, wrong), [strong])
    assert not poor.content.good_news and "is right on 95.0% of held-out examples" in poor.content.answer
    assert answered(MarginsStep, net, (x, y), [strong]).content.good_news
    assert answered(MarginsStep, net, (x, wrong), [weak]).content.good_news
