import sys

import pytest
import torch
from torch import nn

from gnomon import examine
from gnomon.attribution import (
    deletion_insertion,
    layer_probe,
    occlusion,
    sanity_check,
    token_attribution,
    token_attribution_overview,
)
from gnomon.core import InputError
from gnomon.examination import STEPS
from gnomon.examination.steps.attribution import AttributionStep

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
    found = token_attribution(net, TOKENS, 1, baseline=5, path_points=60)
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
    monkeypatch.setattr(sys.modules["gnomon.attribution.gradient"], "MAX_NUMBERS_PER_PASS", 50 * 32)
    assert torch.allclose(
        token_attribution(net, many, 0).values, token_attribution(net, TOKENS, 0).values.repeat(100, 1)
    )


def test_covered_tokens_are_those_that_the_module_reads():
    net = Reader().eval()
    found = occlusion(net, TOKENS, 2, fill_value=5)
    other = TOKENS.clone()
    other[:, 1] = 5
    assert torch.allclose(found.values[:, 1], (net(TOKENS) - net(other))[:, 2], atol=1e-6)


def test_maps_of_tokens_are_checked_like_those_of_pixels():
    net = Reader().eval()
    assert sanity_check(token_attribution, net, TOKENS).weights < 0.99
    curve = deletion_insertion(net, TOKENS, token_attribution(net, TOKENS, 1, baseline=5), fill_value=5, points=3)
    covered = net(torch.full_like(TOKENS, 5)).detach()[:, 1].mean()
    assert curve.deletion[-1] == pytest.approx(float(covered), abs=1e-6)
    probed = layer_probe(net, (TOKENS.repeat(4, 1), torch.arange(12) % 3))
    assert probed.layers[0].name == "embedding" and "input" not in probed.verdict


def test_what_reads_no_tokens_is_refused():
    with pytest.raises(InputError, match="no embedding reads the tokens"):
        token_attribution(nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(8, 2))[0:0], TOKENS)
    with pytest.raises(InputError, match="the tokens are torch.float32 of 2 axes.*integrated_gradients"):
        token_attribution(nn.Linear(4, 2), torch.rand(3, 4))


class Bag(nn.Module):
    """Class 1 where the token 3 is there; no other token has a say."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(6, 1), nn.Linear(1, 2)
        self.embedding.weight.data = 4.0 * (torch.arange(6) == 3).float()[:, None]
        self.head.weight.data, self.head.bias.data = torch.tensor([[-1.0], [1.0]]), torch.tensor([0.5, -0.5])

    def forward(self, tokens):
        return self.head(self.embedding(tokens).sum(1))


class Counted(Bag):
    """The same without an embedding."""

    def forward(self, tokens):
        return self.head(4.0 * (tokens == 3).float().sum(1, keepdim=True))


@pytest.mark.parametrize("kind", [Bag, Counted])
def test_the_token_that_decides_has_all_of_the_attribution_and_the_brackets(kind):
    tokens = torch.randint(6, (60, 5), generator=torch.Generator().manual_seed(0))
    classes = (tokens == 3).any(1).long()
    words = ["the", "a", "of", "good", "film", "was"]
    sheet = token_attribution_overview(kind(), (tokens, classes), words=words)
    assert sheet.shares["good"] == pytest.approx(1) and sheet.lines[0].count("[good]") >= 1
    assert all(word == "[good]" or "[" not in word for line in sheet.lines for word in line.split())
    assert "'good' 100%" in sheet.verdict and sheet.plots()[0].marks[0].labels[0] == "good"
    with pytest.raises(InputError, match="there are 2 words and a token 5"):
        token_attribution_overview(kind(), (tokens, classes), words=["a", "b"])
    with pytest.raises(InputError, match="attribution_overview"):
        token_attribution_overview(nn.Linear(2, 2), (torch.randn(40, 2), torch.arange(40) % 2))


def test_the_examination_tells_which_tokens_a_network_looks_at():
    tokens = torch.randint(6, (200, 5), generator=torch.Generator().manual_seed(0))
    steps = (*STEPS[:2], AttributionStep())
    result = examine(Bag(), (tokens, (tokens == 3).any(1).long()), examination_steps=steps, budget=30, fit=False)
    assert "'3' 100%" in result.section("attribution").content.answer
