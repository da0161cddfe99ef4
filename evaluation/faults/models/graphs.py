"""Networks over graphs and sets of points."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class GCN(nn.Module):
    """Two graph convolutions and the mean over the nodes."""

    def __init__(self, inputs=8, width=64, classes=3, wrong=""):
        super().__init__()
        self.a, self.b, self.head = nn.Linear(inputs, width), nn.Linear(width, width), nn.Linear(width, classes)
        self.wrong = wrong

    def forward(self, x, adjacency):
        if self.wrong == "ignores edges":
            adjacency = torch.eye(x.shape[1]).expand_as(adjacency)
        h = F.relu(adjacency @ self.a(x))
        h = F.relu(adjacency @ self.b(h)).mean(1)
        f = self.head(h)
        return F.relu(f) if self.wrong == "relu" else f


class DropoutGCN(nn.Module):
    """Three graph convolutions, mean and maximum over the nodes, dropout."""

    def __init__(self, inputs=6, width=48, classes=3, dropout=0.5, wrong=""):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(inputs, width), nn.Linear(width, width), nn.Linear(width, width)])
        self.drop, self.head, self.wrong = nn.Dropout(dropout), nn.Linear(2 * width, classes), wrong

    def forward(self, x, adjacency):
        h = x
        for layer in self.layers[:-1] if self.wrong == "skips a layer" else self.layers:
            h = F.relu(adjacency @ layer(h))
        h = torch.cat([h.mean(1), h.amax(1)], 1)
        return self.head(self.drop(torch.zeros_like(h) * h if self.wrong == "times zero" else h))


class GIN(nn.Module):
    """Graph isomorphism network: sums over neighbors, a dense layer after each; predicts one number."""

    def __init__(self, kinds=4, width=48, layers=3, wrong=""):
        super().__init__()
        self.first, self.wrong = nn.Linear(kinds, width), wrong
        self.parts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()) for _ in range(layers)
        )
        self.head = nn.Linear(width, 1)

    def forward(self, nodes, adjacency):
        h = self.first(torch.ones_like(nodes) if self.wrong == "ignores kinds" else nodes)
        for part in self.parts:
            h = h + part(h + adjacency @ h)
        return self.head(h.mean(1)).squeeze(1)


class PointNet(nn.Module):
    """The same layers for each point, and the maximum over the points."""

    def __init__(self, classes=4, end=None, wrong=""):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(3, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, classes))
        self.end, self.wrong = end or nn.Identity(), wrong

    def forward(self, x):
        h = self.each(x)
        if self.wrong == "reads one point":
            h = h[:, 0]
        elif self.wrong == "maximum over batch":
            h = h.amax(0, keepdim=True).amax(1).expand(len(x), -1)
        else:
            h = h.amax(1)
        return self.end(self.head(h))
