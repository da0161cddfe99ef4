"""Clauses of the scope on robustness that no claim measures; the ledger names these tests."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.atlas.claims.robustness import pgd_linf
from gnomon.data import digits
from gnomon.robustness import robust_accuracy
from gnomon.robustness.attacks.base import AttackedModel
from gnomon.robustness.attacks.gradient import PGD
from gnomon.robustness.attacks.threat import ThreatModel
from gnomon.training import Adam, Adversary


@pytest.mark.full
def test_adversarial_training_gains_twenty_points_of_robust_accuracy():
    """robust-training-minimax: robust accuracy rises by >= 0.2, accuracy falls by <= 0.05."""
    split, eps, found = digits(800, 300, seed=0), 0.15, []
    for adversary in (None, Adversary(eps)):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        net = gnomon.train(
            net, (split.x, split.y), steps=400, batch=100, optimizer=Adam(3e-3), adversary=adversary
        ).model
        clean = float((net(split.x_test).argmax(1) == split.y_test).float().mean())
        robust = robust_accuracy(net, (split.x_test, split.y_test), eps=eps, attacks=(PGD(),))
        found.append((clean, float(robust.value)))
    (clean, plain), (kept, trained) = found
    assert trained >= plain + 0.2 and kept >= clean - 0.05


def test_clipped_steps_arrive_on_time_and_rescaled_ones_stay_behind():
    """pgd-linf: from zero, e = eps sign(w) after ceil(eps / a) steps and not before; w.e of rescaled steps < eps |w|_1."""
    net = nn.Linear(6, 2).double()
    with torch.no_grad():
        net.bias.copy_(torch.tensor([9.0, 0.0]))  # the decision stays, so no step is saved
    w, x, y = (net.weight[1] - net.weight[0]).detach(), torch.zeros(1, 6).double(), torch.tensor([0])
    threat, moves = ThreatModel(0.25, "inf", -9.0, 9.0), []
    with AttackedModel(net).attack_mode() as victim:
        for steps in (2, 3):  # ceil(1 / 0.4) = 3
            moves.append(PGD(steps, 0.4).run(victim, x, y, threat, torch.Generator())[0])
    torch.testing.assert_close(moves[0], 0.2 * w.sign())
    torch.testing.assert_close(moves[1], 0.25 * w.sign())
    both = pgd_linf.observed, pgd_linf.control
    scores = [move(d=10, eps=0.3, step=0.07, seed=0) @ pgd_linf.problem(10, 0)[0] for move in both]
    assert scores[1] < 0.99 * scores[0]
