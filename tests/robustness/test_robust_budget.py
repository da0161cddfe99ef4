"""Attacks that end at a time limit keep what they have broken."""

import pytest
import torch
from torch import nn

from gnomon.core.machine import budget as limits
from gnomon.robustness import robust_accuracy
from gnomon.robustness.attacks.apgd import APGD
from gnomon.robustness.attacks.attack_order import MostVulnerableFirst, SampleFirst
from gnomon.robustness.attacks.base import AttackedModel
from gnomon.robustness.attacks.gradient import FGSM, PGD
from gnomon.robustness.attacks.shrinking import ShrinkingSteps
from gnomon.robustness.attacks.square import SquareAttack


@pytest.fixture
def problem():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
    x = torch.rand(40, 1, 8, 8)
    return net, (x, net(x).argmax(1)), {"eps": 0.03}


@pytest.fixture
def clock(monkeypatch):
    """Time that passes by one second with every query; ``attacks begin`` at 1,000."""
    now = [0.0]
    slope, scores = AttackedModel.slope, AttackedModel.all_scores

    def count(method):
        def counted(self, *arguments):
            now[0] += self.keeps_partial_results  # the checks of assumptions before the attacks take no time
            return method(self, *arguments)

        return counted

    monkeypatch.setattr(AttackedModel, "slope", count(slope))
    monkeypatch.setattr(AttackedModel, "all_scores", count(scores))
    monkeypatch.setattr(limits, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    "attacks",
    [
        (PGD(40, 0.02),),
        (MostVulnerableFirst(APGD(40), 20),),
        (SampleFirst(SquareAttack(60), rest=(SquareAttack(80),)),),
        (FGSM(), PGD(10), APGD(20)),
    ],
    ids=lambda attacks: attacks[-1].__class__.__name__ + str(len(attacks)),
)
def test_more_time_breaks_at_least_as_much_and_enough_time_everything(problem, clock, attacks):
    net, data, threat = problem
    everything = robust_accuracy(net, data, attacks=attacks, **threat)
    values = []
    for seconds in (2.5, 8.5):
        clock[0] = 0.0
        found = robust_accuracy(net, data, attacks=attacks, budget=seconds, **threat)
        values.append(found.value)
        assert clock[0] <= seconds + 25  # after the limit only the points found so far are checked
        moved = found.examples - data[0]
        assert float(moved.abs().max()) <= 0.03 + 1e-6
        with torch.no_grad():
            assert torch.equal(net(found.examples).argmax(1) != data[1], ~found.robust)
        assert found.complete or "the budget ended the attacks early" in found.verdict
    assert values == sorted(values, reverse=True) and min(values) >= everything.value - 1e-9
    clock[0] = 0.0
    enough = robust_accuracy(net, data, attacks=attacks, budget=1e6, **threat)
    assert enough.complete and enough.value == everything.value and "early" not in enough.verdict


def test_an_attack_that_shrinks_balls_returns_allowed_points_when_its_time_is_up(problem, clock):
    net, data, threat = problem
    found = robust_accuracy(net, data, attacks=(ShrinkingSteps(10, 4),), budget=2.5, **threat)
    assert not found.complete and float((found.examples - data[0]).abs().max()) <= 0.03 + 1e-6
    with torch.no_grad():
        assert torch.equal(net(found.examples).argmax(1) != data[1], ~found.robust)


def test_points_that_an_attack_broke_before_its_time_was_up_are_kept(problem, clock):
    net, data, threat = problem
    found = robust_accuracy(net, data, attacks=(PGD(40, 0.05),), budget=20.5, **threat)
    whole = robust_accuracy(net, data, attacks=(PGD(40, 0.05),), **threat)
    assert not found.complete and found.broken[0][0] == "PGD"
    assert 1.0 > found.value >= whole.value and found.broken[0][1] == int((~found.robust).sum())


def test_attacks_after_the_limit_do_not_begin(problem, clock):
    net, data, threat = problem
    begun = []
    found = robust_accuracy(
        net,
        data,
        attacks=(PGD(40, 0.05), APGD(40)),
        budget=10.5,
        progress=lambda name, left: begun.append(name),
        **threat,
    )
    assert begun == ["PGD"] and len(found.broken) == 1
