"""What length costs, counted by hand; where attention looks, on weights that are set by hand."""

import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.core.errors import InputError


class States(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        return self.cell(x)[0]


@pytest.mark.parametrize("cell, gates", [(nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)])
def test_a_recurrence_costs_the_same_for_every_step(cell, gates):
    found = sequences.complexity_profile(States(cell(5, 7, batch_first=True)), torch.randn(2, 32, 5))
    assert found.operations == tuple(2.0 * gates * 7 * (5 + 7) * t for t in (4, 8, 16, 32))
    assert found.crossover == float("inf") and found.power == pytest.approx(1.0)
    assert "none for pairs" in found.verdict
    if cell is not nn.LSTM:  # torch's fused LSTM keeps a workspace of its own making
        assert found.kept_parts[2] == 0.0


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_costs_pairs(need_weights):
    """In-projection 6 T d^2, out-projection 2 T d^2, queries with keys and weights with values 2 T^2 d each."""

    class Attend(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x):
            return self.a(x, x, x, need_weights=need_weights)[0]

    net = Attend().eval()
    found = sequences.complexity_profile(net, torch.randn(1, 512, 8))
    assert found.parts == pytest.approx((0.0, 8 * 8**2, 4 * 8), rel=1e-9)
    assert found.crossover == pytest.approx(16) and 1.75 < found.power < 2.25
    assert found.kept_parts[2] >= 2 * 4 * (1 - 1e-12)  # two heads keep their maps
    assert not net.training and all(p.grad is None for p in net.parameters())


def test_an_encoder_layer_is_counted_whole():
    """Inference takes a fused road in torch, which nobody counts; the count is that of the open one."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    found = sequences.complexity_profile(layer, torch.randn(1, 64, 8), lengths=[16, 32, 64])
    assert found.parts == pytest.approx((0.0, 8 * 8**2 + 4 * 8 * 16, 4 * 8), rel=1e-9)


def test_lengths_are_checked():
    net = nn.Linear(3, 3)
    for lengths in ([4, 8], [4, 8, 99], [0, 4, 8]):
        with pytest.raises(InputError, match="complexity_profile"):
            sequences.complexity_profile(net, torch.zeros(1, 16, 3), lengths=lengths)
    with pytest.raises(InputError, match="matrix product"):
        sequences.complexity_profile(nn.ReLU(), torch.zeros(1, 16, 3))


class Looks(nn.Module):
    """Queries and keys are one-hot places; the query map sends each place to the one that it looks at."""

    def __init__(self, where):
        super().__init__()
        t = len(where)
        self.a = nn.MultiheadAttention(t, 1, batch_first=True)
        self.a.in_proj_weight.data.copy_(torch.cat([30 * torch.eye(t)[where].T, torch.eye(t), torch.eye(t)]))

    def forward(self, x):
        return self.a(x, x, x)[0]


@pytest.mark.parametrize(
    "where, pattern",
    [
        ([0, 1, 2, 3, 4], "the same place"),
        ([4, 3, 2, 1, 0], "mirrored"),
        ([0, 0, 1, 2, 3], "1 before"),
        ([2, 2, 2, 2, 2], "always place 2"),
    ],
)
def test_patterns_of_attention_are_named(where, pattern):
    x = torch.eye(5).expand(3, 5, 5)
    found = sequences.attention_alignment(Looks(where), x)
    assert found.patterns == {"a": (pattern,)} and found.shares["a"][0] == (0.8 if pattern == "1 before" else 1.0)
    told = sequences.attention_alignment(Looks(where), x, places=[4, 3, 2, 1, -1])
    right = sum(w == p for w, p in zip(where, [4, 3, 2, 1], strict=False)) / 4
    assert told.shares["a"][0] == pytest.approx(right) and told.chance == 0.2


def test_the_best_of_many_patterns_is_right_by_chance():
    """Two queries with two keys always follow a pattern; of 3,000 queries with five hardly more than a fifth does."""
    few = sequences.attention_alignment(nn.Sequential(Looks([0, 1])), torch.eye(2)[None])
    many = sequences.attention_alignment(Looks([0, 1, 2, 3, 4]), torch.eye(5).expand(600, 5, 5))
    assert few.chance == 1.0 and 0.2 < many.chance < 0.25


def test_weights_of_any_attention():
    """Additive attention, by its weights: chance where it was never trained."""
    weights = torch.rand(200, 10, 10, generator=torch.Generator().manual_seed(0))
    share, _ = sequences.alignment_share(weights, places=list(range(9, -1, -1)))
    assert share == pytest.approx(0.1, abs=4 * (0.09 / 2000) ** 0.5)
    with pytest.raises(InputError, match="10 queries"):
        sequences.alignment_share(weights, places=[0, 1])
