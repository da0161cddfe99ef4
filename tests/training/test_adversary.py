"""Adversarial training: the move is the worst one where that is known, and the trained network withstands more."""

import copy

import pytest
import torch
from torch import nn

import gnomon
from gnomon.data import digits
from gnomon.robustness import robust_accuracy
from gnomon.robustness.attacks import PGD
from gnomon.training import SGD, Adam, Adversary
from gnomon.training.evaluate import Objective


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_a_linear_model_is_moved_to_the_worst_point(norm):
    torch.manual_seed(0)
    net = nn.Linear(3, 1).double()
    x, y = torch.rand(6, 3).double(), torch.randn(6, 1).double()
    objective = Objective.of((x, y), net, None)
    z = Adversary(0.2, norm=norm, bounds=(-9.0, 9.0), iterations=20).moved_inputs(net, objective, x, y, 1)
    w = net.weight.detach()[0]
    away = (net(x).detach() - y).sign() * (w.sign() if norm == "inf" else w / w.norm())
    torch.testing.assert_close(z, x + 0.2 * away, rtol=1e-9, atol=1e-9)
    clipped = Adversary(0.2, norm=norm, iterations=20).moved_inputs(net, objective, x, y, 1)
    assert 0 <= float(clipped.min()) and float(clipped.max()) <= 1


def test_eps_grows_along_the_ramp_and_a_step_is_that_of_the_moved_inputs():
    torch.manual_seed(0)
    net, x, y = nn.Linear(2, 1).double(), torch.rand(4, 2).double(), torch.randn(4).double()
    adversary = Adversary(0.1, ramp=10, iterations=3, step=0.5, bounds=(-1.0, 2.0))
    objective = Objective.of((x, y), net, None)
    x1, y1 = next(iter(objective.batches()))
    moves = [float((adversary.moved_inputs(net, objective, x1, y1, at) - x).abs().max()) for at in (1, 5, 10, 50)]
    assert moves == pytest.approx([0.01, 0.05, 0.1, 0.1], rel=1e-6)
    run = gnomon.train(net, (x, y), optimizer=SGD(0.3), steps=1, adversary=adversary)
    by_hand = copy.deepcopy(net)
    z = adversary.moved_inputs(by_hand, objective, x1, y1, 1)
    ((by_hand(z) - y1) ** 2).mean().div(2).backward()
    torch.testing.assert_close(run.model.weight, by_hand.weight - 0.3 * by_hand.weight.grad)
    assert float(run.loss[0]) == pytest.approx(
        float(((net(x).detach()[:, 0] - y) ** 2).mean() / 2)
    )  # records are made without


def test_statistics_of_batch_norm_see_each_batch_once():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    x, y = torch.rand(8, 2), torch.randint(0, 2, (8,))
    run = gnomon.train(net, (x, y), steps=5, adversary=Adversary(0.1))
    assert int(run.model[1].num_batches_tracked) == 5


def test_training_against_an_adversary_makes_decisions_that_withstand_it():
    data = digits(600, 100)
    x, y = data.x.reshape(len(data.x), -1), data.y
    low, high = float(x.min()), float(x.max())
    x, test = (x - low) / (high - low), (data.x_test.reshape(100, -1) - low) / (high - low)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    kept = {}
    for name, adversary in (("plain", None), ("adversarial", Adversary(0.15, iterations=4, step=0.4, ramp=40))):
        model = gnomon.train(
            net, (x, y), optimizer=Adam(0.01), steps=120, batch=100, record=[120], adversary=adversary
        ).model
        kept[name] = robust_accuracy(model.eval(), (test.clamp(0, 1), data.y_test), eps=0.15, attacks=(PGD(20),)).value
    assert kept["adversarial"] > kept["plain"] + 0.15
