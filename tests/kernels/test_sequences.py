"""Limits of recurrence, attention, tables, graphs and further convolutions: against simulation, oracles and rates.

Simulation: the mean kernels of freshly constructed networks, within 4 standard errors plus a bias of order 1/width.
"""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon import InitializationLaw
from tests.oracles import recurrence as oracle
from tests.oracles.ensemble import ntks
from tests.shares import in_full

W, SEEDS, BIAS = 32, 100, 3.0


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


class Loop(nn.RNN):
    """The same network in a form that torch.func can vectorize; the reader is given the real one."""

    def forward(self, x):
        phi = getattr(torch, self.nonlinearity)
        last = []
        for layer in range(self.num_layers):
            sides = []
            for side in ("", "_reverse") if self.bidirectional else ("",):
                get = lambda kind, end=f"l{layer}{side}": getattr(self, f"{kind}_{end}", None)  # noqa: E731
                u = F.linear(x, get("weight_ih"), get("bias_ih"))
                u = u.flip(1) if side else u
                h, states = torch.zeros_like(u[:, 0]), []
                for t in range(u.shape[1]):
                    h = phi(u[:, t] + F.linear(h, get("weight_hh"), get("bias_hh")))
                    states.append(h)
                states = torch.stack(states, 1)
                sides.append(states.flip(1) if side else states)
                last.append(h)
            x = torch.cat(sides, 2)
        return x, torch.stack(last)


def last_state(w, kind=nn.RNN, **options):
    rnn = kind(6, w, batch_first=True, **options)
    return Net(lambda s, x: s.head(s.rnn(x)[1][-1]), rnn=rnn, head=nn.Linear(w, 1))


def mean_state(w, kind=nn.RNN, **options):
    size = 2 * w if options.get("bidirectional") else w
    rnn = kind(6, w, batch_first=True, **options)
    return Net(lambda s, x: s.head(s.rnn(x)[0].mean(1)), rnn=rnn, head=nn.Linear(size, 1))


def all_states(w, kind=nn.RNN):
    rnn = kind(6, w, batch_first=True)
    return Net(lambda s, x: s.head(s.rnn(x)[0]), rnn=rnn, head=nn.Linear(w, 1))


def both_ends(w, kind=nn.RNN):
    def run(s, x):
        h = s.rnn(x)[1]
        return s.head(torch.cat([h[0], h[1]], 1))

    return Net(run, rnn=kind(6, w, batch_first=True, bidirectional=True), head=nn.Linear(2 * w, 1))


RECURRENT = {
    "last state": last_state,
    "last state, relu": lambda w, kind: last_state(w, kind, nonlinearity="relu"),
    "mean of states": mean_state,
    "all states": all_states,
    "two layers": lambda w, kind: mean_state(w, kind, num_layers=2),
    "two layers, relu, last state": lambda w, kind: last_state(w, kind, num_layers=2, nonlinearity="relu"),
    "no bias": lambda w, kind: last_state(w, kind, bias=False),
    "mean, no bias": lambda w, kind: mean_state(w, kind, bias=False),
    "mean, relu": lambda w, kind: mean_state(w, kind, nonlinearity="relu"),
    "bidirectional": lambda w, kind: mean_state(w, kind, bidirectional=True),
    "bidirectional, two layers": lambda w, kind: mean_state(w, kind, bidirectional=True, num_layers=2),
    "both ends": both_ends,
}


def ring(n):
    eye = torch.eye(n, dtype=torch.float64)
    return ((eye + eye.roll(1, 0) + eye.roll(-1, 0)) / 3).float()


def gcn(w):
    def run(s, x):
        h = torch.relu(s.A @ s.a(x))
        return s.c(torch.relu(s.A @ s.b(h)).mean(1))

    return Net(run, {"A": ring(5)}, a=nn.Linear(6, w), b=nn.Linear(w, w), c=nn.Linear(w, 1))


def gin(w):
    def run(s, x):
        h = s.a(x)
        h = torch.relu(s.b(1.5 * h + s.A @ h))
        return s.c(torch.relu(s.d(torch.matmul(s.A, h) + h)).sum(1))

    return Net(run, {"A": ring(5)}, a=nn.Linear(6, w), b=nn.Linear(w, w), d=nn.Linear(w, w), c=nn.Linear(w, 1))


def own_graphs(w):
    """Six features and five columns of adjacency for each node."""

    def run(s, x):
        graph, h = x[..., 6:], s.a(x[..., :6])
        h = torch.relu(graph @ h)
        return s.c(torch.relu(graph @ s.b(h)).sum(1))

    return Net(run, a=nn.Linear(6, w), b=nn.Linear(w, w), c=nn.Linear(w, 1))


def transposed(w):
    up = nn.ConvTranspose1d(w, w, 3, stride=2, padding=1, output_padding=1)
    return Net(lambda s, x: s.c(torch.relu(s.b(torch.relu(s.a(x.transpose(1, 2))))).mean(2)), a=nn.Conv1d(6, w, 2), b=up, c=nn.Linear(w, 1))  # fmt: skip


class Depthwise(nn.Conv1d):
    """The same layer in a form that torch.func vectorizes fast; the reader is given the real one."""

    def forward(self, x):
        out = self.bias[:, None]
        for k in range(self.kernel_size[0]):
            out = out + self.weight[:, :, k] * x[:, :, k : x.shape[2] - self.kernel_size[0] + 1 + k]
        return out


