"""Clauses of the scope on gates, attention and decoders, each by a computation of its own; the ledger names these."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.models import LinearRecurrentUnit
from gnomon.models.positions import sinusoidal_positions
from gnomon.sequences import attention_maps
from gnomon.symmetry import equivariance, permutations


class ResetFirst(nn.Module):
    """A GRU cell whose reset gate acts before the recurrent matrix; it shares the weights of torch's cell."""

    def __init__(self, cell):
        super().__init__()
        self.cell, self.units = cell, cell.hidden_size

    def forward(self, x, z):
        a = (x @ self.cell.weight_ih.T + self.cell.bias_ih).split(self.units, 1)
        u, c = self.cell.weight_hh.split(self.units), self.cell.bias_hh.split(self.units)
        reset, keep = (torch.sigmoid(a[k] + z @ u[k].T + c[k]) for k in (0, 1))
        return keep * z + (1 - keep) * torch.tanh(a[2] + (reset * z) @ u[2].T + c[2])


def test_a_gru_with_the_reset_before_the_matrix_agrees_with_torch_if_the_matrix_is_diagonal():
    """gru: V [zeta z, x] with the reset first is torch's cell for diagonal matrices alone; states stay below max(|z|, 1)."""
    torch.manual_seed(0)
    cell, x, z = nn.GRUCell(3, 5).double(), torch.randn(8, 3).double(), 2 * torch.randn(8, 5).double()
    cell.bias_hh.data[10:] = 0  # torch multiplies this bias by the reset gate
    first = ResetFirst(cell)
    assert float((first(x, z) - cell(x, z)).detach().abs().max()) > 0.01
    assert bool((first(x, z).abs() <= z.abs().clamp_min(1) + 1e-12).all())
    cell.weight_hh.data[10:] = torch.diag(cell.weight_hh.data[10:].diagonal())
    torch.testing.assert_close(first(x, z), cell(x, z), rtol=0, atol=1e-12)


class FiveMatrices(nn.Module):
    """The LSTM cell of the lecture notes: z = s(F x) z + s(G x) tanh(V x), zeta = s(H x) tanh(U z), x = [zeta, input]."""

    def __init__(self, inputs, units):
        super().__init__()
        self.f, self.g, self.v, self.h = (nn.Linear(inputs + units, units, bias=False) for _ in range(4))
        self.u = nn.Linear(units, units, bias=False)

    def forward(self, x, state):
        zeta, z = state
        both = torch.cat([zeta, x], 1)
        z = torch.sigmoid(self.f(both)) * z + torch.sigmoid(self.g(both)) * torch.tanh(self.v(both))
        return torch.sigmoid(self.h(both)) * torch.tanh(self.u(z)), z


def test_the_lstm_of_five_matrices_is_that_of_torch_for_u_the_identity():
    """lstm, gru: with U = I equal to nn.LSTMCell to 1e-6; state matrices 5 (F, G, V, H, U) against 3 of a GRU: 5 : 3."""
    torch.manual_seed(0)
    cell, made = nn.LSTMCell(3, 4, bias=False).double(), FiveMatrices(3, 4).double()
    order = (made.g, made.f, made.v, made.h)  # torch: input, forget, candidate, output
    for layer, w, v in zip(order, cell.weight_hh.split(4), cell.weight_ih.split(4), strict=True):
        layer.weight.data = torch.cat([w, v], 1).detach().clone()
    x, state = torch.randn(6, 3).double(), tuple(torch.randn(2, 6, 4).double())
    assert float((made(x, state)[0] - cell(x, state)[0]).detach().abs().max()) > 0.01
    made.u.weight.data = torch.eye(4).double()
    for mine, torchs in zip(made(x, state), cell(x, state), strict=True):
        torch.testing.assert_close(mine, torchs, rtol=0, atol=1e-6)
    assert len(list(made.parameters())) == 5 and nn.GRUCell(3, 4).weight_hh.shape[0] == 3 * 4


def test_ten_thousand_units_stay_inside_the_circle_after_gradient_steps():
    """lru-stable-parametrisation: |lambda| < 1 for 10^4 units after random gradient steps; free eigenvalues leave it."""
    torch.manual_seed(0)
    unit = LinearRecurrentUnit(2, 10_000, 1)
    optimizer, free = torch.optim.SGD(unit.parameters(), lr=1.0), unit.eigenvalues().detach().clone()
    for _ in range(5):
        target = 0.3 * torch.randn(10_000)
        optimizer.zero_grad()
        (unit.nu @ target + unit.theta @ target).backward()
        optimizer.step()
        free = free + 0.3 * target
    size = unit.eigenvalues().detach().abs()
    assert float(size.max()) < 1 and float(size.std()) > 0.05 and float(free.abs().max()) > 1


