"""Advice against what happens to those who do not follow it."""

import pytest
import torch
from torch import nn

from gnomon.examination.advice import advise
from gnomon.examination.subject import subject
from gnomon.training import SGD

X = torch.linspace(-2, 2, 9)[:, None]
Y = 3 * X


def grows(curvature, lr, momentum):
    """Whether 200 steps of the heavy ball on a parabola end farther from its bottom than they began."""
    away, velocity = 1.0, 0.0
    for _ in range(200):
        velocity = momentum * velocity - lr * curvature * away
        away += velocity
    return abs(away) > 1


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_step_is_called_too_large_exactly_where_training_diverges(momentum, factor):
    curvature = float(X.double().square().mean())
    edge = 2 * (1 + momentum) / curvature  # where the heavy ball turns unstable, checked by running it
    lr = factor * edge
    assert grows(curvature, lr, momentum) == (factor > 1)
    net = nn.Linear(1, 1, bias=False)
    given = subject(net, (X, Y), None, optimizer=SGD(lr, momentum=momentum), seed=0)
    told = [a for a in advise(given, {"stable lr": 2 / curvature}) if a.section == "stability"]
    assert bool(told) == (factor > 1)
    for advice in told:
        assert f"{factor:.1f}x above the stable limit {edge:.3g}" in advice.because
        assert f"{0.5 * edge:.2g}" in advice.action


@pytest.mark.parametrize("factor, asks", [(0.12, False), (0.08, True)])
def test_a_tenth_of_the_limit_with_momentum_is_where_a_step_is_called_small(factor, asks):
    edge = 2 * 1.9 / float(X.square().mean())
    given = subject(nn.Linear(1, 1), (X, Y), None, optimizer=SGD(factor * edge, momentum=0.9), seed=0)
    told = [a for a in advise(given, {"stable lr": edge / 1.9}) if a.section == "stability"]
    assert [a.action for a in told] == ([f"Try a larger learning rate, up to {0.5 * edge:.2g}"] if asks else [])
