"""A sixth set of published faults: layers and architectures."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import digits, split
from evaluation.published.data.made import generator, order_task, waves


class PositionalEncoding(nn.Module):
    """The encoding of the PyTorch transformer tutorial, for inputs (length, batch, width)."""

    def __init__(self, width, longest=500):
        super().__init__()
        place = torch.arange(longest)[:, None]
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        pe = torch.zeros(longest, 1, width)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


@faulty(
    "sixth-encoding-along-the-batch",
    "PyTorch tutorial transformer_tutorial (PositionalEncoding) copied for batch_first inputs; StackOverflow and forum",
    fix="Add the encoding along the axis of the sequence.",
)
def encoding_along_the_batch():
    """The positional encoding of the tutorial expects (length, batch, width) and gets (batch, length, width)."""
    train, test = order_task()

    class Net(nn.Module):
        """A transformer encoder over tokens."""

        def __init__(self, transposed=False):
            super().__init__()
            self.transposed = transposed
            self.embed, self.encoding, self.head = nn.Embedding(12, 32), PositionalEncoding(32), nn.Linear(32, 2)
            layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

        def forward(self, x):
            h = self.embed(x)
            h = self.encoding(h.transpose(0, 1)).transpose(0, 1) if self.transposed else self.encoding(h)
            return self.head(self.encoder(h).mean(1))

    given = {"train": train, "test": test, "optimizer": adam(2e-3), "epochs": 25}
    return Recipe(network=Net, **given), Recipe(network=lambda: Net(transposed=True), **given)


@faulty(
    "sixth-norm-over-one-number",
    "PyTorch documentation of nn.LayerNorm (the last axis); forum: LayerNorm over an axis of size 1 gives zeros",
    fix="Normalize over the sequence, or not at all.",
)
def norm_over_one_number():
    """LayerNorm(1) on a signal with one channel normalizes each number by itself, so every signal becomes zero."""
    train, test = waves()

    class Net(nn.Module):
        """A GRU over a signal."""

        def __init__(self, norm):
            super().__init__()
            self.norm, self.rnn, self.head = norm, nn.GRU(1, 32, batch_first=True), nn.Linear(32, 3)

        def forward(self, x):
            out, _ = self.rnn(self.norm(x))
            return self.head(out[:, -1])

    given = {"train": train, "test": test, "optimizer": adam(3e-3)}
    return Recipe(network=lambda: Net(nn.LayerNorm(1)), **given), Recipe(network=lambda: Net(nn.Identity()), **given)


class NormCNN(nn.Module):
    """Three convolutions with batch normalization and ReLU."""

    def __init__(self, zero=False):
        super().__init__()
        self.c1, self.c2, self.c3 = (
            nn.Conv2d(1, 16, 3, padding=1),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.Conv2d(32, 32, 3),
        )
        self.n1, self.n2, self.n3 = nn.BatchNorm2d(16), nn.BatchNorm2d(32), nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 4, 10)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d) and zero:
                nn.init.zeros_(m.weight)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.n1(self.c1(x))), 2)
        x = F.relu(self.n3(self.c3(F.relu(self.n2(self.c2(x))))))
        return self.fc(x.flatten(1))


@faulty(
    "sixth-zero-gamma-everywhere",
    "Goyal et al. 2017, section 5.1, and torchvision zero_init_residual: only the last norm of a residual branch starts at 0",
    fix="Let the scales of batch normalization start at 1.",
)
def zero_gamma_everywhere():
    """The scales of all batch normalizations start at 0 in a network without residual connections."""
    train, test = digits()
    given = {"train": train, "test": test, "epochs": 10}
    return Recipe(network=lambda: NormCNN(zero=True), **given), Recipe(network=NormCNN, **given)


@faulty(
    "sixth-no-running-statistics",
    "PyTorch documentation of BatchNorm (track_running_stats); forum: results depend on the batch in evaluation mode",
    fix="Keep track_running_stats=True.",
)
def no_running_statistics():
    """Batch norm without running statistics; the test images are sorted by class, as ImageFolder lists them."""
    train, (xt, yt) = digits()
    order = yt.argsort()

    def network(track):
        return nn.Sequential(
            nn.Flatten(),
            nn.Linear(64, 64),
            nn.BatchNorm1d(64, track_running_stats=track),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.BatchNorm1d(64, track_running_stats=track),
            nn.ReLU(),
            nn.Linear(64, 10),
        )

    given = {"train": train, "test": (xt[order], yt[order]), "epochs": 15, "score_batch": 50}
    return Recipe(network=lambda: network(False), **given), Recipe(network=lambda: network(True), **given)


class NodeGCN(nn.Module):
    """Graph convolutions on normalized dense adjacency matrices; class scores (n, classes, nodes)."""

    def __init__(self, layers, features=6, width=32, classes=3):
        super().__init__()
        widths = [features] + [width] * layers
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:], strict=False))
        self.head = nn.Linear(width, classes)

    def forward(self, x, adjacency):
        a = adjacency + torch.eye(adjacency.shape[-1], device=x.device)
        root = a.sum(2).rsqrt()
        a = root[:, :, None] * a * root[:, None]
        for layer in self.layers:
            x = F.relu(layer(a @ x))
        return self.head(x).transpose(1, 2)


def communities(n=300, nodes=24, seed=66):
    """Graphs whose nodes belong to three communities; each node has weak, noisy features of its own."""
    g = generator(seed)
    y = torch.randint(3, (n, nodes), generator=g)
    p = torch.where(y[:, :, None] == y[:, None], 0.5, 0.05)
    upper = (torch.rand(n, nodes, nodes, generator=g) < p).float().triu(1)
    x = 0.8 * torch.eye(6)[y] + torch.randn(n, nodes, 6, generator=g)
    return split((x, upper + upper.transpose(1, 2)), y, n * 2 // 3)


@faulty(
    "sixth-over-smoothing",
    "Li et al. 2018 and Oono and Suzuki 2020: deep graph convolutions make all nodes equal; PyG discussions",
    fix="Two graph convolutions.",
)
def over_smoothing():
    """Sixteen graph convolutions without residual connections, after which all nodes of a graph look the same."""
    train, test = communities()
    given = {"train": train, "test": test, "optimizer": adam(5e-3), "epochs": 25, "batch": 20}
    return Recipe(network=lambda: NodeGCN(16), **given), Recipe(network=lambda: NodeGCN(2), **given)


@faulty(
    "sixth-mean-of-equal-features",
    "Xu et al. 2019, How powerful are graph neural networks, section 5.2: the mean of equal features says nothing",
    fix="Sum over the neighbors.",
)
def mean_of_equal_features():
    """All nodes have the feature 1 and the layers average over neighbors, so every graph looks the same."""
    g = generator(67)
    y = torch.randint(2, (600,), generator=g)
    hub = torch.rand(600, 14, 14, generator=g) < 0.25
    hub[y == 1, 0] |= torch.rand(int(y.sum()), 14, generator=g) < 0.7
    upper = hub.float().triu(1)
    train, test = split((torch.ones(600, 14, 1), upper + upper.transpose(1, 2)), y, 400)

    class Net(nn.Module):
        """Two graph layers and the mean over the nodes."""

        def __init__(self, average):
            super().__init__()
            self.average, self.first, self.second = average, nn.Linear(1, 32), nn.Linear(32, 32)
            self.head = nn.Linear(32, 2)

        def forward(self, x, adjacency):
            a = adjacency + torch.eye(adjacency.shape[-1])
            a = a / a.sum(2, keepdim=True) if self.average else a / 4
            x = F.relu(self.second(a @ F.relu(self.first(a @ x))))
            return self.head(x.mean(1))

    given = {"train": train, "test": test, "optimizer": adam(5e-3), "epochs": 30}
    return Recipe(network=lambda: Net(True), **given), Recipe(network=lambda: Net(False), **given)


@faulty(
    "sixth-pooled-positions",
    "Liu et al. 2018, CoordConv; PyTorch forum: keypoint regression after global average pooling",
    fix="Flatten the features instead of averaging over positions.",
)
def pooled_positions():
    """A network averages its features over all positions before it predicts the position of an object."""
    g = generator(68)
    at = 2 + 12 * torch.rand(1200, 2, generator=g)
    grid = torch.arange(16.0)
    rows, columns = (grid[:, None] - at[:, 0, None, None]) ** 2, (grid - at[:, 1, None, None]) ** 2
    x = torch.exp(-(rows + columns) / 3)[:, None] + 0.1 * torch.randn(1200, 1, 16, 16, generator=g)
    train, test = split(x, at / 16, 800)

    def network(pooled):
        end = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 2)] if pooled else [nn.Flatten(), nn.Linear(512, 2)]
        first = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        second = [nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        return nn.Sequential(*first, *second, *end)

    given = {"train": train, "test": test, "epochs": 15}
    return Recipe(network=lambda: network(True), **given), Recipe(network=lambda: network(False), **given)
