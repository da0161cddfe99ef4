"""Attention is found however a network computes it; weights, ablations and memory are compared with plain computations."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon import sequences
from gnomon.core.errors import InputError
from gnomon.sequences.observe import Head, observe_attention, run_without_head

HEADS, SIZE, TOKENS, N = 2, 3, 5, 4


def by_softmax(q, k, v):
    """As Hugging Face calls it "eager": a softmax, a cast and dropout, and a product."""
    hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)
    weights = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).masked_fill(hidden, float("-inf")).softmax(-1)
    return torch.matmul(F.dropout(weights.to(q.dtype), 0.1, training=False), v)


def by_einsum(q, k, v):
    logits = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)
    return torch.einsum("b h i j, b h j d -> b h i d", F.softmax(logits.masked_fill(hidden, -torch.inf), dim=-1), v)


def by_bmm(q, k, v):
    """As fairseq and BART: heads are joined to the batch, and weights are reshaped twice."""
    n, heads = q.shape[:2]
    q, k, v = (t.flatten(0, 1) for t in (q, k, v))
    logits = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5
    weights = (logits + torch.full(logits.shape[1:], -torch.inf, dtype=q.dtype).triu(1)).softmax(dim=-1)
    weights = weights.view(n, heads, *weights.shape[1:]).view(n * heads, *weights.shape[1:])
    return torch.bmm(weights, v).unflatten(0, (n, heads))


def by_dot_product(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def by_mask(q, k, v):
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def by_added_mask(q, k, v):
    mask = torch.full((q.shape[2], k.shape[2]), -torch.inf, dtype=q.dtype).triu(1)
    return F.scaled_dot_product_attention(q / 2, k, v, attn_mask=mask, scale=2 / q.shape[-1] ** 0.5)


WAYS = (by_softmax, by_einsum, by_bmm, by_dot_product, by_mask, by_added_mask)


class Attention(nn.Module):
    def __init__(self, way):
        super().__init__()
        torch.manual_seed(0)
        self.way = way
        self.qkv = nn.Linear(HEADS * SIZE, 3 * HEADS * SIZE, dtype=torch.float64)
        self.out = nn.Linear(HEADS * SIZE, HEADS * SIZE, dtype=torch.float64)

    def heads(self, x):
        return [t.unflatten(-1, (HEADS, SIZE)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)]

    def forward(self, x):
        return self.out(self.way(*self.heads(x)).transpose(1, 2).flatten(2))


class Language(nn.Module):
    """A decoder with named arguments that returns a record, as Hugging Face's do."""

    def __init__(self, way=by_softmax, *, embed=True):
        super().__init__()
        self.layers = nn.ModuleList([Attention(way), Attention(way)])
        self.embed, self.positions = nn.Embedding(7, HEADS * SIZE).double(), nn.Embedding(9, HEADS * SIZE).double()
        self.head, self.embeds = nn.Linear(HEADS * SIZE, 7).double(), embed

    def forward(self, input_ids, attention_mask=None, labels=None):
        x = self.embed(input_ids) if self.embeds else input_ids
        x = x + self.positions(torch.arange(x.shape[1]))
        for layer in self.layers:
            x = x + layer(x)
        return {"logits": self.head(x)}


def expected_weights(net, x):
    q, k, _ = (t.detach().numpy() for t in net.heads(x))
    logits = np.einsum("nhid,nhjd->nhij", q, k) / np.sqrt(SIZE)
    powers = np.exp(logits) * np.tril(np.ones((TOKENS, TOKENS)))
    return powers / powers.sum(-1, keepdims=True)


