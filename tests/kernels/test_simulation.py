"""Every layer rule against simulation: the mean kernels of freshly constructed networks, within 4 standard errors.

Where only some parameters are allowed to train, the others' tangents cannot hide an error in theirs.
Finite width leaves a bias of order 1/width; BIAS / WIDTH is granted, relative to the diagonal.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon.models import SelfAttention
from tests.oracles.ensemble import ntks

W, SEEDS, BIAS = 64, 300, 2.0


class Net(nn.Module):
    def __init__(self, run, train=None, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run
        if train is not None:
            for name, p in self.named_parameters():
                p.requires_grad_(any(name.startswith(t) for t in train))

    def forward(self, x):
        return self.run(self, x)


def layer_norm(train=None):
    return Net(
        lambda s, x: s.b(torch.tanh(s.n(s.a(x)))), train, a=nn.Linear(48, W), n=nn.LayerNorm(W), b=nn.Linear(W, 1)
    )


def norm_then_linear(train=None):
    return Net(lambda s, x: s.b(s.n(s.a(x))), train, a=nn.Linear(48, W), n=nn.LayerNorm(W), b=nn.Linear(W, 1))


def relu_norm(train=None):
    return Net(lambda s, x: s.b(torch.relu(s.n(s.a(x)))), train, a=nn.Linear(48, W), n=nn.RMSNorm(W), b=nn.Linear(W, 1))


def batch_norm(train=None):
    net = Net(
        lambda s, x: s.b(F.gelu(s.n(s.a(x))).flatten(1)),
        train,
        a=nn.Conv1d(12, W, 3),
        n=nn.BatchNorm1d(W),
        b=nn.Linear(2 * W, 1),
    )
    return net.eval()


def group_norm(train=None):
    run = lambda s, x: s.b(F.silu(s.n(s.a(x))).mean(2))  # noqa: E731
    return Net(run, train, a=nn.Conv1d(12, W, 3, padding=1), n=nn.GroupNorm(1, W), b=nn.Linear(W, 1))


def image_norm(train=None):
    run = lambda s, x: s.b(torch.relu(s.n(s.a(x))).mean(2))  # noqa: E731
    return Net(run, train, a=nn.Conv1d(12, W, 3, padding=1), n=nn.LayerNorm([W, 4]), b=nn.Linear(W, 1))


class PReLU(nn.PReLU):
    """The same layer in a form that torch.func can vectorize; the reader is given the real one."""

    def forward(self, x):
        return torch.relu(x) - self.weight * torch.relu(-x)


def prelu(train=None, kind=PReLU):
    return Net(lambda s, x: s.b(s.p(s.a(x))), train, a=nn.Linear(48, W), p=kind(W, init=0.3), b=nn.Linear(W, 1))


def only(net, train):
    """Let only the named parameters train."""
    for name, p in net.named_parameters():
        p.requires_grad_(train is None or name in train)
    return net


class ScalarGain(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(48, W), nn.Linear(W, 1)
        self.g, self.c = nn.Parameter(torch.tensor(0.7)), nn.Parameter(torch.full((W,), 0.2))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x) * self.g + self.c))


def scalar_gain(train=None):
    return only(ScalarGain(), train)


class ReZero(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.g = (
            nn.Linear(48, W),
            nn.Linear(W, W),
            nn.Linear(W, 1),
            nn.Parameter(torch.zeros(1)),
        )

    def forward(self, x):
        h = self.a(x)
        return self.c(torch.tanh(h + self.g * self.b(torch.relu(h))))


def rezero(train=None):
    return only(ReZero(), train)


def concat(train=None):
    def run(s, x):
        h = s.a(x)
        return s.c(torch.erf(torch.cat([h, s.b(torch.relu(h))], 1)))

    return Net(run, train, a=nn.Linear(48, W), b=nn.Linear(W, 2 * W), c=nn.Linear(3 * W, 1))


def stacked_positions(train=None):
    def run(s, x):
        h = torch.cat([s.a(x), s.b(x)], 2)  # more positions
        return s.d(torch.relu(s.c(torch.relu(h))).mean(2))

    return Net(run, train, a=nn.Conv1d(12, W, 3), b=nn.Conv1d(12, W, 2), c=nn.Conv1d(W, W, 2), d=nn.Linear(W, 1))


def moved(train=None):
    def run(s, x):
        h = torch.relu(s.a(x)).flip(2)[:, :, 1:]
        h = F.pad(h, (0, 2), mode="replicate")
        return s.c(torch.relu(s.b(h)).transpose(1, 2).flatten(1))

    return Net(run, train, a=nn.Conv1d(12, W, 2), b=nn.Conv1d(W, W, 3), c=nn.Linear(2 * W, 1))


def upsampled(train=None):
    run = lambda s, x: s.b(F.interpolate(torch.relu(s.a(x)), scale_factor=2, mode="linear")).mean(2)  # noqa: E731
    return Net(run, train, a=nn.Conv1d(12, W, 3, padding=1, dilation=1), b=nn.Conv1d(W, 1, 3, stride=2))


def pooled(train=None):
    net = [
        nn.Conv2d(12, W, 2, dilation=2, padding=1, padding_mode="circular"),
        nn.ReLU(),
        nn.AvgPool2d(2, 1, 1, count_include_pad=False),
    ]
    return nn.Sequential(
        *net, nn.Conv2d(W, W, 2, groups=2), nn.ReLU(), nn.AdaptiveAvgPool2d((2, 1)), nn.Flatten(), nn.Linear(2 * W, 1)
    )


def transformer_block(train=None):
    def run(s, x):
        h = s.embed(x.transpose(1, 2))
        h = h + s.attend(s.n1(h))
        h = h + s.down(F.gelu(s.up(s.n2(h))))
        return s.head(s.n3(h).mean(1))

    parts = {
        "embed": nn.Linear(12, W),
        "n1": nn.LayerNorm(W),
        "attend": SelfAttention(W, heads=8, key_size=W),
        "n2": nn.LayerNorm(W),
    }
    return Net(
        run, train, **parts, up=nn.Linear(W, 2 * W), down=nn.Linear(2 * W, W), n3=nn.LayerNorm(W), head=nn.Linear(W, 1)
    )


def dropped(train=None):
    return nn.Sequential(
        nn.Linear(48, W), nn.ReLU(), nn.Dropout(0.4), nn.Linear(W, W), nn.ReLU(), nn.Linear(W, 1)
    ).eval()


SEQUENCE = [stacked_positions, moved, upsampled, batch_norm, group_norm, image_norm, transformer_block]
CASES = [
    *((b, None) for b in (layer_norm, batch_norm, group_norm, image_norm, prelu, scalar_gain, rezero, concat, stacked_positions,
                          moved, upsampled, pooled, transformer_block, dropped, relu_norm)),
    *((b, ("n.weight",)) for b in (layer_norm, norm_then_linear, relu_norm, batch_norm, group_norm, image_norm)),
    *((b, ("n.bias",)) for b in (layer_norm, norm_then_linear, batch_norm, group_norm, image_norm)),
    (prelu, ("p.weight",)), (scalar_gain, ("g",)), (scalar_gain, ("c",)), (rezero, ("g",)),
    (layer_norm, ("a.weight",)), (layer_norm, ("b.bias",)), (concat, ("b.weight",)),
]  # fmt: skip


def inputs(build):
    shape = (12, 4) if build in SEQUENCE else (12, 3, 3) if build is pooled else (48,)
    x = torch.randn(3, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    x[1] = 0.9 * x[0] + 0.3 * x[1]
    return x


@pytest.mark.parametrize(
    ("build", "train"), CASES, ids=[f"{b.__name__}-{'-'.join(t) if t else 'all'}" for b, t in CASES]
)
def test_the_rule_agrees_with_simulation(build, train):
    x = inputs(build)
    net = prelu(train, nn.PReLU) if build is prelu else build(train)
    limit = gnomon.limit(net).ntk(x)
    draws = ntks(lambda: build(train), x, SEEDS, chunk=100)
    error = draws.std(0) / SEEDS**0.5
    scale = limit.diag().sqrt()
    allowed = 4 * error + BIAS / W * scale[:, None] * scale
    assert bool((limit.diag() > 0).all())
    assert bool(((draws.mean(0) - limit).abs() <= allowed).all()), (
        (draws.mean(0) - limit) / (scale[:, None] * scale),
        error / (scale[:, None] * scale),
    )
