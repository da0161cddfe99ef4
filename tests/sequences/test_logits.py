"""Scale of logits and largest weights, computed with numpy from queries and keys that differ."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.logits import LogitScale


class Cross(nn.Module):
    def __init__(self, batch_first, **options):
        super().__init__()
        self.a = nn.MultiheadAttention(6, 2, batch_first=batch_first, **options)

    def forward(self, q, k):
        if not self.a.batch_first:
            q, k = q.transpose(0, 1), k.transpose(0, 1)
        return self.a(q, k, k, need_weights=False)[0]


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("options", [{}, {"kdim": 5, "vdim": 5}, {"bias": False}])
def test_scale_and_largest_weight_of_cross_attention(batch_first, options):
    torch.manual_seed(0)
    net = Cross(batch_first, **options).double()
    width = options.get("kdim", 6)
    if net.a.in_proj_bias is not None:
        nn.init.normal_(net.a.in_proj_bias)
    q, k = 3 * torch.randn(4, 3, 6).double(), torch.randn(4, 5, width).double()
    found = sequences.logit_scale(net, (q, k))
    if width == 6:
        wq, wk, _ = net.a.in_proj_weight.detach().numpy().reshape(3, 6, 6)
    else:
        wq, wk = net.a.q_proj_weight.detach().numpy(), net.a.k_proj_weight.detach().numpy()
    bq, bk = (0, 0) if net.a.in_proj_bias is None else net.a.in_proj_bias.detach().numpy().reshape(3, 6)[:2]
    queries, keys = q.numpy() @ wq.T + bq, k.numpy() @ wk.T + bk
    scales, tops = [], []
    for part in (slice(0, 3), slice(3, 6)):
        logits = queries[..., part] @ keys[..., part].transpose(0, 2, 1) / np.sqrt(3)
        scales.append(logits.std(-1).mean())
        weights = np.exp(logits)
        tops.append((weights.max(-1) / weights.sum(-1)).mean())
    assert found.keys == (5,) and found.scale[0] == pytest.approx(scales, abs=1e-6)
    assert found.top[0] == pytest.approx(tops, abs=1e-6)


def test_arguments_by_position_are_those_of_torch():
    """Query, key, value, padding, and whether weights are returned, which the instrument needs in any case."""

    class Positional(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.MultiheadAttention(6, 2, batch_first=True)

        def forward(self, q):
            return self.a(q, q, q, None, False)[0]

    torch.manual_seed(0)
    net, plain, q = Positional(), Cross(batch_first=True), torch.randn(4, 3, 6)
    plain.load_state_dict(net.state_dict())
    assert sequences.logit_scale(net, q).scale == sequences.logit_scale(plain, (q, q)).scale


@pytest.mark.parametrize(
    ("top", "keys", "reported"),
    [((0.991, 0.995), 5, True), ((0.989, 0.995), 5, False), ((0.995, 0.999), 4, False), ((0.995, 0.999), 9, True)],
)
def test_layers_with_all_heads_above_99_percent_of_more_than_four_keys_are_saturated(top, keys, reported):
    found = LogitScale(("a", "b"), ((2.0, 7.0), (1.0, 1.0)), (top, (0.3, 0.2)), (keys, keys)).findings
    assert [(f.where, f.level.name, f.evidence[0].value) for f in found] == (
        [("a", "PROBLEM", 7.0)] if reported else []
    )
