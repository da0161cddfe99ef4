"""Dense networks for vectors and tables."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from evaluation.faults.data.tables import load_uci


def perceptron(sizes, act=nn.ReLU, end=None, norm=False):
    """Dense layers of these sizes; ``end`` is a module after the last layer."""
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:-1], strict=False):
        layers += [nn.Linear(a, b), *([nn.BatchNorm1d(b)] if norm else []), act()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]), *([] if end is None else [end]))


def dense_for_table(name, hidden=(128, 64), act=nn.ReLU, **options):
    """The function that builds a perceptron for a table of UCI."""

    def build():
        (x, y), (_, y_test) = load_uci(name)
        return perceptron((x.shape[1], *hidden, int(max(y.max(), y_test.max())) + 1), act, **options)

    return build


def dense_with_dropout(sizes, rate=0.5, act=nn.ReLU):
    """Dense layers with dropout after each hidden layer."""
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:-1], strict=False):
        layers += [nn.Linear(a, b), act(), nn.Dropout(rate)]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


def dense_with_weight_norm(inputs, outputs, width=96):
    """Three dense layers, of which two have weight normalization."""
    return nn.Sequential(weight_norm(nn.Linear(inputs, width)), nn.Tanh(), weight_norm(nn.Linear(width, width)), nn.Tanh(),
                         nn.Linear(width, outputs))  # fmt: skip


def selu_network(inputs, outputs, width=128, layers=3):
    """SELU with its own initialization and dropout (a self-normalizing network)."""
    parts, a = [], inputs
    for _ in range(layers):
        parts += [nn.Linear(a, width), nn.SELU(), nn.AlphaDropout(0.05)]
        nn.init.kaiming_normal_(parts[-3].weight, nonlinearity="linear")
        a = width
    return nn.Sequential(*parts, nn.Linear(a, outputs))


class ReZero(nn.Module):
    """A dense residual network whose branches start with factor zero."""

    def __init__(self, inputs, classes, width=64, layers=6):
        super().__init__()
        self.first, self.head = nn.Linear(inputs, width), nn.Linear(width, classes)
        self.parts = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(layers))
        self.factors = nn.Parameter(torch.zeros(layers))

    def forward(self, x):
        h = self.first(x)
        for part, factor in zip(self.parts, self.factors, strict=True):
            h = h + factor * part(h)
        return self.head(h)


class TableWithCategories(nn.Module):
    """Embeddings of two categories, next to seven numbers."""

    def __init__(self, numbers=7, width=96, sizes=(40, 6), dropout=0.1, norm=True, squeeze=False, wrong=""):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(k, min(16, (k + 1) // 2)) for k in sizes)
        total = numbers + sum(t.embedding_dim for t in self.embeddings)
        self.body = nn.Sequential(
            nn.Linear(total, width), *([nn.BatchNorm1d(width)] if norm else []), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1),
        )  # fmt: skip
        self.squeeze, self.wrong = squeeze, wrong

    def forward(self, category, number):
        if self.wrong == "ignores categories":
            category = torch.zeros_like(category)
        parts = [table(category[:, i]) for i, table in enumerate(self.embeddings)]
        f = self.body(torch.cat([*parts, number], 1))
        return f[:, 0] if self.squeeze else f


class Recommender(nn.Module):
    """Embeddings of users and items: their product, biases and a small network."""

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
