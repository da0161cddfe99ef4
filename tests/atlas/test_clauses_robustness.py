"""Clauses of the scope on robustness that no claim measures; the ledger names these tests."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.data import digits
from gnomon.robustness import robust_accuracy
from gnomon.robustness.attacks.gradient import PGD
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
