"""Networks for `faults_unseen.py`; ``wrong`` names what is wrong with one, nothing by default."""

import random

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.parametrizations import spectral_norm, weight_norm


def vgg(width=16, classes=5, norm=True, end=None, dropout=0.3):
    """Six convolutions with batch norm in three stages, and two dense layers."""
    layers, a = [], 3
    for b in (width, 2 * width, 4 * width):
        for _ in range(2):
            layers += [nn.Conv2d(a, b, 3, padding=1), *([nn.BatchNorm2d(b)] if norm else []), nn.ReLU(inplace=True)]
            a = b
        layers.append(nn.MaxPool2d(2))
    head = [nn.Flatten(), nn.Linear(a * 16, 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, classes)]
    return nn.Sequential(*layers, *head, *([] if end is None else [end]))


class Mobile(nn.Module):
    """Depthwise and pointwise convolutions, with residual ways of inverted bottlenecks."""

    def __init__(self, classes=5, wrong=""):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        blocks = [self.block(16, 1), self.block(16, 1), self.block(16, 2), self.block(32, 1)]
        self.blocks = blocks if wrong == "list" else nn.ModuleList(blocks)
        self.head, self.wrong = nn.Linear(32, classes), wrong
        if wrong == "frozen":
            for part in self.modules():
                if isinstance(part, nn.Conv2d):
                    nn.init.kaiming_normal_(part.weight)
                    part.requires_grad_(False)

    @staticmethod
    def block(a, stride):
        b, wide = a * stride, 4 * a
        return nn.Sequential(
            nn.Conv2d(a, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, b, 1, bias=False), nn.BatchNorm2d(b),
        )  # fmt: skip

    def forward(self, x):
        h = self.stem(x)
        if self.wrong == "no_grad":
            with torch.no_grad():
                h = self.stem(x)
        for block in self.blocks:
            out = block(h)
            h = h + out if out.shape == h.shape else out
        return self.head(h.mean((2, 3)))


class Block(nn.Module):
    """A residual block; ``zero`` starts it as nothing, as is usual for long training."""

    def __init__(self, a, b, stride, norm, zero):
        super().__init__()
        self.one, self.two = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.n1, self.n2 = norm(b), norm(b)
        self.way = nn.Conv2d(a, b, 1, stride, bias=False) if stride > 1 or a != b else nn.Identity()
        if zero:
            nn.init.zeros_(self.n2.weight)

    def forward(self, x):
        return F.relu(self.n2(self.two(F.relu(self.n1(self.one(x))))) + self.way(x))


class ResNet(nn.Module):
    """ResNet-18 for images of 32 x 32."""

    def __init__(self, width=16, classes=5, norm=nn.BatchNorm2d, zero=False, wrong=""):
        super().__init__()
        w = width
        plan = [(w, w, 1), (w, w, 1), (w, 2 * w, 2), (2 * w, 2 * w, 1), (2 * w, 4 * w, 2), (4 * w, 4 * w, 1),
                (4 * w, 8 * w, 2), (8 * w, 8 * w, 1)]  # fmt: skip
        self.stem, self.norm = nn.Conv2d(3, w, 3, 1, 1, bias=False), norm(w)
        self.blocks = nn.Sequential(*(Block(*p, norm, zero) for p in plan))
        self.head, self.wrong = nn.Linear(8 * w, classes), wrong

    def forward(self, x):
        h = F.relu(self.norm(self.stem(x[:, :1].expand_as(x) if self.wrong == "one channel" else x)))
        for i, block in enumerate(self.blocks):
            h = block(h).data if self.wrong == "data" and i == 4 else block(h)
            h = h if self.wrong != "skipped" or i != 2 else block.way(h)
        h = h.mean((2, 3))
        if self.wrong == "batch":
            h = (h - h.mean(0)) / (h.std(0) + 1e-3)
        return self.head(h)


class Segmenter(nn.Module):
    """A U-Net of two levels: one number for each pixel and kind."""

    def __init__(self, kinds=1, width=12, wrong=""):
        super().__init__()

        def double(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(),
                                 nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())  # fmt: skip

        self.a, self.b, self.c = double(1, width), double(width, 2 * width), double(2 * width, 4 * width)
        self.up1, self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.d, self.e = double(4 * width, 2 * width), double(2 * width, width)
        self.end, self.wrong = nn.Conv2d(width, kinds, 1), wrong

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        h = self.d(torch.cat([b, self.up1(c)], 1))
        f = self.end(self.e(torch.cat([a, self.up2(h)], 1)))
        return f.sigmoid() if self.wrong == "sigmoid" else f


