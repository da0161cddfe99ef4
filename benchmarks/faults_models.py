"""Networks and data of realistic size for `bench_faults.py`: each function builds one, from one seed."""

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

DATA = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"


def mnist(n=4000, m=1000, seed=0):
    with np.load(DATA / "mnist.npz") as file:
        x, y, xt, yt = (file[k] for k in ("x_train", "y_train", "x_test", "y_test"))
    rng = np.random.default_rng(seed)
    i, j = rng.permutation(len(x))[:n], rng.permutation(len(xt))[:m]

    def pixels(a):
        return (torch.from_numpy(a).float()[:, None] / 255 - 0.1307) / 0.3081

    return (pixels(x[i]), torch.from_numpy(y[i]).long()), (pixels(xt[j]), torch.from_numpy(yt[j]).long())


def flat(n=4000, m=1000, seed=0):
    train, test = mnist(n, m, seed)
    return (train[0].flatten(1), train[1]), (test[0].flatten(1), test[1])


def color(n=1500, m=500, seed=0):
    """MNIST digits on 32 x 32 pixels in random colors, with noise."""
    g = torch.Generator().manual_seed(seed)

    def paint(pair):
        x = F.pad(pair[0], (2, 2, 2, 2), value=float(pair[0].min()))
        tint = 0.5 + torch.rand(len(x), 3, 1, 1, generator=g)
        return x * tint + 0.3 * torch.randn(len(x), 3, 32, 32, generator=g), pair[1]

    return tuple(map(paint, mnist(n, m, seed)))


def rows(n=3000, m=1000, seed=0):
    """MNIST read row by row, for recurrent networks."""
    train, test = mnist(n, m, seed)
    return (train[0][:, 0, 5:25], train[1]), (test[0][:, 0, 5:25], test[1])  # without the empty rows


def tokens(n=3000, m=1000, length=24, vocabulary=200, seed=0):
    """Sequences of tokens of four topics: a third of the tokens come from the words of the topic."""
    g = torch.Generator().manual_seed(seed)
    words = torch.randint(4, vocabulary, (4, 20), generator=g)

    def draw(k):
        y = torch.randint(0, 4, (k,), generator=g)
        x = torch.randint(4, vocabulary, (k, length), generator=g)
        topical = words[y].gather(1, torch.randint(0, 20, (k, length), generator=g))
        return torch.where(torch.rand(k, length, generator=g) < 0.33, topical, x), y

    return draw(n), draw(m)


def graphs(n=2000, m=600, nodes=16, seed=0):
    """Graphs of three kinds, told by their degrees and clusters; features are noise and the degree."""
    g = torch.Generator().manual_seed(seed)

    def draw(k):
        y = torch.randint(0, 3, (k,), generator=g)
        p = torch.tensor([0.15, 0.3, 0.5])[y][:, None, None]
        a = (torch.rand(k, nodes, nodes, generator=g) < p).float().triu(1)
        a = a + a.mT
        x = torch.cat([a.sum(2, keepdim=True) / 5 - 1, torch.randn(k, nodes, 7, generator=g)], 2)
        d = (a.sum(2) + 1).rsqrt()
        return (x, (a + torch.eye(nodes)) * d[:, :, None] * d[:, None, :]), y

    return draw(n), draw(m)


def uci(name, seed=0):
    with np.load(DATA / "uci90.npz") as file:
        x, y = torch.from_numpy(file[f"{name}/x"]).float(), torch.from_numpy(file[f"{name}/y"]).long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    cut = len(x) * 3 // 4
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])


def diabetes(standardized=True, seed=0):
    from sklearn.datasets import load_diabetes

    x, y = (torch.from_numpy(a).float() for a in load_diabetes(return_X_y=True))
    if standardized:
        x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    return (x[order[:330]], y[order[:330]]), (x[order[330:]], y[order[330:]])


