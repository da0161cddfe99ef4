"""Limits of attention, transformer layers, tables of tokens and positions: against simulation and exact identities."""

import math

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw
from gnomon.core.errors import UnsupportedModuleError
from gnomon.kernels.rules import heads

W, HEADS, SEEDS, BIAS = 36, 6, 40, 3.0
F64 = torch.float64


class Net(nn.Module):
    def __init__(self, run, buffers=None, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        for name, tensor in (buffers or {}).items():
            self.register_buffer(name, tensor)
        self.run = run

    def forward(self, x):
        return self.run(self, x)


def attention(mask=None):
    def run(s, x):
        h = s.e(x)
        return s.c(s.a(h, h, h, need_weights=False, attn_mask=s.mask)[0].mean(1))

    parts = {"e": nn.Linear(6, W), "a": nn.MultiheadAttention(W, HEADS, batch_first=True), "c": nn.Linear(W, 1)}
    net = Net(run, **parts)
    net.register_buffer("mask", mask)
    return net


def causal():
    return attention(torch.ones(4, 4, dtype=torch.bool).triu(1))


def layer(norm_first):
    return nn.TransformerEncoderLayer(W, HEADS, W, 0.0, "gelu", batch_first=True, norm_first=norm_first)


def encoded(norm_first):
    return Net(lambda s, x: s.c(s.a(s.e(x))[:, 0]), e=nn.Linear(6, W), a=layer(norm_first), c=nn.Linear(W, 1))


def with_fixed_positions():
    from gnomon.models import sinusoidal_positions

    parts = {"e": nn.Linear(6, W), "a": layer(False), "c": nn.Linear(W, 1)}
    return Net(lambda s, x: s.c(s.a(s.e(x) + s.p).mean(1)), {"p": sinusoidal_positions(4, W)}, **parts)


CASES = {
    "attention": attention,
    "causal": causal,
    "norm first": lambda: encoded(True),
    "norm last": lambda: encoded(False),
    "fixed positions": with_fixed_positions,
}


def inputs():
    x = 2 * torch.randn(3, 4, 6, dtype=F64, generator=torch.Generator().manual_seed(2))
    x[1] = 0.9 * x[0] + 0.3 * x[1]
    return x


def ntk(net, x):
    parameters = [p for p in net.parameters() if p.requires_grad]
    rows = [torch.autograd.grad(o, parameters, retain_graph=True, allow_unused=True) for o in net(x)[:, 0]]
    flat = torch.stack(
        [
            torch.cat(
                [(torch.zeros_like(p) if g is None else g).reshape(-1) for g, p in zip(row, parameters, strict=True)]
            )
            for row in rows
        ]
    )
    return flat @ flat.T


def check(build, x, init="torch"):
    torch.manual_seed(0)
    limit = gnomon.limit(build(), init=init).ntk(x)
    draws = torch.stack([ntk(build().double(), x) for _ in range(SEEDS)])
    error, scale = draws.std(0) / math.sqrt(SEEDS), limit.diag().sqrt()
    allowed = 4 * error + BIAS / W * scale[:, None] * scale
    assert bool(((draws.mean(0) - limit).abs() <= allowed).all()), (draws.mean(0) - limit) / (scale[:, None] * scale)


@pytest.mark.parametrize("name", list(CASES))
def test_the_rule_agrees_with_simulation(name):
    check(CASES[name], inputs())


def test_equal_keys_give_the_mean_exactly():
    """Without a query and key map (law 0) attention is the mean over positions, whatever the draws."""
    net, x = attention(), inputs()
    laws = {
        "e": InitializationLaw(1.0),
        "a.in_proj_weight.query": InitializationLaw(0.0),
        "a.in_proj_weight.key": InitializationLaw(0.0),
    }
    laws |= {
        "a.in_proj_weight.value": InitializationLaw(1.2),
        "a.out_proj": InitializationLaw(0.7),
        "c": InitializationLaw(1.0),
    }
    got = gnomon.limit(net, init=laws, parametrization="ntk").nngp(x)
    mean = x.mean(1)
    assert torch.allclose(got, (1.2 * 0.7) ** 2 * mean @ mean.T / 6, rtol=1e-12)


@pytest.mark.parametrize("silent", ["queries", "keys"])
def test_tangents_of_queries_and_keys_meet_the_slopes_of_the_softmax(silent):
    """Without queries or without keys all logits vanish: equation (3) at the slopes D of a softmax of zeros, by torch."""
    v, q, k, tq, tk = torch.randn(5, 1, 3, 3, dtype=F64)
    q, k = (0 * q if silent == "queries" else q @ q.mT), (0 * k if silent == "keys" else k @ k.mT)
    side = torch.cat([q.flatten(1), k.flatten(1)], 1)
    slope = torch.autograd.functional.jacobian(lambda g: torch.softmax(g, -1), torch.zeros(3, dtype=F64))
    spread = slope @ v[0] @ slope.T
    wanted = q[0] * (spread * tk[0]).sum() + tq[0] * (spread * k[0]).sum()
    found = heads.HeadsRule()._pairs([side, side, v, q, k, None, tq, tk], tangent=True)
    assert torch.allclose(found.ntk[0], wanted, rtol=1e-10, atol=1e-12)


def test_the_average_over_draws_has_converged(monkeypatch):
    torch.manual_seed(0)
    x, net = inputs(), attention()
    found = []
    for draws in (512, 4096):
        monkeypatch.setattr(heads, "LOGIT_DRAWS", draws)
        heads._noise.cache_clear()
        found.append(gnomon.limit(net).ntk(x))
    heads._noise.cache_clear()
    scale = found[1].diag().sqrt()
    assert float(((found[0] - found[1]) / (scale[:, None] * scale)).abs().max()) < 0.01  # std(G) / sqrt(512) is 0.02


class Tokens(nn.Module):
    def __init__(self, frozen=False):
        super().__init__()
        self.e, self.p = nn.Embedding(7, W, padding_idx=0), nn.Embedding(5, W)
        self.a, self.c = nn.Linear(W, W), nn.Linear(W, 1)
        self.e.weight.requires_grad_(not frozen)

    def forward(self, x):
        h = self.e(x) + self.p(torch.arange(x.shape[1]))
        return self.c(torch.relu(self.a(h)).mean(1))


def test_tokens_agree_with_simulation():
    x = torch.tensor([[1, 2, 3, 0], [1, 2, 6, 6], [4, 4, 4, 4]])
    check(Tokens, x)


def test_a_frozen_table_is_data():
    """Two tokens with the same fixed vector cannot be told apart; the same two of a random table can."""
    x = torch.tensor([[1, 1, 2, 3], [5, 5, 2, 3]])
    frozen = Tokens(frozen=True)
    with torch.no_grad():
        frozen.e.weight[5] = frozen.e.weight[1]
    k = gnomon.limit(frozen).nngp(x)
    assert torch.allclose(k[0, 1], k[0, 0]) and not torch.allclose(gnomon.limit(Tokens()).nngp(x)[0, 1], k[0, 0])


class ClassToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.c = nn.Linear(6, W), nn.Linear(W, 1)
        self.token, self.p = nn.Parameter(torch.randn(1, 1, W)), nn.Parameter(0.5 * torch.randn(1, 5, W))
        self.layer = layer(True)

    def forward(self, x):
        h = torch.cat([self.token.expand(x.shape[0], -1, -1), self.e(x)], 1) + self.p
        return self.c(self.layer(h)[:, 0])


def test_a_class_token_and_random_positions_agree_with_simulation():
    laws = {"token": InitializationLaw(1.0), "p": InitializationLaw(0.5 * math.sqrt(5))}
    torch.manual_seed(0)
    net = ClassToken()
    paths = [w.path for w in gnomon.limit(net, init="measured").program(inputs()).weights]
    plain = {p: InitializationLaw(math.sqrt(1 / 3), math.sqrt(1 / 3 / W)) for p in paths}
    plain |= {
        "e": InitializationLaw(math.sqrt(1 / 3), math.sqrt(1 / 18)),
        "layer.self_attn.out_proj": InitializationLaw(math.sqrt(1 / 3)),
    }
    plain |= {
        f"layer.self_attn.in_proj_weight.{k}": InitializationLaw(math.sqrt(1 / 2)) for k in ("query", "key", "value")
    }
    check(ClassToken, inputs(), init=plain | laws)


def four_layers(fresh):
    net = nn.Sequential(nn.Linear(6, 16), nn.TransformerEncoder(layer_of(16), 4, enable_nested_tensor=False))
    if fresh:
        for p in net.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
    return net


def layer_of(width):
    return nn.TransformerEncoderLayer(width, 4, 2 * width, 0.1, batch_first=True)


def test_an_encoder_of_four_layers_is_read():
    k = gnomon.limit(four_layers(fresh=True).eval(), init="measured")(inputs())
    assert bool((torch.linalg.eigvalsh(k.ntk) > 0).all()) and bool((torch.linalg.eigvalsh(k.nngp) > 0).all())


REFUSED = {
    "lstm": (lambda: Net(lambda s, x: s.c(s.r(x)[1][0][-1]), r=nn.LSTM(6, 8, batch_first=True), c=nn.Linear(8, 1)), "product over time of gates"),
    "gru": (lambda: Net(lambda s, x: s.c(s.r(x)[0].mean(1)), r=nn.GRU(6, 8, batch_first=True), c=nn.Linear(8, 1)), "product over time of gates"),
    "time first": (lambda: Net(lambda s, x: s.c(s.r(x)[0].mean(1)), r=nn.RNN(6, 8), c=nn.Linear(8, 1)), "batch_first=True"),
    "initial state": (lambda: Net(lambda s, x: s.c(s.r(x, torch.ones(1, 11, 8))[0].mean(1)), r=nn.RNN(6, 8, batch_first=True), c=nn.Linear(8, 1)), "initial state"),
    "dropped attention": (lambda: nn.Sequential(nn.Linear(6, 16), layer_of(16)), "drops entries of the attention"),
    "cell": (lambda: Net(lambda s, x: s.c(s.r(x[:, 0])), r=nn.RNNCell(6, 8), c=nn.Linear(8, 1)), "Use nn.RNN"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_has_no_rule_says_why(name):
    build, message = REFUSED[name]
    with pytest.raises(UnsupportedModuleError, match=message):
        gnomon.limit(build()).ntk(inputs())
