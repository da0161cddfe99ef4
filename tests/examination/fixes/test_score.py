"""The gain of a fix has an interval that covers the true gain as often as it says."""

import pytest
import torch
from torch import nn

from gnomon.examination.fixes.prove import combine_seeds
from gnomon.examination.fixes.score import gain_interval, score_network
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import build_subject
from gnomon.training import Adam
from gnomon.training.plan import BatchPlan


def pairs(n, better, worse, generator):
    """Outcomes of two networks: this share of examples is right only with, and only without the fix."""
    u = torch.rand(n, generator=generator)
    before = torch.where(u < better, 0.0, torch.where(u < better + worse, 1.0, (u < 0.7).float()))
    after = torch.where(u < better, 1.0, torch.where(u < better + worse, 0.0, (u < 0.7).float()))
    return before, after


@pytest.mark.parametrize("better, worse", [(0.2, 0.05), (0.02, 0.02), (0.0, 0.0)])
def test_the_interval_of_shares_covers_the_true_gain(better, worse):
    generator = torch.Generator().manual_seed(0)
    drawn = [gain_interval(*pairs(100, better, worse, generator)) for _ in range(600)]
    covered = sum(better - worse in interval for interval in drawn) / len(drawn)
    assert covered > 0.93  # 95 % by design; the deviation of 600 draws is 0.9 %
    if better > 0.1:
        assert covered < 0.985  # and it is not wider than needed
        assert abs(drawn[0].width - 2 * 1.96 * (0.25 - 0.15**2) ** 0.5 / 10) < 0.06


def test_the_interval_of_numbers_covers_the_true_gain():
    generator = torch.Generator().manual_seed(1)
    drawn = []
    for _ in range(600):
        before = torch.randn(50, generator=generator, dtype=torch.float64)
        drawn.append(gain_interval(before, before + 0.3 + torch.randn(50, generator=generator, dtype=torch.float64)))
    covered = sum(0.3 in interval for interval in drawn) / len(drawn)
    assert 0.92 < covered < 0.975


def test_two_seeds_that_disagree_widen_the_interval():
    one = gain_interval(torch.zeros(100), torch.ones(100))
    both = combine_seeds(one, (1.0, 0.0))
    assert both.low < 0.5 - 0.98 + 1e-9 and abs((both.low + both.high) / 2 - 0.5) < 1e-9
    assert combine_seeds(one, (0.97, 0.97)).width == pytest.approx(one.width)


def scored(net, data, *, balanced=False, seed=0):
    network = build_subject(net, data, None, seed=0)
    trial = TrialRun(net, network.train, network.train, network.loss, Adam(), BatchPlan(4), 1, balanced)
    return score_network(network, trial, net, examples=1000, seed=seed)


def test_scores_are_accuracy_for_classes_and_explained_variance_for_numbers():
    x = torch.tensor([[1.0], [2.0], [-1.0], [3.0]])
    net = nn.Linear(1, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0], [1.0]])), net.bias.zero_()
    assert scored(net, (x, torch.tensor([1, 1, 0, 0]))).mean == 0.75
    rare = scored(net, (x, torch.tensor([1, 1, 1, 0])), balanced=True)  # 2 of 3 right, and 0 of 1
    assert rare.mean == pytest.approx(1 / 3)
    line = nn.Linear(1, 1)
    with torch.no_grad():
        line.weight.fill_(1.0), line.bias.zero_()
    y = torch.tensor([2.0, 2.0, 0.0, 3.0])
    expected = 1 - float((x[:, 0] - y).square().mean() / y.var(correction=0))
    found = scored(line, (x, y))
    assert found.unit == "explained variance" and found.mean == pytest.approx(expected, abs=1e-6)
