"""Pictures that are moved by a pixel: a finding where a person would not see the difference, and only there."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.invariance import InvarianceStep
from gnomon.training import train
from tests.examination.steps.setting import answered


def edges(side, wide):
    """Stripes of some pixels, and which of two columns is bright; the network compares these two columns alone."""
    y = torch.arange(200) % 2
    x = torch.zeros(200, 1, side, side)
    for c in (0, 1):
        x[y == c, :, :, 3 * c : 3 * c + wide] = 1.0
    net = nn.Sequential(nn.Flatten(), nn.Linear(side * side, 2, bias=False))
    with torch.no_grad():
        net[1].weight.zero_()
        for c in (0, 1):
            net[1].weight.view(2, side, side)[c, :, 3 * c + wide // 2] = 1.0
            net[1].weight.view(2, side, side)[c, :, 3 * (1 - c) + 1 + wide // 2] = 0.5
    return net, x, y


@pytest.mark.parametrize(("side", "wide", "kinds"), [(28, 1, ["shifts-change-decisions"]), (28, 3, []), (8, 1, [])])
def test_a_shift_that_cannot_be_seen_must_not_change_decisions(side, wide, kinds):
    """Stripes of one pixel leave their column when they are moved; on 8 x 8 a pixel is an eighth of the picture."""
    net, x, y = edges(side, wide)
    run = train(net, x, y, steps=1, optimizer="sgd")
    assert [f.kind for f in answered(InvarianceStep, net, (x, y), [run]).content.findings] == kinds