def test_attention_to_another_sequence_is_the_softmax_of_projected_products():
    """cross-attention: softmax(A W_Q (B W_K)^T / sqrt(d)) B W_V by hand; for A = B it is self-attention of A."""
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(6, 1, bias=False, batch_first=True).double()
    a, b = torch.randn(1, 4, 6).double(), torch.randn(1, 7, 6).double()
    q, k, v = (w.T for w in layer.in_proj_weight.split(6))
    for keys in (b, a):
        weights = torch.softmax((a[0] @ q) @ (keys[0] @ k).T / 6**0.5, 1)
        by_hand = weights @ keys[0] @ v @ layer.out_proj.weight.T
        torch.testing.assert_close(layer(a, keys, keys)[0][0], by_hand, rtol=1e-9, atol=1e-9)
    block = nn.TransformerEncoderLayer(6, 1, 8, 0.0, bias=False, batch_first=True).double()
    block.self_attn.load_state_dict(layer.state_dict())
    torch.testing.assert_close(block._sa_block(a, None, None), layer(a, a, a)[0])


class Attend(nn.Module):
    """Self-attention of a sequence, with or without positions."""

    def __init__(self, size, heads, positions=0.0):
        super().__init__()
        self.a, self.positions = nn.MultiheadAttention(size, heads, batch_first=True), positions

    def forward(self, x):
        x = x + self.positions * sinusoidal_positions(x.shape[1], x.shape[2]).to(x)
        return self.a(x, x, x)[0]


def test_the_instrument_measures_the_equivariance_of_attention_to_the_order_of_tokens():
    """attention-permutation-equivariance: error(f(P X), P f(X)) below 1e-6 without positions, above 0.01 with them."""
    torch.manual_seed(0)
    x = torch.randn(4, 7, 8).double()
    plain, placed = (equivariance(Attend(8, 2, p).double(), x, permutations(7, 3)).output for p in (0.0, 1.0))
    assert plain.equivariance < 1e-6 < 0.01 < placed.equivariance and plain.invariance > 0.01


def test_ranks_of_attention_maps_exceed_the_size_of_their_heads():
    """attention-rank-claim: rank by attention_maps() is the number of singular values above 0.01: more than d_k = 2; the logits have 2."""
    torch.manual_seed(0)
    net, x = Attend(4, 2).double(), 3 * torch.randn(5, 16, 4).double()
    net.a.in_proj_weight.data[:8] *= 4
    found = attention_maps(net, x)
    values = torch.linalg.svdvals(found.maps[0])
    by_hand = (values > 0.01).sum(-1).double().mean()
    assert float(values[..., 0].min()) >= 1 - 1e-12
    assert found.rank[0] == pytest.approx(float(by_hand)) and found.rank[0] > 2 * 2
    q, k = (
        x @ w.T + c for w, c in zip(net.a.in_proj_weight.split(4)[:2], net.a.in_proj_bias.split(4)[:2], strict=True)
    )
    logits = q[..., :2] @ k[..., :2].mT
    assert int(torch.linalg.matrix_rank(logits).max()) == 2


class EncoderDecoder(nn.Module):
    """z_0 = last state of the encoder; the decoder sees its own past, and with attention also all encoder states."""

    def __init__(self, attends, size=32, letters=6):
        super().__init__()
        self.attends, self.letters = attends, letters
        self.embed, self.encoder = nn.Embedding(letters + 1, size), nn.GRU(size, size, batch_first=True)
        self.decoder, self.read = nn.GRU(size, size, batch_first=True), nn.Linear(2 * size, letters)
        self.w, self.u, self.v = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, 1)

    def forward(self, x, y):
        states, last = self.encoder(self.embed(x))
        past = torch.cat([torch.full_like(y[:, :1], self.letters), y[:, :-1]], 1)
        z, _ = self.decoder(self.embed(past), last)
        scores = self.v(torch.tanh(self.w(z)[:, :, None] + self.u(states)[:, None]))[..., 0]
        weights = torch.softmax(scores, 2) if self.attends else torch.zeros_like(scores)
        return self.read(torch.cat([z, weights @ states], 2))


