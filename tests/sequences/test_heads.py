"""Effect of one head: computed by setting its outputs to zero by hand."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.heads import HeadAblation


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(6, 3, batch_first=True)

    def forward(self, x):
        return self.a(x, x, x, need_weights=False)[0]


def test_the_effect_of_a_head_is_its_change_relative_to_the_spread_over_examples():
    torch.manual_seed(0)
    net, x = Attend().double(), torch.randn(4, 5, 6).double()
    found = sequences.head_ablation(net, x)
    whole = net(x).detach().numpy().reshape(4, -1)
    spread = np.linalg.norm(whole - whole.mean(0))
    for head in range(3):
        weight = net.a.out_proj.weight.data.clone()
        net.a.out_proj.weight.data[:, 2 * head : 2 * head + 2] = 0.0
        changed = net(x).detach().numpy().reshape(4, -1)
        net.a.out_proj.weight.data = weight
        assert found.effects["a"][head] == pytest.approx(np.linalg.norm(changed - whole) / spread, rel=1e-10)


def test_an_effect_of_a_millionth_or_less_is_none():
    found = HeadAblation({"a": (0.9e-6, 1.1e-6), "b": (0.5, 0.0)})
    assert found.dead == (("a", 0), ("b", 1))
    assert [(f.level.name, f.false_alarm, f.evidence[0].value) for f in found.findings] == [
        ("WARNING", 0.0, 0.9e-6),
        ("WARNING", 0.0, 0.0),
    ]
