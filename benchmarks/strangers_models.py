"""Networks for `faults_strangers.py`; ``wrong`` names what is wrong with one, nothing by default."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class Next(nn.Module):
    """A block of ConvNeXt: depthwise 7 x 7, layer norm, two pointwise layers, a scale that begins at 1e-6 or so."""

    def __init__(self, width, scale=1e-6, drop=0.1):
        super().__init__()
        self.depth, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.gamma, self.drop = nn.Parameter(torch.full((width,), scale)), drop

    def forward(self, x):
        h = self.down(F.gelu(self.up(self.norm(self.depth(x).movedim(1, -1))))) * self.gamma
        if self.training:  # stochastic depth
            h = h * (torch.rand(len(h), 1, 1, 1, device=h.device) > self.drop) / (1 - self.drop)
        return x + h.movedim(-1, 1)


class ConvNext(nn.Module):
    def __init__(self, classes=6, width=32, scale=1e-6, wrong=""):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, 4)
        self.blocks = nn.Sequential(*(Next(width, scale) for _ in range(3)))
        self.norm, self.head, self.wrong = nn.LayerNorm(width), nn.Linear(width, classes), wrong

    def forward(self, x):
        h = self.stem(x)
        if self.wrong == "numpy":
            h = torch.from_numpy(h.detach().numpy())
        return self.head(self.norm(self.blocks(h).mean((2, 3))))


class Vision(nn.Module):
    """A small vision transformer with a class token."""

    def __init__(self, classes=6, width=48, layers=3, side=32, patch=8, end=None, wrong=""):
        super().__init__()
        self.patch, self.wrong, count = patch, wrong, (side // patch) ** 2
        self.embed, self.token = nn.Conv2d(3, width, patch, patch), nn.Parameter(torch.zeros(1, 1, width))
        self.place = nn.Parameter(0.02 * torch.randn(1, count + 1, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm, self.head, self.end = nn.LayerNorm(width), nn.Linear(width, classes), end or nn.Identity()

    def forward(self, x):
        h = self.embed(x).flatten(2).mT
        if self.wrong == "shuffles":
            h = h[:, torch.randperm(h.shape[1])]
        h = torch.cat([self.token.expand(len(x), -1, -1), h], 1)
        h = h if self.wrong == "place" else h + self.place
        return self.end(self.head(self.norm(self.layers(h))[:, 0]))


class Mixing(nn.Module):
    """An MLP-Mixer."""

    def __init__(self, classes=6, width=48, layers=3, patch=4, side=32, wrong=""):
        super().__init__()
        self.patch, self.wrong, count = patch, wrong, (side // patch) ** 2
        self.embed = nn.Conv2d(3, width, patch, patch)

        def mlp(a, b):
            return nn.Sequential(nn.LayerNorm(a), nn.Linear(a, b), nn.GELU(), nn.Linear(b, a))

        self.across = nn.ModuleList(mlp(count, 2 * count) for _ in range(layers))
        self.within = nn.ModuleList(mlp(width, 2 * width) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.embed(x).flatten(2)
        for a, b in zip(self.across, self.within, strict=True):
            h = h + a(h)
            h = h + b(h.mT).mT
        h = h.mean(2)
        if self.wrong == "monte carlo":
            h = F.dropout(h, 0.4, training=True)
        return self.head(h)


class Activity(nn.Module):
    """Convolutions over six channels of sensors, batch norm, and a GRU on top where asked."""

    def __init__(self, classes=6, width=32, gru=False, norm=True, wrong=""):
        super().__init__()

        def block(a, b):
            return [nn.Conv1d(a, b, 5, 2, 2), *([nn.BatchNorm1d(b)] if norm else []), nn.ReLU()]

        self.body = nn.Sequential(*block(6, width), *block(width, 2 * width), *block(2 * width, 2 * width))
        self.gru = nn.GRU(2 * width, width, batch_first=True) if gru else None
        self.head, self.wrong = nn.Linear(width if gru else 2 * width, classes), wrong
        if wrong == "frozen":
            self.body.requires_grad_(False)

    def forward(self, x):
        h = self.body(x)
        if self.wrong == "standardized":
            h = h / (h.std(0, keepdim=True) + 1e-3)
        if self.gru is None:
            return self.head(h.mean(2))
        h, _ = self.gru(h.mT)
        return self.head(h[:, 0] if self.wrong == "first" else h[:, -1])


class Intent(nn.Module):
    """An LSTM over words, both ways, with attention over the places; or a GRU with the last state."""

    def __init__(self, vocabulary=2000, width=48, classes=5, dropout=0.3, cell=nn.LSTM, vectors=None, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        if vectors is not None:
            self.embed = nn.Embedding.from_pretrained(vectors, freeze=True, padding_idx=0)
        self.rnn = cell(width, width, batch_first=wrong != "axes", bidirectional=True)
        self.score, self.drop = nn.Linear(2 * width, 1), nn.Dropout(dropout)
        self.head, self.wrong = nn.Linear(2 * width, classes), wrong

    def forward(self, x):
        h = self.embed(x)
        if self.wrong == "no_grad":
            with torch.no_grad():
                h = self.embed(x)
        h, _ = self.rnn(h)
        score = self.score(torch.tanh(h)).masked_fill((x == 0)[..., None], -1e4)
        h = (score.softmax(1) * h).sum(1)
        return self.head(self.drop(h))


class Reverser(nn.Module):
    """A transformer that names each place; positions are fixed waves, held as a frozen embedding, as in the first paper."""

    def __init__(self, vocabulary=8, width=48, layers=2, length=10, dropout=0.0, wrong=""):
        super().__init__()
        t, i = torch.arange(length)[:, None], torch.arange(0, width, 2)[None]
        angle = t * torch.exp(-math.log(1e4) * i / width)
        waves = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)
        self.embed, self.place = nn.Embedding(vocabulary, width), nn.Embedding.from_pretrained(waves, freeze=True)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.bias, self.wrong = nn.Parameter(torch.zeros(vocabulary)), wrong
        nn.init.normal_(self.embed.weight, std=width**-0.5)

    def forward(self, x):
        h = self.layers(self.embed(x) * self.embed.embedding_dim**0.5 + self.place(torch.arange(x.shape[1])))
        f = h @ self.embed.weight.T + self.bias  # the embedding is the last layer as well
        return f.mT.softmax(1) if self.wrong == "softmax" else f.mT


class Friends(nn.Module):
    """A graph convolutional network with dropout."""

    def __init__(self, inputs=6, width=48, classes=3, dropout=0.5, wrong=""):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(inputs, width), nn.Linear(width, width), nn.Linear(width, width)])
        self.drop, self.head, self.wrong = nn.Dropout(dropout), nn.Linear(2 * width, classes), wrong

    def forward(self, x, adjacency):
        h = x
        for layer in self.layers[:-1] if self.wrong == "one short" else self.layers:
            h = F.relu(adjacency @ layer(h))
        h = torch.cat([h.mean(1), h.amax(1)], 1)
        return self.head(self.drop(torch.zeros_like(h) * h if self.wrong == "gate" else h))


class Flat(nn.Module):
    """Embeddings of categories beside numbers: what most people use for tables."""

    def __init__(self, numbers=7, width=96, sizes=(40, 6), dropout=0.1, norm=True, squeeze=False, wrong=""):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(k, min(16, (k + 1) // 2)) for k in sizes)
        total = numbers + sum(t.embedding_dim for t in self.tables)
        self.body = nn.Sequential(
            nn.Linear(total, width), *([nn.BatchNorm1d(width)] if norm else []), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1),
        )  # fmt: skip
        self.squeeze, self.wrong = squeeze, wrong

    def forward(self, category, number):
        if self.wrong == "categories":
            category = torch.zeros_like(category)
        parts = [table(category[:, i]) for i, table in enumerate(self.tables)]
        f = self.body(torch.cat([*parts, number], 1))
        return f[:, 0] if self.squeeze else f


class Points(nn.Module):
    """PointNet without its small networks: the same layers for each point, a maximum over points."""

    def __init__(self, classes=4, end=None, wrong=""):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(3, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU())
        self.head, self.end, self.wrong = (
            nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, classes)),
            end,
            wrong,
        )

    def forward(self, x):
        h = self.each(x)
        h = (
            h[:, 0]
            if self.wrong == "one point"
            else h.amax(0, keepdim=True).amax(1).expand(len(x), -1)
            if self.wrong == "all"
            else h.amax(1)
        )
        return self.head(h) if self.end is None else self.end(self.head(h))


class Denoiser(nn.Module):
    """A small U-Net that takes noise off pictures; it predicts the noise."""

    def __init__(self, width=12, wrong=""):
        super().__init__()
        w = width
        self.a, self.b = nn.Conv2d(1, w, 3, padding=1), nn.Conv2d(w, 2 * w, 3, 2, 1)
        self.c, self.d = nn.Conv2d(2 * w, 2 * w, 3, padding=1), nn.Conv2d(3 * w, w, 3, padding=1)
        self.n1, self.n2, self.end = nn.GroupNorm(4, 2 * w), nn.GroupNorm(4, w), nn.Conv2d(w, 1, 3, padding=1)
        self.wrong = wrong

    def forward(self, x):
        a = F.silu(self.a(x))
        b = F.silu(self.b(a))
        c = F.silu(self.n1(self.c(b.detach() if self.wrong == "detach" else b)))
        a = a.detach() if self.wrong == "detach" else a
        h = F.silu(self.n2(self.d(torch.cat([a, F.interpolate(c, scale_factor=2)], 1))))
        return x - self.end(h)


class Vae(nn.Module):
    """A variational autoencoder of pictures in [0, 1]: logits of pixels, means and logarithms of variances."""

    def __init__(self, code=16, wrong=""):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 2 * code))
        self.up = nn.Sequential(nn.Linear(code, 256), nn.ReLU(), nn.Linear(256, 784))
        self.wrong = wrong

    def forward(self, x):
        mean, log = self.down(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (log / 2).exp() if self.training else mean
        f = self.up(z)
        return torch.cat([f.sigmoid() if self.wrong == "sigmoid" else f, mean, log], 1)


class Twins(nn.Module):
    """The distance of two pictures in a code, for a contrastive loss."""

    def __init__(self, wrong=""):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 16, 5, 2, 2), nn.GroupNorm(4, 16), nn.GELU(), nn.Conv2d(16, 32, 3, 2, 1), nn.GELU(),
            nn.Flatten(), nn.Linear(32 * 49, 32),
        )  # fmt: skip
        self.wrong = wrong

    def forward(self, a, b):
        return F.pairwise_distance(self.tower(a), self.tower(a if self.wrong == "same" else b))


class Memory(nn.Module):
    """A plain tanh network over time with an orthogonal start."""

    def __init__(self, inputs=6, width=64, classes=6, scale=1.0):
        super().__init__()
        self.rnn, self.head = nn.RNN(inputs, width, batch_first=True), nn.Linear(width, classes)
        nn.init.orthogonal_(self.rnn.weight_hh_l0, scale)

    def forward(self, x):
        return self.head(self.rnn(x.mT)[0][:, -16:].mean(1))


def spots(out=1, norm=True, end=None, act=nn.SiLU):
    """Convolutions with group norm for a number or two about a gray picture of 32 x 32."""
    layers, a = [], 1
    for b in (16, 32, 32):
        layers += [nn.Conv2d(a, b, 3, 2, 1), *([nn.GroupNorm(4, b)] if norm else []), act()]
        a = b
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Linear(a * 16, 64), act(), nn.Linear(64, out), *([end] if end else [])
    )


def shallow(classes=6, width=24, dropout=0.0, wrong=""):
    """Depthwise separable convolutions with batch norm on pictures of 32 x 32 in color."""
    layers = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.Hardswish()]
    for _ in range(3):
        layers += [nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False), nn.BatchNorm2d(width), nn.Hardswish(),
                   nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width), nn.Hardswish()]  # fmt: skip
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(width, classes))


def dropped(sizes, rate=0.5, act=nn.ReLU):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:-1], strict=False):
        layers += [nn.Linear(a, b), act(), nn.Dropout(rate)]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))
