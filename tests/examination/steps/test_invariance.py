"""Motions of pictures, and the interval of how often they change a decision."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.invariance import Invariance, motions
from tests.examination.steps.setting import answered


def test_motions_shift_and_mirror_and_bring_in_zeros():
    x = torch.arange(1.0, 7.0).reshape(1, 1, 2, 3)
    moved = {name: v[0, 0].tolist() for name, v in motions(x).items()}
    assert moved["one pixel right"] == [[0, 1, 2], [0, 4, 5]] and moved["one pixel left"] == [[2, 3, 0], [5, 6, 0]]
    assert moved["one pixel down"] == [[0, 0, 0], [1, 2, 3]]
    assert moved["mirror, left to right"] == [[3, 2, 1], [6, 5, 4]]
    assert moved["mirror, top to bottom"] == [[4, 5, 6], [1, 2, 3]]


class Left(nn.Module):
    """Which half of the picture is brighter: the left one or the right one."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.scale * torch.stack([x[..., :2].sum((1, 2, 3)), x[..., 2:].sum((1, 2, 3))], 1)


def test_changed_decisions_have_a_binomial_interval():
    """30 of 40 pictures are brighter on one side, and the mirror changes the answer for these alone."""
    x = torch.ones(40, 1, 4, 4)
    x[:30, :, :, 0] = 2.0
    found = answered(Invariance, Left(), (x, torch.zeros(40, dtype=torch.long)))
    value = found.section.value("mirror, left to right")
    half = 1.96 * (0.75 * 0.25 / 40) ** 0.5
    assert value.value == pytest.approx(0.75)
    assert value.low == pytest.approx(0.75 - half) and value.high == pytest.approx(0.75 + half)
    # outputs (12, 8) become (8, 12), and the ten pictures with (8, 8) stay
    change = (30 * 2 * 4**2 / (30 * (12**2 + 8**2) + 10 * 2 * 8**2)) ** 0.5
    assert found.facts["invariance"]["mirror, left to right"] == pytest.approx(change)
    assert found.facts["invariance"]["mirror, top to bottom"] == 0
