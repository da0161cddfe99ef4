"""Pictures that are moved by a pixel: a finding where decisions change, which says how much of the picture a pixel is."""

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


@pytest.mark.parametrize(
    ("side", "wide", "said"), [(28, 1, "by one pixel changes"), (28, 3, ""), (8, 1, "1/8 of the image")]
)
def test_a_shift_by_one_pixel_must_not_change_decisions(side, wide, said):
    """Stripes of one pixel leave their column when they are moved, those of three do not."""
    net, x, y = edges(side, wide)
    run = train(net, (x, y), steps=1, optimizer="sgd")
    findings = answered(InvarianceStep, net, (x, y), [run]).content.findings
    assert [f.kind for f in findings] == (["shifts-change-decisions"] if said else [])
    assert all(said in f.message for f in findings)