def some_tokens():
    return torch.randint(7, (N, TOKENS), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("way", WAYS)
def test_weights_are_those_of_softmax_written_out(way):
    net, x = Attention(way), torch.randn(N, TOKENS, HEADS * SIZE, dtype=torch.float64)
    (call,) = observe_attention(net, x)
    np.testing.assert_allclose(call.weights.numpy(), expected_weights(net, x), atol=1e-12)
    assert call.name == "" and torch.equal(call.tokens, x)
    assert sequences.attention_maps(net, x).entropy[0] == pytest.approx(
        [
            float(np.mean([-np.sum(p[p > 0] * np.log(p[p > 0])) for p in rows.reshape(-1, TOKENS)]) / np.log(TOKENS))
            for rows in expected_weights(net, x).transpose(1, 0, 2, 3)
        ]
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_head_that_is_switched_off_adds_nothing_to_the_output(way):
    net, x = Attention(way), torch.randn(N, TOKENS, HEADS * SIZE, dtype=torch.float64)
    weights, values = expected_weights(net, x), net.heads(x)[2].detach().numpy()
    whole = net(x).detach().numpy().reshape(N, -1)
    spread = np.linalg.norm(whole - whole.mean(0))
    effects = sequences.head_ablation(net, x).effects[""]
    for head in range(HEADS):
        mixed = weights @ values
        mixed[:, head] = 0.0
        joined = torch.as_tensor(mixed.transpose(0, 2, 1, 3).reshape(N, TOKENS, -1))
        changed = net.out(joined).detach().numpy().reshape(N, -1)
        assert effects[head] == pytest.approx(np.linalg.norm(changed - whole) / spread, rel=1e-10)
    assert torch.equal(run_without_head(net, x, None), net(x))


def test_heads_of_the_second_layer_are_switched_off_there_alone():
    net, x = Language().eval(), some_tokens()
    kept = run_without_head(net, {"input_ids": x}, Head(1, 0))["logits"]
    h = net.embed(x) + net.positions(torch.arange(TOKENS))
    h = h + net.layers[0](h)
    q, k, v = net.layers[1].heads(h)
    mixed = by_softmax(q, k, v) * torch.tensor([0.0, 1.0])[:, None, None]
    assert torch.allclose(kept, net.head(h + net.layers[1].out(mixed.transpose(1, 2).flatten(2))), atol=1e-12)


def test_grouped_keys_are_repeated():
    class Grouped(nn.Module):
        def forward(self, x):
            return F.scaled_dot_product_attention(x[:, :4], x[:, 4:6], x[:, 6:], enable_gqa=True)

    x = torch.randn(N, 8, TOKENS, SIZE, dtype=torch.float64)
    (call,) = observe_attention(Grouped(), x)
    q, k = x[:, :4].numpy(), x[:, 4:6].numpy()
    for head in range(4):
        powers = np.exp(q[:, head] @ k[:, head // 2].transpose(0, 2, 1) / np.sqrt(SIZE))
        np.testing.assert_allclose(call.weights[:, head].numpy(), powers / powers.sum(-1, keepdims=True), atol=1e-12)


def test_layers_of_named_arguments_are_found_in_order_and_again():
    net = Language(by_dot_product)
    net.layers.append(net.layers[0])
    inputs = {"attention_mask": torch.ones(N, TOKENS), "input_ids": some_tokens(), "labels": some_tokens()}
    maps = sequences.attention_maps(net, inputs)
    assert maps.layers == ("layers.0", "layers.1", "layers.0 (call 2)")
    assert set(sequences.attention_alignment(net, inputs).shares) == set(maps.layers)
    assert [len(row) for row in sequences.head_ablation(net, inputs).effects.values()] == [HEADS] * 3
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in net.modules())


@pytest.mark.parametrize(
    "forward",
    [
        lambda x: x.softmax(-1),  # probabilities alone
        lambda x: x.softmax(-1) @ torch.ones(SIZE, 2),  # a table of values, no keys
        lambda x: torch.einsum("nte,nted->ntd", x.softmax(-1), x[..., None].expand(-1, -1, -1, 4)),  # a mixture
        lambda x: x.softmax(1).transpose(1, 2) @ x,  # not over the last axis
    ],
)
def test_other_uses_of_softmax_are_not_attention(forward):
    class Net(nn.Module):
        def forward(self, x):
            return forward(x)

    with pytest.raises(InputError, match="no softmax of queries and keys"):
        sequences.attention_maps(Net(), torch.randn(N, TOKENS, SIZE))


def test_memory_of_tokens_is_the_sensitivity_to_their_embeddings():
    tokens = some_tokens()
    net, below = Language(), Language(embed=False)
    below.load_state_dict(net.state_dict())
    found = sequences.memory_length(net, {"attention_mask": torch.ones(N, TOKENS), "input_ids": tokens})
    wanted = sequences.memory_length(below, net.embed(tokens).detach())
    assert found.sensitivity == pytest.approx(wanted.sensitivity, rel=1e-9)
    assert len(found.sensitivity) == TOKENS and min(found.sensitivity) > 0


def test_causality_changes_the_tokens_among_named_arguments():
    inputs = {"attention_mask": torch.ones(N, TOKENS), "input_ids": some_tokens(), "labels": some_tokens()}
    inputs["input_ids"][1:] = (inputs["input_ids"][:1] + torch.arange(1, N)[:, None]) % 7  # different at every position
    tokens = inputs["input_ids"].clone()
    assert sequences.causality(Language(), inputs).leaks == ()
    assert (
        sequences.causality(Language(lambda q, k, v: F.scaled_dot_product_attention(q, k, v)), inputs).ahead
        == TOKENS - 1
    )
    assert torch.equal(inputs["input_ids"], tokens)


def test_images_and_single_answers_have_no_order_in_time():
    net = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    with pytest.raises(InputError, match="Images have no order in time"):
        sequences.memory_length(net, torch.randn(2, 1, 4, 4))
    with pytest.raises(InputError, match=r"second axis of the output has length 3.*every position"):
        sequences.causality(net, torch.randn(2, 4, 4))


def test_a_query_that_sees_no_key_attends_to_nothing():
    class Hidden(nn.Module):
        def forward(self, x):
            seen = torch.ones(TOKENS, TOKENS, dtype=torch.bool)
            seen[2] = False
            return F.scaled_dot_product_attention(x, x, x, attn_mask=seen).nan_to_num()

    (call,) = observe_attention(Hidden(), torch.randn(N, HEADS, TOKENS, SIZE))
    assert torch.allclose(call.weights.sum(-1), torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0]))