def test_a_decoder_gives_probabilities_that_depend_on_the_encoder_by_its_last_state_alone():
    """seq2seq-encoder-decoder: z_0 = zeta, y_t ~ softmax: without attention two inputs of one zeta have one output."""
    torch.manual_seed(0)
    net, x, y = EncoderDecoder(False), torch.randint(6, (3, 5)), torch.randint(6, (3, 5))
    p = net(x, y).softmax(2)
    torch.testing.assert_close(p.sum(2), torch.ones(3, 5))
    _, zeta = net.encoder(net.embed(x))
    past = torch.cat([torch.full((3, 1), 6), y[:, :-1]], 1)
    z = zeta[0]
    for t in range(5):
        z = net.decoder(net.embed(past[:, t : t + 1]), z[None])[1][0]
        by_hand = net.read(torch.cat([z, torch.zeros(3, 32)], 1)).softmax(1)
        torch.testing.assert_close(p[:, t], by_hand, rtol=1e-5, atol=1e-6)
    moved = net(x, torch.cat([y[:, :4], (y[:, 4:] + 1) % 6], 1)).softmax(2)
    torch.testing.assert_close(moved, p)  # the last letter of y is not an input


def test_tokens_are_generated_until_the_end_token():
    """transformer-decoder-autoregressive: a masked decoder, run token by token on its own output, ends at EOS."""
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True).double().eval()
    embed, read, memory = nn.Embedding(5, 8).double(), nn.Linear(8, 5).double(), torch.randn(1, 4, 8).double()

    def step(tokens):
        n = len(tokens)
        mask = torch.ones(n, n, dtype=torch.bool).triu(1)
        return read(layer(embed(torch.tensor([tokens])) + sinusoidal_positions(n, 8).double(), memory, tgt_mask=mask))[
            0
        ]

    tokens, end = [0], 4
    while tokens[-1] != end and len(tokens) < 12:
        tokens.append(int(step(tokens)[-1].argmax()))
        read.bias.data[end] += 0.2  # an end that becomes likelier, so that the loop is seen to stop
    greedy = step(tokens[:-1]).argmax(1)
    assert tokens[-1] == end and 2 <= len(tokens) < 12 and int(greedy[-1]) == end
    np.testing.assert_equal(end in tokens[:-1], False)


def test_one_recurrent_network_serves_three_uses():
    """elman-rnn: outputs for all inputs, its own outputs as inputs, one class: read from the same states z_t."""
    torch.manual_seed(0)
    rnn, head, x = nn.RNN(3, 5, batch_first=True).double(), nn.Linear(5, 3).double(), torch.randn(2, 6, 3).double()
    states = rnn(x)[0]
    assert head(states).shape == (2, 6, 3) and head(states[:, -1]).shape == (2, 3)
    torch.testing.assert_close(rnn(x)[1][0], states[:, -1])  # the state that a classifier of the sequence reads
    tokens, z = x[:, :1], None
    for _ in range(4):
        out, z = rnn(tokens[:, -1:], z)
        tokens = torch.cat([tokens, head(out)], 1)
    torch.testing.assert_close(head(rnn(tokens[:, :-1])[0]), tokens[:, 1:])  # all at once what it gave step by step


def test_gradients_through_a_deep_transition_are_products_over_its_layers_too():
    """stacked-rnn: z_t = f_2(f_1(z_(t-1), x_t)): dz_t / dz_0 is the product of diag(phi') W over all steps and layers."""
    torch.manual_seed(0)
    first, second, x = nn.Linear(4 + 2, 4).double(), nn.Linear(4, 4).double(), torch.randn(5, 2).double()

    def run(z):
        for row in x:
            z = torch.tanh(second(torch.tanh(first(torch.cat([z, row])))))
        return z

    z, product = torch.zeros(4).double(), torch.eye(4).double()
    for row in x:
        h = torch.tanh(first(torch.cat([z, row])))
        z = torch.tanh(second(h))
        inner = torch.diag(1 - h**2) @ first.weight[:, :4]
        product = torch.diag(1 - z**2) @ second.weight @ inner @ product
    found = torch.autograd.functional.jacobian(run, torch.zeros(4).double())
    torch.testing.assert_close(found, product.detach())
