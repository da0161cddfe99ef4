"""Limits where sequences have lengths of their own, transformers as torch makes them, and networks on a fixed graph."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw
from gnomon.core.errors import NoLimitError, UnsupportedModuleError
from gnomon.models import GCNLayer, ModuleOnGraph, gcn_matrix

F64 = torch.float64


class Recurrent(nn.Module):
    """nn.RNN on padded sequences of tokens: the state after the last token, or the mean of those before the padding."""

    def __init__(self, read):
        super().__init__()
        self.e, self.c = nn.Embedding(7, 16, padding_idx=0), nn.Linear(16, 1)
        self.rnn = nn.RNN(16, 16, batch_first=True, nonlinearity="relu")
        self.read = read

    def forward(self, x):
        h, _ = self.rnn(self.e(x))
        keep = x != 0
        if self.read == "last":
            return self.c(h[torch.arange(x.shape[0]), keep.sum(1) - 1])
        if self.read == "mean":
            return self.c((h * keep.unsqueeze(-1)).sum(1) / keep.sum(1, keepdim=True))
        return self.c(h[:, -1] if self.read == "end" else h.mean(1))


PADDED = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 1, 0, 0], [6, 2, 1, 0, 0]])


@pytest.mark.parametrize(("read", "whole"), [("last", "end"), ("mean", "all")])
def test_padding_of_recurrent_networks_is_as_if_it_were_not_there(read, whole):
    padded, short = (gnomon.limit(Recurrent(r))(x) for r, x in ((read, PADDED), (whole, PADDED[:, :3])))
    assert torch.allclose(padded.nngp, short.nngp, rtol=1e-12) and torch.allclose(padded.ntk, short.ntk, rtol=1e-12)


def test_different_lengths_agree_with_the_shorter_sequence_of_each_pair():
    """The diagonal of a kernel belongs to one sequence: each must be that of its own length."""
    x = torch.tensor([[1, 2, 0, 0], [1, 2, 3, 0], [1, 2, 3, 4]])
    got = gnomon.limit(Recurrent("last")).ntk(x).diag()
    alone = [gnomon.limit(Recurrent("end")).ntk(x[i : i + 1, : i + 2])[0, 0] for i in range(3)]
    assert torch.allclose(got, torch.stack(alone), rtol=1e-12)


class Started(nn.Module):
    """nn.RNN that is given its initial state."""

    def __init__(self, start):
        super().__init__()
        self.rnn, self.c, self.start = nn.RNN(3, 16, batch_first=True), nn.Linear(16, 1), start

    def forward(self, x):
        return self.c(self.rnn(x, self.start(x))[0][:, -1])


def test_an_initial_state_of_zero_is_none_at_all():
    x = torch.randn(3, 4, 3, generator=torch.Generator().manual_seed(0))
    given, none = (gnomon.limit(Started(start)) for start in (lambda z: z.new_zeros(1, z.size(0), 16), lambda z: None))
    assert torch.equal(given.nngp(x), none.nngp(x)) and torch.equal(given.ntk(x), none.ntk(x))
    with pytest.raises(UnsupportedModuleError, match="initial state that is not"):
        gnomon.limit(Started(lambda z: z.new_ones(1, z.size(0), 16))).nngp(x)


class Encoded(nn.Module):
    """A transformer of tokens with padding: the first token, or the mean over what is not padding."""

    def __init__(self, read="first", layers=1, width=36, heads=6, padded=True):
        super().__init__()
        self.e, self.c, self.read, self.padded = nn.Embedding(7, width), nn.Linear(width, 1), read, padded
        layer = nn.TransformerEncoderLayer(width, heads, width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.t = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, x):
        hidden = x == 0
        h = self.t(self.e(x), src_key_padding_mask=hidden if self.padded else None)
        if self.read == "first":
            return self.c(h[:, 0])
        keep = (~hidden).unsqueeze(-1)
        return self.c((h * keep).sum(1) / keep.sum(1))


def test_hidden_keys_are_not_seen():
    """With a law of zero for queries and keys attention is the mean of what is not hidden, exactly."""
    laws = {"e": InitializationLaw(7**0.5), "c": InitializationLaw(1.0)} | {
        f"t.layers.0.linear{i}": InitializationLaw(1.0) for i in (1, 2)
    }
    name = "t.layers.0.self_attn"
    laws |= {
        f"{name}.in_proj_weight.{part}": InitializationLaw(float(part == "value")) for part in ("query", "key", "value")
    }
    laws |= {f"{name}.out_proj": InitializationLaw(1.0)}
    padded = gnomon.limit(Encoded(), init=laws, parametrization="ntk")(PADDED)
    short = gnomon.limit(Encoded(padded=False), init=laws, parametrization="ntk")(PADDED[:, :3])
    assert torch.allclose(padded.nngp, short.nngp, rtol=1e-12) and torch.allclose(padded.ntk, short.ntk, rtol=1e-12)


def test_padded_attention_with_random_logits_is_that_of_short_sequences():
    """Both are averages over draws: they differ by the errors of both, std(G) / sqrt(512) each."""
    padded, short = gnomon.limit(Encoded())(PADDED), gnomon.limit(Encoded(padded=False))(PADDED[:, :3])
    scale = short.ntk.diag().sqrt()
    gap = (padded.ntk - short.ntk) / (scale[:, None] * scale)
    assert float(gap.abs().max()) < 0.03


def empirical(net, x):
    rows = [torch.autograd.grad(o, list(net.parameters()), retain_graph=True) for o in net(x)[:, 0]]
    flat = torch.stack([torch.cat([g.reshape(-1) for g in row]) for row in rows])
    return flat @ flat.T


def drawn(**options):
    """With layers that are drawn independently, as the limit has them."""
    net = Encoded(**options).double()
    for layer in net.t.layers:
        fresh = nn.TransformerEncoderLayer(
            net.e.embedding_dim, layer.self_attn.num_heads, net.e.embedding_dim, 0.0, "gelu", batch_first=True
        ).double()
        layer.load_state_dict(fresh.state_dict())
    return net


@pytest.mark.full
@pytest.mark.parametrize("read", ["first", "mean"])
def test_padding_agrees_with_finite_networks(read):
    x = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0], [1, 2, 3, 4, 6]])
    torch.manual_seed(0)
    limit = gnomon.limit(Encoded(read)).ntk(x)
    draws = torch.stack([empirical(drawn(read=read), x) for _ in range(40)])
    scale = limit.diag().sqrt()
    allowed = 4 * draws.std(0) / math.sqrt(40) + 3 / 36 * scale[:, None] * scale
    assert bool(((draws.mean(0) - limit).abs() <= allowed).all())


def test_a_plain_encoder_of_four_layers_has_a_limit_and_says_of_which_law():
    net = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 2, 16, 0.0, batch_first=True), 4, enable_nested_tensor=False
    )
    net.eval()
    x = torch.randn(3, 4, 16, generator=torch.Generator().manual_seed(0))
    plain, limit = gnomon.limit(net).nngp(x), gnomon.limit(net)
    assert plain.shape == (3, 3) and float(torch.linalg.eigvalsh(plain)[0]) > 0
    (note,) = limit.program(x).notes
    assert "drawn independently" in note and str(limit.program(x)).endswith(note)
    for layer in net.layers:  # values do not matter, and there is nothing to say of layers that differ
        for p in layer.parameters():
            p.data += 0.01 * torch.randn_like(p) * (p.dim() > 1)
    assert torch.equal(gnomon.limit(net).nngp(x), plain) and not gnomon.limit(net).program(x).notes


@pytest.mark.full
def test_four_independent_layers_come_to_the_limit_with_width():
    """The root mean square distance of kernels of one draw falls as 1 / sqrt(width): heads and their size both grow."""
    x = torch.tensor([[1, 2, 3], [4, 5, 1], [1, 2, 6]])
    limit = gnomon.limit(Encoded(layers=4, padded=False)).nngp(x)
    limit = limit / limit.trace()
    widths, distances = (32, 128, 512), []
    for width, heads in zip(widths, (4, 8, 16), strict=True):
        torch.manual_seed(0)
        gaps = []
        for _ in range(24):
            net = drawn(layers=4, width=width, heads=heads, padded=False)
            with torch.no_grad():
                h = net.t(net.e(x))[:, 0]
            k = h @ h.T / (3 * width) + 1 / (3 * width)  # of the last affine map, over its draws
            gaps.append(float((k / k.trace() - limit).square().sum()))
        distances.append(np.mean(gaps) ** 0.5)
    slope = np.polyfit(np.log(widths), np.log(distances), 1)[0]
    assert -0.65 < slope < -0.35, (slope, distances)


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.c = nn.RNN(3, 4, batch_first=True), nn.Linear(4, 1)

    def forward(self, x):
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([2, 2]), batch_first=True)
        return self.c(self.rnn(packed)[1][0])


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.c = nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, x):
        return self.c(self.lstm(x)[0][:, -1])


def test_what_has_no_limit_is_refused_with_its_reason_and_a_way_out():
    x = torch.randn(2, 3, 3)
    with pytest.raises(UnsupportedModuleError, match=r"pack_padded_sequence.*lengths - 1"):
        gnomon.limit(Packed()).ntk(x)
    with pytest.raises(NoLimitError, match=r"product over time of gates.*gnomon.sampled_limit"):
        gnomon.limit(Gated()).ntk(x)
    assert gnomon.sampled_limit(Gated(), draws=4).ntk(x).shape == (2, 2)
    with pytest.raises(UnsupportedModuleError, match=r"gnomon.models.ModuleOnGraph\(net, graph\)"):
        gnomon.limit(Convolutions()).ntk(torch.randn(2, 4, 3))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = GCNLayer(3, 32), GCNLayer(32, 1)

    def forward(self, x, graph):
        return self.b(torch.relu(self.a(x, graph)), graph).mean(1)


def test_a_network_on_a_fixed_graph():
    """By hand: two affine layers with the coupling matrix after each, ReLU between them, the mean over nodes."""
    m = gcn_matrix(torch.tensor([[0.0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]])).double()
    x = torch.randn(2, 4, 3, dtype=F64, generator=torch.Generator().manual_seed(1))
    got = gnomon.limit(
        ModuleOnGraph(Convolutions(), m.float()), init=InitializationLaw(2**0.5), parametrization="ntk"
    ).nngp(x)
    k = 2 / 3 * torch.einsum("ps,isc,jtc,qt->ijpq", m, x, x, m)
    v = torch.stack([k[i, i].diag() for i in range(2)])
    cos = (k / (v[:, None, :, None] * v[None, :, None, :]).sqrt()).clamp(-1, 1)
    size = (v[:, None, :, None] * v[None, :, None, :]).sqrt()
    dual = size / (2 * math.pi) * ((1 - cos**2).clamp(min=0).sqrt() + cos * (math.pi - cos.acos()))
    mean = m.mean(0)
    assert torch.allclose(got, 2 * torch.einsum("p,ijpq,q->ij", mean, dual, mean), rtol=1e-5)


class GCNConv(nn.Module):
    """A layer that looks like the one of PyTorch Geometric, for where that is not installed."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin, self.bias = nn.Linear(inputs, outputs, bias=False), nn.Parameter(torch.zeros(outputs))
        self.in_channels, self.out_channels = inputs, outputs
        self.normalize, self.add_self_loops, self.improved, self.aggr_module = True, True, False, None

    def propagate(self): ...

    def message(self): ...

    def forward(self, x, edge_index, edge_weight=None):
        return self.lin(x) + self.bias


class Geometric(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = GCNConv(3, 32), GCNConv(32, 1)

    def forward(self, x, edge_index):
        return self.b(torch.relu(self.a(x, edge_index)), edge_index).mean(1)


def test_layers_like_those_of_pytorch_geometric_are_read_by_what_they_have():
    """The same kernel as with the coupling matrix of gnomon.models, except for where biases enter."""
    edges = torch.tensor([[0, 1, 1, 2, 1, 3], [1, 0, 2, 1, 3, 1]])
    a = torch.zeros(4, 4)
    a[edges[0], edges[1]] = 1.0
    x = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(1))
    plain = gnomon.limit(
        ModuleOnGraph(Convolutions(), gcn_matrix(a)), init=InitializationLaw(1.3), parametrization="ntk"
    ).nngp(x)
    read = gnomon.limit(ModuleOnGraph(Geometric(), edges), init=InitializationLaw(1.3), parametrization="ntk").nngp(x)
    assert torch.allclose(plain, read, rtol=1e-6)
    w = gnomon.limit(ModuleOnGraph(Geometric(), edges))
    assert w.ntk(x).shape == (2, 2)  # by Glorot's rule
