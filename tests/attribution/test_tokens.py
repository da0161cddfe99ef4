import sys

import pytest
import torch
from torch import nn

from gnomon.attribution import deletion_insertion, layer_probe, occlusion, sanity_check, token_attribution
from gnomon.core import InputError

TOKENS = torch.tensor([[1, 4, 2, 0], [3, 3, 5, 1], [2, 1, 0, 0]])


class Reader(nn.Module):
    """Attention over tokens, with padding that is masked by the tokens themselves."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.place = nn.Embedding(6, 8), nn.Embedding(4, 8)
        self.attention, self.head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3)

    def forward(self, tokens):
        h = self.embedding(tokens) + self.place(torch.arange(tokens.shape[1]))
        h = h + self.attention(h, h, h, key_padding_mask=tokens == 0, need_weights=False)[0]
        return self.head(torch.tanh(h).mean(1))

    def from_rows(self, rows, tokens):
        h = rows + self.place(torch.arange(tokens.shape[1]))
        h = h + self.attention(h, h, h, key_padding_mask=tokens == 0, need_weights=False)[0]
        return self.head(torch.tanh(h).mean(1))


def test_tokens_share_out_the_output_and_match_a_sum_over_the_path():
    net = Reader().double().eval()
    found = token_attribution(net, TOKENS, 1, baseline=5, steps=60)
    end, start = net.embedding(TOKENS), net.embedding(torch.tensor(5))
    total = torch.zeros_like(end)
    for s in (torch.arange(400) + 0.5) / 400:
        rows = (start + s * (end - start)).detach().requires_grad_()
        total += torch.autograd.grad(net.from_rows(rows, TOKENS)[:, 1].sum(), rows)[0] / 400
    by_hand = ((end - start) * total).sum(2)
    assert torch.allclose(found.values, by_hand, atol=1e-5) and float(found.completeness.max()) < 1e-6
    assert not net.embedding._forward_hooks and all(p.grad is None for p in net.parameters())


def test_many_sequences_are_read_with_their_own_tokens(monkeypatch):
    """Also where they pass in several parts: here 50 sequences of 4 times 8 numbers at a time."""
    net = Reader().double().eval()
    many = TOKENS.repeat(100, 1)
    monkeypatch.setattr(sys.modules["gnomon.attribution.gradient"], "NUMBERS", 50 * 32)
    assert torch.allclose(
        token_attribution(net, many, 0).values, token_attribution(net, TOKENS, 0).values.repeat(100, 1)
    )


def test_covered_tokens_are_those_that_the_module_reads():
    net = Reader().eval()
    found = occlusion(net, TOKENS, 2, cover=5)
    other = TOKENS.clone()
    other[:, 1] = 5
    assert torch.allclose(found.values[:, 1], (net(TOKENS) - net(other))[:, 2], atol=1e-6)


def test_maps_of_tokens_are_checked_like_those_of_pixels():
    net = Reader().eval()
    assert sanity_check(token_attribution, net, TOKENS).weights < 0.99
    curve = deletion_insertion(net, TOKENS, token_attribution(net, TOKENS, 1, baseline=5), cover=5, points=3)
    covered = net(torch.full_like(TOKENS, 5)).detach()[:, 1].mean()
    assert curve.deletion[-1] == pytest.approx(float(covered), abs=1e-6)
    probed = layer_probe(net, (TOKENS.repeat(4, 1), torch.arange(12) % 3))
    assert probed.layers[0].name == "embedding" and "input" not in probed.verdict


def test_what_reads_no_tokens_is_refused():
    with pytest.raises(InputError, match="no embedding reads the tokens"):
        token_attribution(nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(8, 2))[0:0], TOKENS)
    with pytest.raises(InputError, match="the tokens are torch.float32 of 2 axes.*integrated_gradients"):
        token_attribution(nn.Linear(4, 2), torch.rand(3, 4))
