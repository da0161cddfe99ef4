"""Small networks of every kind the tangent room promises to know, with inputs for each; all in float64."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Case:
    """A network, a sampler of inputs, and the parameters that must be left to the fallback ("" for none)."""

    name: str
    build: Callable[[], nn.Module]
    sample: Callable[[int], object]
    fallback: tuple[str, ...] = ()


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False), nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.na, self.nb, self.ns = nn.BatchNorm2d(4), nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.skip, self.head = nn.Conv2d(3, 4, 1, stride=2, bias=False), nn.Linear(4, 3)
        for norm in (self.na, self.nb, self.ns):
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2.0)
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)

    def forward(self, x):
        h = F.relu(self.na(self.a(x)))
        h = F.relu(self.nb(self.b(h)) + self.ns(self.skip(x)))
        return self.head(h.mean((2, 3)))


class Encoder(nn.Module):
    def __init__(self, batch_first=True, pool="mean"):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=batch_first)
        self.head, self.batch_first, self.pool = nn.Linear(8, 2), batch_first, pool

    def forward(self, x):
        h = self.layer(x if self.batch_first else x.transpose(0, 1))
        h = h if self.batch_first else h.transpose(0, 1)
        return self.head(h.mean(1) if self.pool == "mean" else h[:, 0])


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.TransformerDecoderLayer(8, 2, 12, batch_first=True), nn.Linear(8, 2)

    def forward(self, x, memory):
        return self.head(self.layer(x, memory).mean(1))


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.head = cell(4, 5, batch_first=True), nn.Linear(5, 2)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


class Tied(nn.Module):
    """Embedding whose table is also the output layer."""

    def __init__(self):
        super().__init__()
        self.table, self.mix = nn.Embedding(7, 4), nn.Linear(4, 4)
        self.out = nn.Linear(4, 7, bias=False)
        self.out.weight = self.table.weight

    def forward(self, ids):
        return self.out(torch.tanh(self.mix(self.table(ids))).mean(1))


class Autoencoder(nn.Module):
    """One weight used as W and as its transpose."""

    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(4, 6) / 2), nn.Parameter(torch.randn(4))

    def forward(self, x):
        return F.linear(torch.tanh(F.linear(x, self.w, self.b)), self.w.t())


class Repeated(nn.Module):
    """The same layers called three times."""

    def __init__(self):
        super().__init__()
        self.step, self.norm, self.head = nn.Linear(5, 5), nn.LayerNorm(5), nn.Linear(5, 2)

    def forward(self, x):
        for _ in range(3):
            x = torch.tanh(self.norm(self.step(x)))
        return self.head(x)


class Shared(nn.Module):
    """One kernel applied by convolution at two scales, and once as a plain matrix."""

    def __init__(self):
        super().__init__()
        self.kernel, self.head = nn.Parameter(torch.randn(4, 2, 3, 3) / 3), nn.Linear(8, 2)

    def forward(self, x):
        near, far = F.conv2d(x, self.kernel, padding=1), F.conv2d(x, self.kernel, padding=2, dilation=2)
        rows = F.linear(x.flatten(1)[:, :18], self.kernel.flatten(1))
        return self.head(torch.cat([torch.tanh(near * far).mean((2, 3)), rows], 1))


class Pooled(nn.Module):
    """Convolutions that the outputs see through pooled values: a residual block, a gated group of channels, a sum."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.norm, self.side = nn.BatchNorm2d(4), nn.Conv2d(3, 5, 3, bias=False)
        self.head = nn.Linear(9, 3)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2.0)

    def forward(self, x):
        h = F.gelu(self.a(x))
        h = torch.relu(self.norm(self.b(h)) + h).mean((2, 3))
        return self.head(torch.tanh(torch.cat([h, torch.sin(self.side(x)).sum((2, 3))], 1)))


class Gains(nn.Module):
    """Scalar, vector and positional parameters, a class token, subtraction, a learned slope."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.tensor(1.3)), nn.Parameter(torch.randn(5))
        self.place, self.token = nn.Parameter(torch.randn(3, 5)), nn.Parameter(torch.randn(1, 1, 5))
        self.slope, self.head = nn.PReLU(4), nn.Linear(5, 2)

    def forward(self, x):
        h = torch.cat([self.token.expand(len(x), -1, -1), x + self.place - self.shift], 1)
        return self.head(self.slope(h * self.scale)).flatten(1)


class Strange(nn.Module):
    """A parameter that enters through an operation without a rule, and one through a product of weights."""

    def __init__(self):
        super().__init__()
        self.first, self.power = nn.Linear(4, 5), nn.Parameter(torch.rand(5) + 0.5)
        self.u, self.v = nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(2, 5))

    def forward(self, x):
        h = F.softplus(self.first(x)) ** self.power
        return F.linear(h, self.u @ self.v)


class Product(nn.Module):
    """A product of weights with as many rows as the probe has examples."""

    def __init__(self):
        super().__init__()
        self.first, self.u, self.v = nn.Linear(4, 3), nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(2, 2))

    def forward(self, x):
        return torch.tanh(self.first(x)) @ (self.u @ self.v)


class Tagger(nn.Module):
    """Named inputs, some of them indices; outputs of shape (n, t, classes)."""

    def __init__(self):
        super().__init__()
        self.table, self.norm, self.head = nn.Embedding(9, 4, padding_idx=0), nn.GroupNorm(2, 4), nn.Linear(4, 2)

    def forward(self, *, ids, weight):
        h = self.table(ids) * weight.unsqueeze(-1)
        return self.head(self.norm(h.transpose(1, 2)).transpose(1, 2))


class Routed(nn.Module):
    """Examples take different layers: the graph depends on the batch."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.head = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        h = x.new_zeros(len(x), 3)
        for expert, chosen in ((self.left, x[:, 0] > 0), (self.right, x[:, 0] <= 0)):
            if chosen.any():
                h = h.index_put((chosen.nonzero()[:, 0],), expert(x[chosen]))
        return self.head(torch.tanh(h))