def separable(w, kind=nn.Conv1d):
    """Depthwise, then pointwise, as in MobileNet: no activation between them."""
    layers = [nn.Conv1d(6, w, 2), nn.ReLU(), kind(w, w, 2, groups=w), nn.Conv1d(w, w, 1), nn.ReLU()]
    return Net(lambda s, x: s.c(s.body(x.transpose(1, 2)).mean(2)), body=nn.Sequential(*layers), c=nn.Linear(w, 1))


def volumes(w):
    layers = [nn.Conv3d(1, w, (2, 1, 2)), nn.ReLU(), nn.AvgPool3d((1, 1, 2)), nn.Conv3d(w, w, 1), nn.ReLU()]
    layers += [nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(w, 1)]
    return Net(lambda s, x: s.body(x.reshape(-1, 1, 5, 2, 3)), body=nn.Sequential(*layers))


NETWORKS = {
    "gcn": gcn,
    "gin": gin,
    "own graphs": own_graphs,
    "transposed": transposed,
    "separable": separable,
    "volumes": volumes,
}


def inputs(name):
    x = torch.randn(3, 5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    x[1] = 0.9 * x[0] + 0.3 * x[1]
    if name == "own graphs":
        graphs = torch.rand(3, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
        x = torch.cat([x, graphs], 2)
    return x


def check(limit, found, width):
    error, scale = found.std(0) / math.sqrt(len(found)), limit.diag().sqrt()
    allowed = 4 * error + BIAS / width * scale[:, None] * scale
    assert bool((limit.diag() > 0).all())
    assert bool(((found.mean(0) - limit).abs() <= allowed).all()), (found.mean(0) - limit) / (scale[:, None] * scale)


@pytest.mark.parametrize("name", in_full(RECURRENT, except_for=list(RECURRENT)[::3]))
def test_recurrent_networks_agree_with_simulation(name):
    x, build = inputs(name), RECURRENT[name]
    limit = gnomon.limit(build(W, nn.RNN)).ntk(x)
    check(limit, ntks(lambda: build(W, Loop), x, SEEDS), W)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_rule_agrees_with_simulation(name):
    x, build = inputs(name), NETWORKS[name]
    limit = gnomon.limit(build(W)).ntk(x)
    options = {"kind": Depthwise} if name == "separable" else {}
    check(limit, ntks(lambda: build(W, **options), x, SEEDS), W)


def test_the_loop_is_the_recurrent_network():
    x = inputs("all states").float()
    for name, build in RECURRENT.items():
        torch.manual_seed(0)
        real = build(8, nn.RNN)
        loop = build(8, Loop)
        loop.load_state_dict(real.state_dict())
        assert torch.allclose(real(x), loop(x), atol=1e-5), name


def test_a_recurrent_network_equals_the_oracle():
    """Last state, tanh, a head of weight variance 1 without bias: the kernels of the state itself."""
    rnn, head = nn.RNN(6, 32, batch_first=True), nn.Linear(32, 1, bias=False)
    net = Net(lambda s, x: s.head(s.rnn(x)[1].squeeze(0)), rnn=rnn, head=head)
    laws = {
        "rnn.weight_ih_l0": InitializationLaw(0.4, 0.1),
        "rnn.weight_hh_l0": InitializationLaw(0.6, 0.2),
        "head": InitializationLaw(1.0),
    }
    x = inputs("last state")[:2, :4]
    got = gnomon.limit(net, init=laws, parametrization="ntk")(x)
    tangent = (0.4**2, 0.6**2, 0.1**2 + 0.2**2)
    slope = lambda u: 1 / np.cosh(u) ** 2  # noqa: E731
    wanted = oracle.kernels(x[0].numpy(), x[1].numpy(), 0.4, 0.6, 0.05, tangent, np.tanh, slope)
    assert abs(float(got.nngp[0, 1]) / wanted[0] - 1) < 1e-8
    assert abs(float(got.ntk[0, 1]) / (wanted[0] + wanted[1]) - 1) < 1e-8


def gcn_of(w, kind=None):
    """Without biases, whose tangents do not scatter, and with many inputs: uniform weights of few leave an error."""

    def run(s, x):
        h = torch.relu(s.A @ s.a(x.repeat(1, 1, 8)))
        return s.c(torch.relu(s.A @ s.b(h)).mean(1))

    layers = {"a": nn.Linear(48, w, bias=False), "b": nn.Linear(w, w, bias=False), "c": nn.Linear(w, 1, bias=False)}
    return Net(run, {"A": ring(5)}, **layers)


@pytest.mark.parametrize("build", [last_state, pytest.param(gcn_of, marks=pytest.mark.full)])
def test_finite_networks_scatter_around_the_limit_as_one_over_width(build):
    """The mean square deviation from the limit falls as 1/width: a wrong constant would flatten it."""
    x, seeds = inputs(""), 100
    widths = (32, 64, 128, 256) if build is gcn_of else (8, 16, 32, 64)
    squares, errors = [], []
    for w in widths:
        limit = gnomon.limit(build(w, nn.RNN)).ntk(x)
        scale = limit.diag().sqrt()
        off = ((ntks(lambda w=w: build(w, Loop), x, seeds) - limit) / (scale[:, None] * scale)).mean((1, 2)).numpy()
        squares.append((off**2).mean())
        errors.append((off**2).std() / math.sqrt(seeds))
    u, y, weights = np.log(widths), np.log(squares), (np.array(squares) / np.array(errors)) ** 2
    center = (weights * u).sum() / weights.sum()
    spread = (weights * (u - center) ** 2).sum()
    rate, error = (weights * (u - center) * y).sum() / spread, 1 / math.sqrt(spread)
    assert abs(rate + 1) <= 4 * error + 0.1, (rate, error)  # 0.1: corrections of relative order 1/width
