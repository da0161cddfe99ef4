"""Healthy networks and data of realistic size, for the benchmarks of budgets, ranking and watching."""

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

DATA = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"


class Residual(nn.Module):
    """A convolution, or two, beside an identity."""

    def __init__(self, a: int, b: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(),
            nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b),
        )  # fmt: skip
        same = stride == 1 and a == b
        self.skip = nn.Identity() if same else nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def resnet18(width=64, channels=3, classes=10):
    """The usual one for small images: 11 million parameters at width 64."""
    sizes = [(width, 1), (width, 1), (2 * width, 2), (2 * width, 1), (4 * width, 2), (4 * width, 1), (8 * width, 2),
             (8 * width, 1)]  # fmt: skip
    blocks, last = [], width
    for size, stride in sizes:
        blocks.append(Residual(last, size, stride))
        last = size
    stem = [nn.Conv2d(channels, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, classes))


class PlainResidual(nn.Module):
    """A block without normalization, as many people write it."""

    def __init__(self, c: int) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return torch.relu(x + self.b(torch.relu(self.a(x))))


def residual_cnn():
    c = 32
    blocks = [PlainResidual(c), nn.MaxPool2d(2), PlainResidual(c), nn.MaxPool2d(2), PlainResidual(c)]
    return nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(c, 10))  # fmt: skip


def batch_norm_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
    )  # fmt: skip


class Recurrent(nn.Module):
    def __init__(self, inputs=28, hidden=64, classes=10) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(inputs, hidden, batch_first=True), nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Transformer(nn.Module):
    def __init__(self, tokens=32, width=64, classes=4, length=24) -> None:
        super().__init__()
        self.embedding, self.places = nn.Embedding(tokens, width), nn.Parameter(torch.randn(length, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True, dropout=0.1)
        self.layers, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.layers(self.embedding(x) + self.places).mean(1))


def perceptron(inputs, outputs, width=128, depth=2):
    sizes = [inputs, *[width] * depth]
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(width, outputs))


def autoencoder():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 256), nn.ReLU(),
                         nn.Linear(256, 784))  # fmt: skip


def mnist(n=4000, m=1000):
    """Images (n, 1, 28, 28), standardized, and their digits; training and test."""
    with np.load(DATA / "mnist.npz") as file:
        names = ("x_train", "y_train", "x_test", "y_test")
        x, y, x_test, y_test = (torch.from_numpy(np.asarray(file[name])) for name in names)

    def images(t):
        return (t.reshape(-1, 1, 28, 28).float() / (255 if t.max() > 2 else 1) - 0.13) / 0.31

    return (images(x[:n]), y[:n].long()), (images(x_test[:m]), y_test[:m].long())


def colored(n=2000, m=500):
    """MNIST on colored ground in 32 x 32 x 3."""

    def made(pair, seed):
        g = torch.Generator().manual_seed(seed)
        x = nn.functional.pad(pair[0], (2, 2, 2, 2), value=float(pair[0].min()))
        return x * torch.rand(len(x), 3, 1, 1, generator=g).add(0.5), pair[1]

    train, test = mnist(n, m)
    return made(train, 0), made(test, 1)


def sequences(n=3000, seed=0):
    """Tokens, and which of four of them occurs most often."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 32, (n, 24), generator=g)
    extra = torch.randint(0, 4, (n,), generator=g)
    where = torch.rand(n, 24, generator=g) < 0.3
    x = torch.where(where, extra[:, None], x)
    counts = torch.stack([(x == c).sum(1) for c in range(4)], 1)
    return x, counts.argmax(1)


def california(n=4000, seed=0):
    """A regression like the usual one of house prices: eight features, smooth, with noise."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    y = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + torch.sin(2 * x[:, 3]) + 0.3 * torch.randn(n, generator=g)
    return x, ((y - y.mean()) / y.std())[:, None]


def split(pair, part=0.8):
    cut = int(part * len(pair[1]))
    return (pair[0][:cut], pair[1][:cut]), (pair[0][cut:], pair[1][cut:])


def rows(pair):
    return pair[0].reshape(len(pair[0]), 28, 28), pair[1]


def flat(pair):
    return pair[0].flatten(1), pair[1]


def diabetes(standardized=True):
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)[:, None]
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = x[order], y[order]
    return split(((x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()) if standardized else (x, y))


def itself(pair):
    x = pair[0].flatten(1)
    return x, x


HEALTHY = {
    "residual CNN, MNIST": (residual_cnn, mnist),
    "CNN with batch norm, MNIST": (batch_norm_cnn, mnist),
    "ResNet-18, 32x32x3": (resnet18, colored),
    "LSTM, MNIST rows": (Recurrent, lambda: tuple(map(rows, mnist()))),
    "transformer, tokens": (Transformer, lambda: split(sequences())),
    "MLP of 10 million": (lambda: perceptron(784, 10, 2800, 2), lambda: tuple(map(flat, mnist()))),
    "autoencoder, MNIST": (autoencoder, lambda: tuple(map(itself, mnist()))),
    "MLP, diabetes": (lambda: perceptron(10, 1, 64), diabetes),
    "MLP, prices": (lambda: perceptron(8, 1, 64), lambda: split(california())),
}
"""A function that builds the network, and one that gives training and test data."""
SIZES = {
    "MLP of a thousand, prices": (lambda: perceptron(8, 1, 27), lambda: split(california())),
    **{name: HEALTHY[name] for name in (
        "residual CNN, MNIST", "CNN with batch norm, MNIST", "LSTM, MNIST rows", "transformer, tokens",
        "autoencoder, MNIST", "MLP of 10 million", "ResNet-18, 32x32x3",
    )},
    "MLP of 50 million": (lambda: perceptron(784, 10, 6700, 2), lambda: tuple(map(flat, mnist()))),
}  # fmt: skip
"""From one thousand to fifty million parameters."""