class Sorted(nn.Module):
    """Works on the examples in the order of their first feature, and puts them back."""

    def __init__(self):
        super().__init__()
        self.inner, self.head = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        order = x[:, 0].argsort()
        return self.head(torch.tanh(self.inner(x[order])))[order.argsort()]


class Packed(nn.Module):
    """Sequences of different lengths through a packed recurrent layer."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRU(2, 3, batch_first=True), nn.Linear(3, 2)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.head(self.cell(packed)[1][0])


def _rising(n):
    """Sorted among the first three examples, not among the rest."""
    x = torch.randn(n, 4)
    x[:3, 0] = torch.arange(min(n, 3))
    return x


def _lengths(n):
    return torch.randn(n, 5, 2), torch.tensor([4, 4, 4, 2, 5, 3, 1, 5, 2, 4, 3][:n])


def cnn():
    return nn.Sequential(
        nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2),
        nn.ReLU(),
        nn.Conv2d(6, 6, 3, dilation=2, padding=2, groups=6, bias=False),
        nn.Tanh(),
        nn.Conv2d(6, 5, (1, 3), padding_mode="circular", padding=(0, 1)),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(5 * 4 * 4, 3),
    )


def frames():
    """Rows that are (example, time) folded together before a convolution."""
    inner = nn.Sequential(nn.Flatten(0, 1), nn.Conv1d(3, 4, 3), nn.ReLU(), nn.Flatten(1), nn.Linear(16, 2))
    return nn.Sequential(inner, nn.Unflatten(0, (-1, 2)), nn.Flatten(1))


def _normal(*shape):
    return lambda n: torch.randn(n, *shape)


CASES = (
    Case(
        "mlp",
        lambda: nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3)),
        _normal(5),
    ),
    Case("cnn", cnn, _normal(4, 8, 8)),
    Case(
        "conv1d",
        lambda: nn.Sequential(nn.Conv1d(3, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)),
        _normal(3, 9),
    ),
    Case("resnet", Residual, _normal(3, 8, 8)),
    Case("encoder", Encoder, _normal(4, 8)),
    Case("encoder time first", lambda: Encoder(batch_first=False), _normal(4, 8)),
    Case("encoder first token", lambda: Encoder(pool="first"), _normal(4, 8)),
    Case("decoder", Decoder, lambda n: (torch.randn(n, 3, 8), torch.randn(n, 5, 8))),
    Case("lstm", lambda: Recurrent(nn.LSTM), _normal(6, 4)),
    Case("gru", lambda: Recurrent(nn.GRU), _normal(6, 4)),
    Case("tied", Tied, lambda n: torch.randint(0, 7, (n, 5))),
    Case("autoencoder", Autoencoder, _normal(6)),
    Case("repeated", Repeated, _normal(5)),
    Case("shared kernel", Shared, _normal(2, 4, 5)),
    Case("pooled", Pooled, _normal(3, 6, 6)),
    Case("gains", Gains, _normal(3, 5)),
    Case("strange", Strange, _normal(4), ("power", "u", "v")),
    Case("product", Product, _normal(4), ("u", "v")),
    Case("tagger", Tagger, lambda n: {"ids": torch.randint(0, 9, (n, 6)), "weight": torch.rand(n, 6)}),
    Case("routed", Routed, _normal(4)),
    Case("sorted", Sorted, _rising),
    Case("packed", Packed, _lengths),
    Case("frames", frames, _normal(2, 3, 6)),
    Case("one output", lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Flatten(0)), _normal(3)),
    Case(
        "transposed conv",
        lambda: nn.Sequential(nn.ConvTranspose1d(3, 2, 3), nn.Flatten()),
        _normal(3, 4),
        ("0.weight",),
    ),
    Case("rms norm", lambda: nn.Sequential(nn.Linear(4, 6), nn.RMSNorm(6), nn.Linear(6, 2)), _normal(4)),
)


def build(case, seed=0):
    """The network of a case in float64 and evaluation mode."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(seed)
        return case.build().eval()
    finally:
        torch.set_default_dtype(before)


def sample(case, n, seed=1):
    """n inputs of a case, floating ones in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(seed)
        return case.sample(n)
    finally:
        torch.set_default_dtype(before)