class Temporal(nn.Module):
    """Dilated convolutions over series."""

    def __init__(self, channels=2, width=24, classes=3, wrong=""):
        super().__init__()
        sizes = [channels, *[width] * 4]
        pairs = zip(sizes[:-1], sizes[1:], strict=True)
        self.convs = nn.ModuleList(nn.Conv1d(a, b, 3, padding=2**i, dilation=2**i) for i, (a, b) in enumerate(pairs))
        self.norms = nn.ModuleList(nn.GroupNorm(4, width) for _ in self.convs)
        self.head, self.wrong, self.calls = nn.Linear(width, classes), wrong, 0

    def forward(self, x):
        self.calls += 1
        if self.wrong == "noise":
            x = x + 0.3 * torch.randn_like(x)
        if self.wrong == "calls":
            x = x * (1 + 0.05 * (self.calls % 7))
        if self.wrong == "random":
            x = x.roll(random.randint(0, 9), -1)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            out = F.gelu(norm(conv(x)))
            x = x + out if x.shape == out.shape else out
        return self.head(x.amax(2))


class Forecaster(nn.Module):
    """A GRU that reads a window and predicts some values ahead."""

    def __init__(self, kind=nn.GRU, ahead=8, width=48, wrong=""):
        super().__init__()
        self.rnn = kind(1, width, batch_first=wrong != "axes", num_layers=2)
        self.head, self.wrong = nn.Linear(width, ahead), wrong
        if wrong == "frozen":
            self.rnn.requires_grad_(False)

    def forward(self, x):
        x = torch.zeros_like(x) if self.wrong == "zeros" else x
        h, _ = self.rnn(x.reshape(-1, len(x), 1).transpose(0, 1) if self.wrong == "view" else x)
        f = self.head(h[:, -1])
        return F.dropout(f, 0.3) if self.wrong == "dropout" else f


class Language(nn.Module):
    """A causal transformer: for each word numbers for the next one; input and output share their embedding."""

    def __init__(self, vocabulary=60, width=64, layers=2, length=32, tied=True, dropout=0.1, wrong=""):
        super().__init__()
        self.embed, self.place = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        nn.init.normal_(self.embed.weight, std=0.02)
        nn.init.normal_(self.place.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm, self.head, self.wrong = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False), wrong
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, x):
        t = x.shape[1]
        mask = None if self.wrong == "future" else torch.full((t, t), -torch.inf).triu(1)
        h = self.embed(x) + self.place(torch.arange(t))
        f = self.head(self.norm(self.layers(h, mask=mask)))
        return f.softmax(-1) if self.wrong == "softmax" else f


class Speaker(nn.Module):
    """An LSTM over words, for the next one."""

    def __init__(self, vocabulary=60, width=64):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocabulary, width), nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


class Encoder(nn.Module):
    """A transformer over padded words, with the first position as the summary; ids and their mask by name."""

    def __init__(self, vocabulary=500, width=64, layers=3, classes=3, length=40, dropout=0.1, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.place, self.cls = (nn.Parameter(0.02 * torch.randn(1, k, width)) for k in (length, 1))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head, self.pooler, self.wrong = nn.Linear(width, classes), nn.Linear(width, width), wrong

    def forward(self, input_ids, attention_mask):
        h = self.embed(input_ids) + self.place
        h = torch.cat([self.cls.expand(len(h), -1, -1), h], 1)
        hidden = F.pad(attention_mask == 0, (1, 0), value=False)
        h = self.layers(h, src_key_padding_mask=hidden)
        h = self.cls[:, 0].expand(len(h), -1) if self.wrong == "cls" else h[:, 0]
        if self.wrong != "pooler":
            h = torch.tanh(self.pooler(h.detach() if self.wrong == "detach" else h))
        return self.head(h)


class Reader(nn.Module):
    """A bidirectional LSTM over words with the mean of its states, without the padding."""

    def __init__(self, vocabulary=500, width=48, classes=3, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.rnn = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.drop, self.head, self.wrong = nn.Dropout(0.3), nn.Linear(2 * width, classes), wrong

    def forward(self, x):
        keep = (x > 0).float()[:, :, None]
        h = (self.rnn(self.embed(x))[0] * keep).sum(1) / keep.sum(1)
        f = self.head(self.drop(h))
        return f.exp() / f.exp().sum(1, keepdim=True) if self.wrong == "by hand" else f


class Isomorphism(nn.Module):
    """Sums over neighbors with a dense layer after each (GIN), for one number of a graph."""

    def __init__(self, kinds=4, width=48, layers=3, wrong=""):
        super().__init__()
        self.first, self.wrong = nn.Linear(kinds, width), wrong
        self.parts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()) for _ in range(layers)
        )
        self.head = nn.Linear(width, 1)

    def forward(self, nodes, adjacency):
        h = self.first(torch.ones_like(nodes) if self.wrong == "kinds" else nodes)
        for part in self.parts:
            h = h + part(h + adjacency @ h)
        return self.head(h.mean(1)).squeeze(1)


