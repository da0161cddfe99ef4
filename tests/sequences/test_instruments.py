"""Instruments on sequences: closed forms, planted faults, and healthy networks that trigger nothing."""

import math

import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.core.errors import InputError


class Recurrent(nn.Module):
    """An RNN with U = gain x orthogonal."""

    def __init__(self, gain, units=16, nonlinearity="tanh"):
        super().__init__()
        self.rnn = nn.RNN(2, units, batch_first=True, nonlinearity=nonlinearity)
        nn.init.orthogonal_(self.rnn.weight_hh_l0, gain)

    def forward(self, x):
        return self.rnn(x)[0]


def test_a_linear_recurrence_forgets_at_the_rate_of_its_matrix():
    class Linear(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 5, bias=False), nn.Linear(5, 5, bias=False)
            nn.init.orthogonal_(self.b.weight, 0.8)

        def forward(self, x):
            h = torch.zeros(len(x), 5, dtype=x.dtype)
            for t in range(x.shape[1]):
                h = self.a(x[:, t]) + self.b(h)
            return h

    torch.manual_seed(0)
    found = sequences.memory_length(Linear().double(), torch.randn(4, 60, 2, dtype=torch.float64))
    assert abs(found.length + 1 / math.log(0.8)) < 0.05 * found.length


def test_a_recurrent_network_asked_for_lag_200_is_found():
    torch.manual_seed(0)
    x = torch.randn(4, 220, 2)
    found = sequences.memory_length(Recurrent(0.7), x, lag=200)
    assert [f.kind for f in found.findings] == ["memory-too-short"] and found.reach < 100
    assert "steps" in found.verdict and found.plots()[0].marks[0].name == "measured"


def test_a_network_that_remembers_is_left_alone():
    class Keeps(nn.Module):
        def forward(self, x):
            return x.mean(1)

    assert sequences.memory_length(Keeps(), torch.randn(4, 220, 2), lag=200).findings == ()
    torch.manual_seed(0)
    assert sequences.memory_length(Recurrent(0.7), torch.randn(4, 60, 2), lag=5).findings == ()


def test_a_lag_beyond_the_sequence_is_extrapolated():
    torch.manual_seed(0)
    found = sequences.memory_length(Recurrent(0.8), torch.randn(4, 60, 2), lag=500)
    assert len(found.findings) == 1


class Decoder(nn.Module):
    """Attention under a mask that is ``ahead`` positions too generous."""

    def __init__(self, ahead=0):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.head, self.ahead = nn.Linear(16, 11), ahead

    def forward(self, tokens):
        mask = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1 + self.ahead)
        return self.head(self.layer(self.embed(tokens), src_mask=mask))


def tokens():
    return torch.randint(11, (4, 9), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("build", [Decoder, lambda: Recurrent(1.0)])
def test_causal_networks_pass(build):
    torch.manual_seed(0)
    x = tokens() if build is Decoder else torch.randn(3, 9, 2)
    found = sequences.causality(build(), x)
    assert found.findings == () and found.ahead == 0 and "past only" in found.verdict


def test_a_leak_of_one_position_is_found():
    torch.manual_seed(0)
    found = sequences.causality(Decoder(ahead=1), tokens())
    assert [f.kind for f in found.findings] == ["sees-the-future"] and found.ahead == 1
    assert all(s == t + 1 for t, s in found.leaks)


def test_both_directions_see_everything():
    torch.manual_seed(0)
    rnn = nn.RNN(2, 8, batch_first=True, bidirectional=True)
    found = sequences.causality(rnn, torch.randn(3, 5, 2))
    assert min(min(row) for row in found.dependence) > 0


def transformer(depth, *, skips):
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(depth))

        def forward(self, x):
            for part in self.parts:
                x = part(x, x, x, need_weights=False)[0]
            return x

    layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False) if skips else Bare()


def test_a_transformer_without_skips_collapses_and_one_with_them_does_not():
    torch.manual_seed(0)
    x = torch.randn(3, 6, 16)
    bare, whole = (sequences.attention_maps(transformer(6, skips=s), x) for s in (False, True))
    assert [f.kind for f in bare.findings] == ["tokens-alike"] and whole.findings == ()
    assert whole.difference[-1] > 0.3 > 1e-3 > bare.difference[-1]


def test_maps_are_those_of_torch():
    torch.manual_seed(0)
    m, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(2, 5, 8)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.m = m

        def forward(self, x):
            return self.m(x, x, x)[0]

    found = sequences.attention_maps(Net(), x)
    with torch.no_grad():
        wanted = m(x, x, x, average_attn_weights=False)[1]
        m.in_proj_weight[:16] = 0.0  # no logits: every position is seen alike
    assert torch.allclose(found.maps[0], wanted)
    flat = sequences.attention_maps(Net(), x)
    assert flat.entropy[0] == pytest.approx((1.0, 1.0), abs=1e-6) and flat.rank[0] == 1.0


def test_a_head_with_zero_output_is_found_and_others_are_not():
    torch.manual_seed(0)
    net, x = transformer(2, skips=True), torch.randn(3, 6, 16)
    state = {k: v.clone() for k, v in net.state_dict().items()}
    assert sequences.head_ablation(net, x).findings == ()
    with torch.no_grad():
        net.layers[1].self_attn.out_proj.weight[:, :8] = 0.0
    found = sequences.head_ablation(net, x)
    assert found.dead == (("layers.1.self_attn", 0),) and [f.kind for f in found.findings] == ["dead-head"]
    assert all(torch.equal(v, state[k]) for k, v in net.state_dict().items() if "layers.0" in k)


def test_bad_input_is_told_in_a_sentence():
    class OneHot(nn.Module):
        def forward(self, x):
            return nn.functional.one_hot(x, 3).double()

    with pytest.raises(InputError, match="looks up tokens in nn.Embedding"):
        sequences.memory_length(OneHot(), torch.zeros(2, 5, dtype=torch.long))
    with pytest.raises(InputError, match="Return the output at all positions"):
        sequences.causality(nn.Sequential(nn.Flatten(), nn.Linear(10, 1)), torch.randn(3, 5, 2))
    with pytest.raises(InputError, match="no softmax of queries and keys"):
        sequences.attention_maps(nn.Linear(2, 2), torch.randn(3, 2))
