"""Gates, logits, collapse, spectra and bits: against computations by hand, on planted faults and healthy controls."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon import models, sequences
from gnomon.core.errors import InputError


class Last(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.head = cell, nn.Linear(cell.hidden_size * (1 + cell.bidirectional), 2)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_gates_follow_torch_through_layers_and_directions(kind):
    """The states that the instrument computes from its gates are those of torch, to rounding."""
    from gnomon.sequences.gates import _run

    torch.manual_seed(0)
    net, x = kind(3, 4, num_layers=2, bidirectional=True, batch_first=True).double(), torch.randn(5, 7, 3).double()
    with torch.no_grad():
        first = torch.cat([_run(net, "l0", x)[0], _run(net, "l0_reverse", x.flip(1))[0].flip(1)], 2)
        second = torch.cat([_run(net, "l1", first)[0], _run(net, "l1_reverse", first.flip(1))[0].flip(1)], 2)
        assert torch.allclose(second, net(x)[0], atol=1e-12)
    found = sequences.gate_statistics(net, x)
    assert found.layers == ("l0", "l0_reverse", "l1", "l1_reverse") and all(len(row) == 4 for row in found.scales)


def test_a_constant_forget_gate_has_its_time_scale():
    """With zero weights and a bias b the gate is sigmoid(b) at every step: the scale is -1 / log sigmoid(b)."""
    net = nn.LSTM(2, 3, batch_first=True)
    for p in net.parameters():
        nn.init.zeros_(p)
    net.bias_ih_l0.data[3:6] = torch.tensor([0.0, 2.0, 5.0])
    found = sequences.gate_statistics(net, torch.randn(4, 6, 2), lag=200)
    by_hand = [1 / math.log(1 + math.exp(-b)) for b in (0.0, 2.0, 5.0)]
    assert np.allclose(found.scales[0], by_hand, rtol=1e-5) and not found.findings
    net.bias_ih_l0.data[3:6] = 0.0
    forgets = sequences.gate_statistics(net, torch.randn(4, 6, 2), lag=200).findings
    assert [f.kind for f in forgets] == ["gates-forget"]


def test_gates_take_any_data():
    torch.manual_seed(0)
    net, x = Last(nn.GRU(3, 4, batch_first=True)), torch.randn(10, 5, 3)
    loader = DataLoader(TensorDataset(x, torch.zeros(10).long()), batch_size=3)
    batches = ({"x": part, "labels": torch.zeros(len(part)).long()} for part in x.split(4))
    one, two, three = (sequences.gate_statistics(net, data) for data in (x, loader, batches))
    assert np.allclose(one.scales, two.scales) and np.allclose(one.scales, three.scales)
    with pytest.raises(InputError, match="no nn.LSTM and no nn.GRU"):
        sequences.gate_statistics(nn.Linear(2, 2), torch.zeros(1, 2))


class Attend(nn.Module):
    def __init__(self, width, heads, scale=1.0):
        super().__init__()
        self.a = nn.MultiheadAttention(width, heads, batch_first=True)
        self.a.in_proj_weight.data[: 2 * width] *= scale

    def forward(self, x):
        return self.a(x, x, x, need_weights=False)[0]


def test_logits_by_hand_and_saturation():
    torch.manual_seed(0)
    net, x = Attend(8, 2), torch.randn(3, 6, 8)
    w = net.a.in_proj_weight.detach()
    q, k = x @ w[:8].T, x @ w[8:16].T
    for head in range(2):
        part = slice(4 * head, 4 * head + 4)
        logits = q[..., part] @ k[..., part].transpose(1, 2) / 2
        assert abs(float(logits.std(-1, correction=0).mean()) - sequences.logit_scale(net, x).scale[0][head]) < 2e-6
    assert not sequences.logit_scale(net, x).findings
    assert [f.kind for f in sequences.logit_scale(Attend(8, 2, 30.0), x).findings] == ["attention-saturated"]


def test_scale_of_independent_queries_and_keys_is_one_with_the_root_and_its_root_without():
    """attention-sqrt-dk-scaling on a module: variance one after 1 / sqrt(d_k)."""
    torch.manual_seed(0)
    net = Attend(64, 4)
    net.a.in_proj_weight.data[:128] = torch.randn(128, 64) / 8
    found = sequences.logit_scale(net, torch.randn(8, 64, 64))
    assert all(abs(s - 1) < 0.15 for s in found.scale[0])


class Block(nn.Module):
    def __init__(self, width, skip):
        super().__init__()
        self.a, self.skip = nn.MultiheadAttention(width, 2, batch_first=True), skip

    def forward(self, x):
        return self.skip * x + self.a(x, x, x, need_weights=False)[0]


def test_tokens_collapse_without_skips_alone():
    torch.manual_seed(0)
    x = torch.randn(4, 6, 8)
    plain, residual = (nn.Sequential(*(Block(8, skip) for _ in range(6))) for skip in (0.0, 1.0))
    found = sequences.rank_collapse(plain, x)
    assert (
        [f.kind for f in found.findings] == ["tokens-alike"] and found.layers[0] == "input" and len(found.layers) == 7
    )
    assert found.rank[-1] < 1.1 < found.rank[0] and not sequences.rank_collapse(residual, x).findings
    centered = x - x.mean(1, keepdim=True)
    assert abs(found.difference[0] - float(centered.norm() / x.norm())) < 1e-6


def test_spectrum_of_a_linear_recurrence():
    """state_spectrum of linear-system-diagonalisation: eigenvalues r exp(i a) of a scaled rotation."""
    a, r = 0.7, 0.9
    turn = r * torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]).double()
    found = sequences.state_spectrum(turn)
    low, high = sorted(complex(*v).imag for v in found.eigenvalues[0])
    assert abs(high - r * math.sin(a)) < 1e-7 and abs(low + high) < 1e-12
    assert all(abs(v[0] - r * math.cos(a)) < 1e-7 for v in found.eigenvalues[0])
    assert abs(found.scales[0][0] + 1 / math.log(r)) < 1e-5 and not found.findings
    assert [f.kind for f in sequences.state_spectrum(1.2 * turn).findings] == ["state-grows"]
    unit = models.LinearRecurrentUnit(2, 5, 1)
    assert np.allclose(sequences.state_spectrum(unit).radius[0], float(unit.eigenvalues().abs().max().detach()))
    assert len(sequences.state_spectrum(nn.RNN(2, 3, num_layers=2)).layers) == 2
    with pytest.raises(InputError, match="gate_statistics"):
        sequences.state_spectrum(nn.LSTM(2, 3))


class Markov(nn.Module):
    """Knows the transition probabilities of a chain."""

    def __init__(self, p):
        super().__init__()
        self.register_buffer("logs", p.log())

    def forward(self, x):
        return self.logs[x]


def test_bits_of_a_known_chain_are_its_entropy_rate():
    """char-rnn-code-generation's instrument: a two-state chain that stays with probability 0.9 has 0.469 bits."""
    stay, generator = 0.9, torch.Generator().manual_seed(0)
    moves = torch.rand(20, 2000, generator=generator) > stay
    x = moves.long().cumsum(1) % 2
    found = sequences.bits_per_character(Markov(torch.tensor([[stay, 1 - stay], [1 - stay, stay]])), x)
    rate = -(stay * math.log2(stay) + (1 - stay) * math.log2(1 - stay))
    error = 5 * math.log2(9) * math.sqrt(stay * (1 - stay) / found.characters)  # of a mean of two values, 5 sigma
    assert abs(found.bits - rate) < error and abs(found.pairs - rate) < error and abs(found.counts - 1) < 0.01
    assert not found.findings and abs(found.perplexity - 2**found.bits) < 1e-12
    wrong = sequences.bits_per_character(Markov(torch.tensor([[1 - stay, stay], [stay, 1 - stay]])), x)
    assert [f.kind for f in wrong.findings] == ["worse-than-counting"]


class Earliest(nn.Module):
    def forward(self, x):
        return sum(0.5**t * x[:, t] for t in range(x.shape[1]))


def test_a_network_that_sees_the_furthest_best_does_not_forget():
    assert sequences.memory_length(Earliest(), torch.ones(2, 9, 1), lag=8).length == math.inf
    assert not sequences.memory_length(Earliest(), torch.ones(2, 9, 1), lag=8).findings


def test_older_instruments_take_any_data_too():
    torch.manual_seed(0)
    net, x = Attend(8, 2), torch.randn(12, 5, 8)
    loader = DataLoader(TensorDataset(x, torch.zeros(12).long()), batch_size=5)
    for instrument in (sequences.memory_length, sequences.causality, sequences.attention_maps, sequences.head_ablation):
        assert instrument(net, x).verdict == instrument(net, loader).verdict