class Siamese(nn.Module):
    """One tower for two images; two numbers: different or the same."""

    def __init__(self, wrong=""):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 12, 5, 2, 2),
            nn.ReLU(),
            nn.Conv2d(12, 24, 3, 2, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(24 * 49, 48),
        )
        self.head, self.wrong = nn.Sequential(nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 2)), wrong

    def forward(self, left, right):
        a, b = self.tower(left), self.tower(left if self.wrong == "left" else right)
        return self.head(torch.cat([(a - b).abs(), a * b], 1))


class Variational(nn.Module):
    """A variational autoencoder that returns the picture, the means and the logarithms of the variances side by side."""

    def __init__(self, code=12, wrong=""):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(784, 200), nn.SiLU(), nn.Linear(200, 2 * code))
        self.up = nn.Sequential(nn.Linear(code, 200), nn.SiLU(), nn.Linear(200, 784))
        self.wrong = wrong

    def forward(self, x):
        mean, log = self.down(x).chunk(2, 1)
        drawn = self.training or self.wrong == "drawn"
        z = mean + torch.randn_like(mean) * (log / 2).exp() if drawn else mean
        return torch.cat([self.up(z), mean, log], 1)


def evidence(f, x):
    """The loss of a variational autoencoder, a mean over examples."""
    picture, mean, log = f[:, :784], *f[:, 784:].chunk(2, 1)
    return (picture - x).square().sum(1).mean() / 784 + 1e-3 * (mean.square() + log.exp() - 1 - log).sum(1).mean()


def coder(code=24, end=None):
    """A convolutional autoencoder with batch norm; pictures in and out are (1, 28, 28)."""
    return nn.Sequential(
        nn.Conv2d(1, 12, 4, 2, 1), nn.BatchNorm2d(12), nn.LeakyReLU(0.2), nn.Conv2d(12, 24, 4, 2, 1), nn.BatchNorm2d(24),
        nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(24 * 49, code), nn.Linear(code, 24 * 49), nn.Unflatten(1, (24, 7, 7)),
        nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.BatchNorm2d(12), nn.ReLU(), nn.ConvTranspose2d(12, 1, 4, 2, 1),
        *([] if end is None else [end]),
    )  # fmt: skip


class Tastes(nn.Module):
    """Embeddings of users and items, their product, biases and a small network (a recommender)."""

    def __init__(self, users=400, items=300, width=16):
        super().__init__()
        self.user, self.item = nn.Embedding(users, width), nn.Embedding(items, width)
        self.bias = nn.Embedding(users, 1)
        for part in (self.user, self.item, self.bias):
            nn.init.normal_(part.weight, std=0.1)
        self.deep = nn.Sequential(nn.Linear(2 * width, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, user, item):
        a, b = self.user(user), self.item(item)
        return (a * b).sum(1, keepdim=True) + self.bias(user) + self.deep(torch.cat([a, b], 1))


class Inside(nn.Module):
    """A network for images that scales its input itself."""

    def __init__(self, build):
        super().__init__()
        self.net = build()

    def forward(self, x):
        return self.net((x.float() / 255 - 0.1307) / 0.3081)


class Scaled(nn.Module):
    """A dense residual network whose branches begin at zero (ReZero)."""

    def __init__(self, inputs, classes, width=64, layers=6):
        super().__init__()
        self.first, self.head = nn.Linear(inputs, width), nn.Linear(width, classes)
        self.parts = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(layers))
        self.size = nn.Parameter(torch.zeros(layers))

    def forward(self, x):
        h = self.first(x)
        for part, size in zip(self.parts, self.size, strict=True):
            h = h + size * part(h)
        return self.head(h)


def weighted(inputs, outputs, width=96):
    return nn.Sequential(weight_norm(nn.Linear(inputs, width)), nn.Tanh(), weight_norm(nn.Linear(width, width)), nn.Tanh(),
                         nn.Linear(width, outputs))  # fmt: skip


def bounded(classes=10):
    return nn.Sequential(
        spectral_norm(nn.Conv2d(1, 16, 4, 2, 1)), nn.LeakyReLU(0.2), spectral_norm(nn.Conv2d(16, 32, 4, 2, 1)),
        nn.LeakyReLU(0.2), nn.Flatten(), spectral_norm(nn.Linear(32 * 49, classes)),
    )  # fmt: skip


def normalizing(inputs, outputs, width=128, layers=3):
    """SELU with its own initialization and dropout."""
    made, a = [], inputs
    for _ in range(layers):
        made += [nn.Linear(a, width), nn.SELU(), nn.AlphaDropout(0.05)]
        nn.init.kaiming_normal_(made[-3].weight, nonlinearity="linear")
        a = width
    return nn.Sequential(*made, nn.Linear(a, outputs))