def wave(n=4000, m=1000, seed=0):
    """Tabular regression: a smooth function of eight standardized columns, with noise."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, 8, generator=g)
    y = x[:, 0].sin() + x[:, 1] * x[:, 2] / 2 + 0.3 * x[:, 3] + 0.1 * torch.randn(n + m, generator=g)
    y = (y - y.mean()) / y.std()
    return (x[:n], y[:n]), (x[n:], y[n:])


def pictures(n=3000, m=800, seed=0):
    """Inputs that are their own targets, for autoencoders."""
    train, test = flat(n, m, seed)
    return (train[0], train[0].clone()), (test[0], test[0].clone())


def cnn(norm=True, act=nn.ReLU, end=None, dropout=0.0):
    def block(a, b):
        middle = [nn.BatchNorm2d(b)] if norm else []
        return [nn.Conv2d(a, b, 3, padding=1), *middle, act(), nn.MaxPool2d(2)]

    layers = [*block(1, 16), *block(16, 32), nn.Flatten(), nn.Linear(32 * 49, 64), act(), nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(64, 10), *([] if end is None else [end]))


def perceptron(sizes, act=nn.ReLU, end=None, norm=False):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:-1], strict=False):
        layers += [nn.Linear(a, b), *([nn.BatchNorm1d(b)] if norm else []), act()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]), *([] if end is None else [end]))


class Residual(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.one, self.two = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.n1, self.n2 = nn.BatchNorm2d(b), nn.BatchNorm2d(b)
        same = stride == 1 and a == b
        self.way = nn.Identity() if same else nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))

    def forward(self, x):
        return F.relu(self.n2(self.two(F.relu(self.n1(self.one(x))))) + self.way(x))


class ResNet18(nn.Module):
    """Eleven million parameters at width 64."""

    def __init__(self, width=64, classes=10, wrong=""):
        super().__init__()
        w = width
        self.stem, self.norm = nn.Conv2d(3, w, 3, 1, 1, bias=False), nn.BatchNorm2d(w)
        plan = [(w, w, 1), (w, w, 1), (w, 2 * w, 2), (2 * w, 2 * w, 1), (2 * w, 4 * w, 2), (4 * w, 4 * w, 1),
                (4 * w, 8 * w, 2), (8 * w, 8 * w, 1)]  # fmt: skip
        self.blocks = nn.Sequential(*(Residual(*p) for p in plan))
        self.head, self.wrong = nn.Linear(8 * w, classes), wrong

    def forward(self, x):
        h = self.blocks(F.relu(self.norm(self.stem(x)))).mean((2, 3))
        if self.wrong == "detach":
            h = h.detach()
        f = self.head(h)
        return f.softmax(1) if self.wrong == "softmax" else f


class Recurrent(nn.Module):
    def __init__(self, inputs=28, hidden=96, classes=10, wrong="", batch_first=True):
        super().__init__()
        self.lstm, self.head = nn.LSTM(inputs, hidden, batch_first=batch_first), nn.Linear(hidden, classes)
        self.wrong = wrong

    def forward(self, x):
        h, _ = self.lstm(x)
        f = self.head(h[:, 0] if self.wrong == "first" else h[:, -1])
        return f.softmax(0) if self.wrong == "softmax-batch" else f.softmax(1) if self.wrong == "softmax" else f


class Transformer(nn.Module):
    """An encoder over tokens; ``patches`` reads images of 28 x 28 in rows of patches instead."""

    def __init__(self, vocabulary=200, width=64, layers=2, classes=4, length=24, patches=False, wrong=""):
        super().__init__()
        self.patches, self.wrong = patches, wrong
        self.embed = nn.Linear(49, width) if patches else nn.Embedding(vocabulary, width)
        self.place = nn.Parameter(0.02 * torch.randn(1, 16 if patches else length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=wrong != "axes")
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)
        self.extra = nn.Linear(width, width)

    def forward(self, x):
        if self.patches:
            x = F.unfold(x, 7, stride=7).mT
        h = self.embed(x) + self.place
        if self.wrong == "detach":
            h = h.detach()
        h = self.encoder(h)
        h = h[:, :1] if self.wrong == "none" else h
        if self.wrong != "unused":
            h = h + F.gelu(self.extra(h))
        h = h.mean(1)
        if self.wrong == "dropout":
            h = F.dropout(h, 0.5)
        f = self.head(h)
        return f.softmax(1) if self.wrong == "softmax" else f


class GCN(nn.Module):
    def __init__(self, inputs=8, width=64, classes=3, wrong=""):
        super().__init__()
        self.a, self.b, self.head = nn.Linear(inputs, width), nn.Linear(width, width), nn.Linear(width, classes)
        self.wrong = wrong

    def forward(self, x, adjacency):
        if self.wrong == "edges":
            adjacency = torch.eye(x.shape[1]).expand_as(adjacency)
        h = F.relu(adjacency @ self.a(x))
        h = F.relu(adjacency @ self.b(h)).mean(1)
        f = self.head(h)
        return F.relu(f) if self.wrong == "relu" else f


class Autoencoder(nn.Module):
    def __init__(self, end=None, wrong=""):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 32))
        self.up = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 784), *([] if end is None else [end]))
        self.wrong = wrong

    def forward(self, x):
        code = self.down(x)
        return self.up(code.detach() if self.wrong == "detach" else code)
