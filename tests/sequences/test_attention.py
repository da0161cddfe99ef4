"""Attention maps: entropy, rank, difference of tokens, and the threshold of their finding."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.attention import AttentionMaps, _difference, _entropy


def test_entropy_is_averaged_over_examples_and_queries_for_each_head():
    a = torch.rand(2, 3, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) ** 3
    a[0, 1, 2, :4] = 0.0  # 0 log 0 = 0
    a = a / a.sum(-1, keepdim=True)
    p = a.numpy()
    with np.errstate(all="ignore"):
        expected = -np.nansum(p * np.log(p), -1).mean((0, 2)) / np.log(5)
    np.testing.assert_allclose(_entropy(a).numpy(), expected, rtol=1e-10)
    assert _entropy(torch.ones(1, 1, 2, 1)).tolist() == [0.0]


def test_difference_of_tokens_is_relative_to_their_size():
    x = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0)).double() + 1.0
    t = x.numpy()
    assert _difference(x) == pytest.approx(np.linalg.norm(t - t.mean(1, keepdims=True)) / np.linalg.norm(t))


@pytest.mark.parametrize(
    ("difference", "layer"),
    [((0.9, 0.051), None), ((0.9, 0.049), "b"), ((0.049, 0.04), None), ((0.051, 0.04), "b"), ((0.9, 0.0), "b")],
)
def test_tokens_below_a_twentieth_are_reported_unless_they_start_there(difference, layer):
    found = AttentionMaps(("a", "b"), ((0.5,), (0.5,)), (2.0, 2.0), difference, ()).findings
    assert [(f.where, f.level.name, f.evidence[0].value) for f in found] == (
        [] if layer is None else [(layer, "PROBLEM", difference[1])]
    )


def test_the_layer_with_the_smallest_difference_is_named():
    found = AttentionMaps(("a", "b", "c"), ((0.5,),) * 3, (2.0,) * 3, (0.9, 0.01, 0.04), ()).findings
    assert found[0].where == "b"


@pytest.mark.parametrize(("last", "rank"), [((0.1, -0.05), 3), ((0.15, 0.0), 4)])
def test_rank_counts_singular_values_above_a_hundredth(last, rank):
    """Queries and keys are one-hot, so logits are known; the smallest singular value is near a hundredth."""

    class Net(nn.Module):
        def __init__(self, batch_first):
            super().__init__()
            self.m = nn.MultiheadAttention(4, 1, batch_first=batch_first, bias=False)
            keys = torch.eye(4)
            queries = torch.diag(torch.tensor([6.0, 3.0, *last]))
            self.m.in_proj_weight.data.copy_(torch.cat([2 * queries, keys, keys]))

        def forward(self, x):
            x = x if self.m.batch_first else x.transpose(0, 1)
            return self.m(x, x, x)[0]

    logits = np.diag([6.0, 3.0, *last])
    weights = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    smallest = np.linalg.svd(weights, compute_uv=False)[-1]
    assert (0.005 < smallest < 0.01) if rank == 3 else (0.01 < smallest < 0.03)
    eye = torch.eye(4)
    first = sequences.attention_maps(Net(True), eye.expand(3, 4, 4))
    np.testing.assert_allclose(first.maps[0][1, 0].numpy(), weights, atol=1e-6)
    assert first.rank == (rank,)
    second = sequences.attention_maps(Net(False), eye.expand(3, 4, 4))
    assert second.rank == (rank,)
    assert first.difference[0] == second.difference[0] == pytest.approx(np.sqrt(3) / 2)  # 1 - 1/4 of a one-hot's square


@pytest.mark.parametrize("batch_first", [True, False])
def test_one_sequence_without_a_batch_axis_is_a_batch_of_one(batch_first):
    class Net(nn.Module):
        def __init__(self, alone):
            super().__init__()
            torch.manual_seed(0)
            self.m, self.alone = nn.MultiheadAttention(4, 2, batch_first=batch_first), alone

        def forward(self, x):
            y = x[0] if self.alone else x if batch_first else x.transpose(0, 1)
            return self.m(y, y, y)[0].reshape(x.shape)

    x = torch.randn(1, 5, 4, generator=torch.Generator().manual_seed(0))
    alone, batch = (sequences.attention_maps(Net(a), x) for a in (True, False))
    assert alone.maps[0].shape == (1, 2, 5, 5) and alone.difference == pytest.approx(batch.difference)
    assert alone.entropy[0] == pytest.approx(batch.entropy[0]) and alone.rank == batch.rank
    first, second = (sequences.logit_scale(Net(a), x) for a in (True, False))
    assert first.scale[0] == pytest.approx(second.scale[0]) and first.top[0] == pytest.approx(second.top[0])
