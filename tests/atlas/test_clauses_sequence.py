"""Clauses of the scope on sequences that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.sequence import vision_transformer_few_images
from gnomon.data import digits


def test_a_gru_has_three_matrices_where_an_lstm_has_four():
    """gru: matrices of the state: 3 for a GRU, 4 for torch's LSTM, 5 with the matrix U of its output."""
    count = {cell: cell(7, 6).weight_hh.shape[0] // 6 for cell in (nn.GRUCell, nn.LSTMCell)}
    assert count == {nn.GRUCell: 3, nn.LSTMCell: 4}


def test_weights_of_unscaled_attention_saturate():
    """attention-sqrt-dk-scaling: mean of the largest of ten weights > 0.9 at d = 512 without the root, < 0.5 with it."""
    draw = torch.Generator().manual_seed(0)
    logits = (torch.randn(500, 1, 512, generator=draw) * torch.randn(500, 10, 512, generator=draw)).sum(2)
    assert float(logits.softmax(1).amax(1).mean()) > 0.9 > 0.5 > float((logits / 512**0.5).softmax(1).amax(1).mean())


@pytest.mark.full
def test_the_lead_of_a_cnn_over_a_vision_transformer_shrinks():
    """vision-transformer: accuracy(CNN) - accuracy(ViT) with 150 images is larger than with 600."""
    lead = []
    for examples in (150, 600):
        found = vision_transformer_few_images.accuracies(3, examples, 50, 3, 1)
        lead.append(np.mean(found["CNN"]) - np.mean(found["transformer"]))
    assert 0 < lead[1] < lead[0]


@pytest.mark.full
def test_twelve_layers_without_skips_and_norms_do_not_learn():
    """residual-layernorm-necessity: training loss of a transformer of 12 layers is >= 2 times as high without both."""
    split, found = digits(150, 10, seed=0), []
    for helped in (True, False):
        torch.manual_seed(0)
        lift, head = nn.Linear(8, 16), nn.Linear(16, 10)
        attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(12))
        dense = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16)) for _ in range(12))
        norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(24))
        optimizer = torch.optim.Adam(nn.ModuleList([lift, head, attention, dense, norms]).parameters(), 3e-3)
        for _ in range(60):
            h = lift(split.x[:, 0])
            for k in range(12):
                z = norms[2 * k](h) if helped else h
                h = helped * h + attention[k](z, z, z, need_weights=False)[0]
                h = helped * h + dense[k](norms[2 * k + 1](h) if helped else h)
            loss = nn.functional.cross_entropy(head(h.mean(1)), split.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append(float(loss.detach()))
    assert found[1] >= 2 * found[0]


def longest_chain(node, known):
    """The number of operations after one another that led to a tensor."""
    stack = [node]
    while stack:
        top = stack[-1]
        before = [n for n, _ in top.next_functions if n is not None]
        open_ones = [n for n in before if n not in known]
        if open_ones:
            stack += open_ones
        else:
            known[stack.pop()] = 1 + max((known[n] for n in before), default=0)
    return known[node]


def test_attention_trains_all_positions_at_once_and_a_recurrence_one_after_another():
    """rnn-vs-transformer-cost: operations in a row: the same for all T in attention, in proportion to T in an RNN."""
    torch.manual_seed(0)
    attention, cell, chains = nn.MultiheadAttention(8, 2, batch_first=True), nn.RNNCell(8, 8), []
    for length in (8, 16, 32):
        x = torch.randn(1, length, 8)
        mask = torch.ones(length, length).triu(1).bool()
        together = attention(x, x, x, attn_mask=mask)[0]
        one_by_one = [attention(x[:, t : t + 1], x[:, : t + 1], x[:, : t + 1])[0] for t in range(length)]
        torch.testing.assert_close(together, torch.cat(one_by_one, 1), rtol=1e-4, atol=1e-6)
        state = torch.zeros(1, 8)
        for t in range(length):
            state = cell(x[:, t], state)
        chains.append((longest_chain(together.grad_fn, {}), longest_chain(state.grad_fn, {})))
    (a, r), (b, s), (c, t) = chains
    assert a == b == c and t - s == 2 * (s - r) > 0


@pytest.mark.parametrize("phi, alpha, fixed", [(torch.sigmoid, 0.25, 0.5), (torch.tanh, 1.0, 0.0)])
def test_gradients_vanish_below_one_over_the_slope_and_not_at_it(phi, alpha, fixed):
    """rnn-vanishing-bound: |dz_k / dz_0| = (alpha s)^k for U = s Q: to 0 if s < 1 / alpha, 1 at s = 1 / alpha."""
    q = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(0)).double())[0]
    for share in (0.99, 1.0, 1.01):
        u, found = share / alpha * q, []

        def steps(z, count, u=u):
            for _ in range(count):  # the state stays where the slope is largest
                z = phi(u @ (z - fixed))
            return z

        for count in (50, 400):
            start = torch.full((5,), fixed).double()
            found.append(float(torch.linalg.matrix_norm(torch.autograd.functional.jacobian(
                lambda z, count=count: steps(z, count), start), 2)))  # fmt: skip
        assert found == pytest.approx([share**50, share**400], rel=1e-6)
        assert (found[1] < 0.02) == (share < 1) and (found[1] > 50) == (share > 1)  # stable only if |phi' U| = 1
