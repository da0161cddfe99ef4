"""Collapse of tokens: the threshold of its finding, and which layers are recorded."""

import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.collapse import RankCollapse


@pytest.mark.parametrize(
    ("difference", "layer"),
    [
        ((0.9, 0.2, 0.051), None),
        ((0.9, 0.2, 0.049), "1"),
        ((0.9, 0.04, 0.03), "0"),
        ((0.9, 0.04, 0.06), None),
        ((0.049, 0.04, 0.03), None),
        ((0.051, 0.06, 0.03), "1"),
    ],
)
def test_tokens_below_a_twentieth_at_the_end_are_reported_from_the_first_such_layer(difference, layer):
    found = RankCollapse(("input", "0", "1"), difference, (3.0, 2.0, 1.5)).findings
    assert [(f.where, f.level.name, [v.value for v in f.evidence]) for f in found] == (
        [] if layer is None else [(layer, "PROBLEM", [difference[-1], 1.5])]
    )


def test_only_outermost_blocks_of_one_shape_are_layers_and_sixteen_examples_are_used():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            assert len(x) == 16
            return x + self.linear(x)

    net = nn.Sequential(Inner(), nn.Linear(3, 4), nn.Tanh(), nn.Flatten(1))
    found = sequences.rank_collapse(net, torch.randn(20, 5, 3))
    assert found.layers == ("input", "0", "2")


def test_tokens_that_are_all_zero_have_no_difference():
    found = sequences.rank_collapse(nn.Sequential(nn.ReLU()), -torch.rand(2, 4, 3))
    assert found.difference[1] == 0.0 and found.difference[0] > 0 and found.rank[1] == 1.0
