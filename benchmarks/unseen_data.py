"""Data for `faults_unseen.py`: images of shapes, series, words, graphs, pairs, ratings; each function draws from one seed."""

from functools import partial

import numpy as np
import torch
from faults_models import DATA, mnist
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, Dataset, IterableDataset


def halves(x, y, n):
    """The first n examples for training, the others for the test; x is a tensor, a tuple or a dict."""

    def part(of):
        if isinstance(x, dict):
            return {k: v[of] for k, v in x.items()}, y[of]
        return (tuple(t[of] for t in x) if isinstance(x, tuple) else x[of]), y[of]

    return part(slice(0, n)), part(slice(n, None))


def shapes(n=2000, m=600, seed=0, side=32):
    """Disks, squares, crosses, rings and stripes of random color, size and place on a noisy ground of another color."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 5, (k,), generator=g)
    grid = torch.arange(side).float()
    cx, cy = (side * (0.3 + 0.4 * torch.rand(k, 1, 1, generator=g)) for _ in range(2))
    r = side * (0.14 + 0.14 * torch.rand(k, 1, 1, generator=g))
    dx, dy = (grid[None, None, :] - cx).abs(), (grid[None, :, None] - cy).abs()
    far, out = (dx.square() + dy.square()).sqrt(), torch.maximum(dx, dy)
    masks = torch.stack([far < r, out < r, (torch.minimum(dx, dy) < r / 3) & (out < r), (far < r) & (far > r / 2),
                         (out < r) & (((dy / 2).long() % 2) == 0).expand_as(far)], 1)  # fmt: skip
    mask = masks[torch.arange(k), y][:, None].float()
    ink, ground = torch.rand(k, 3, 1, 1, generator=g), torch.rand(k, 3, 1, 1, generator=g)
    ink = torch.where((ink - ground).abs().sum(1, keepdim=True) < 0.6, 1 - ground.round(), ink)
    x = mask * ink + (1 - mask) * ground + 0.1 * torch.randn(k, 3, side, side, generator=g)
    return halves((x - 0.5) / 0.3, y, n)


def masks(n=800, m=200, seed=0, kinds=False):
    """Noisy gray images with a disk or a square, and where it is: (n, 1, 24, 24) of zeros and ones, or kinds of pixel."""
    g = torch.Generator().manual_seed(seed)
    k, side = n + m, 24
    grid = torch.arange(side).float()
    cx, cy = (7 + 10 * torch.rand(k, 1, 1, generator=g) for _ in range(2))
    r, square = 3 + 3 * torch.rand(k, 1, 1, generator=g), torch.rand(k, 1, 1, generator=g) < 0.5
    dx, dy = (grid[None, None, :] - cx).abs(), (grid[None, :, None] - cy).abs()
    inside = torch.where(square, torch.maximum(dx, dy) < r, (dx.square() + dy.square()).sqrt() < r)
    x = inside[:, None].float() * 1.5 - 0.5 + 0.7 * torch.randn(k, 1, side, side, generator=g)
    return halves(x, (inside * (1 + square.long())) if kinds else inside[:, None].float(), n)


def beats(n=2400, m=600, seed=0, length=96):
    """Series with beats at a random pace: steady, with one missing, or with one that is too wide; two channels."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 3, (k,), generator=g)
    t = torch.arange(length).float()
    pace, start = 14 + 6 * torch.rand(k, generator=g), 8 * torch.rand(k, generator=g)
    which = torch.randint(1, 4, (k,), generator=g)
    x = torch.zeros(k, 2, length)
    for beat in range(7):
        center, hit = start + beat * pace, which == beat
        width = torch.where(hit & (y == 2), 4.0, 1.2)[:, None]
        height = torch.where(hit & (y == 1), 0.0, 1.0)[:, None]
        bump = height * torch.exp(-0.5 * ((t - center[:, None]) / width).square())
        x[:, 0] += bump
        x[:, 1] -= 0.5 * bump.roll(3, 1)
    x = x + 0.15 * torch.randn(x.shape, generator=g)
    return halves((x - x.mean()) / x.std(), y, n)


def seasons(n=2500, m=600, seed=0, past=48, ahead=8):
    """Windows (48, 1) of a noisy seasonal series with a drifting level, and the next 8 values."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    t = torch.arange(past + ahead).float()
    phase, pace = 6.28 * torch.rand(k, 1, generator=g), 0.3 + 0.4 * torch.rand(k, 1, generator=g)
    z = torch.sin(pace * t + phase) + 0.5 * torch.randn(k, 1, generator=g) + 0.15 * torch.randn(k, len(t), generator=g)
    return halves(z[:, :past, None], z[:, past:], n)


def chain(n=1500, m=300, seed=0, length=32, vocabulary=60):
    """Sentences of a random language, where each word has five likely successors, and the next words."""
    g = torch.Generator().manual_seed(seed)
    follow = torch.randint(0, vocabulary, (vocabulary, 5), generator=g)
    words = torch.zeros(n + m, length + 1, dtype=torch.long)
    words[:, 0] = torch.randint(0, vocabulary, (n + m,), generator=g)
    for t in range(length):
        likely = follow[words[:, t], torch.randint(0, 5, (n + m,), generator=g)]
        chance = torch.randint(0, vocabulary, (n + m,), generator=g)
        words[:, t + 1] = torch.where(torch.rand(n + m, generator=g) < 0.1, chance, likely)
    return halves(words[:, :-1], words[:, 1:], n)


def reviews(n=2400, m=600, seed=0, length=40, vocabulary=500, named=False):
    """Token strings of random length, padded with 0: three opinions, told by words that a "not" before them turns."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 3, (k,), generator=g)
    x = torch.randint(30, vocabulary, (k, length), generator=g)
    size = torch.randint(12, length + 1, (k, 1), generator=g)
    for _ in range(4):
        at = (torch.rand(k, generator=g) * (size[:, 0] - 2)).long()
        turned = torch.rand(k, generator=g) < 0.3
        good = torch.where(turned, 2 - y, y)
        x[torch.arange(k), at + 1] = 3 + 8 * good + torch.randint(0, 8, (k,), generator=g)
        x[torch.arange(k), at] = torch.where(turned & (y != 1), torch.ones(k).long(), x[torch.arange(k), at])
    keep = torch.arange(length) < size
    x = torch.where(keep, x, 0)
    return halves({"input_ids": x, "attention_mask": keep.long()} if named else x, y, n)


def molecules(n=1800, m=500, seed=0, nodes=14):
    """Graphs with kinds of nodes, and a number: triangles and pairs of equal neighbors; standardized."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    a = (torch.rand(k, nodes, nodes, generator=g) < 0.25).float().triu(1)
    a = a + a.mT
    kind = F.one_hot(torch.randint(0, 4, (k, nodes), generator=g), 4).float()
    triangles = torch.einsum("nij,njk,nki->n", a, a, a) / 6
    alike = torch.einsum("nij,nic,njc->n", a, kind, kind) / 2
    y = triangles + 2 * alike
    return halves({"nodes": kind, "adjacency": a}, (y - y.mean()) / y.std(), n)


def pairs(n=2500, m=600, seed=0):
    """Two digits each, and whether they are the same one."""
    (x, y), (xt, yt) = mnist(2 * n, 2 * m, seed)

    def pair(x, y, k):
        g = torch.Generator().manual_seed(seed)
        same = torch.rand(k, generator=g) < 0.5
        order = y.argsort(stable=True)
        place = torch.empty_like(order)
        place[order] = torch.arange(len(order))
        beside = order[(place[:k] + torch.randint(1, 20, (k,), generator=g)).clamp(max=len(y) - 1)]
        other = torch.where(same, beside, torch.randint(0, len(y), (k,), generator=g))
        return {"left": x[:k], "right": x[other]}, (y[:k] == y[other]).long()

    return pair(x, y, n), pair(xt, yt, m)


def couples(n=2000, m=500, seed=0):
    """Two digits side by side, and which digits are there: ten labels that are 0 or 1."""

    def join(x, y):
        k = len(x) // 2
        labels = F.one_hot(y[:k], 10) | F.one_hot(y[k : 2 * k], 10)
        return torch.cat([x[:k], x[k : 2 * k]], 3), labels.float()

    train, test = mnist(2 * n, 2 * m, seed)
    return join(*train), join(*test)


def arm(n=2500, m=600, seed=0, scale=(1.0, 1.0, 1.0)):
    """Angles of a robot's arm, and where its hand is: three numbers."""
    g = torch.Generator().manual_seed(seed)
    q = 1.5 * torch.randn(n + m, 4, generator=g)
    a, b, c, d = q.T
    y = torch.stack([a.cos() + (a + b).cos(), a.sin() + (a + b).sin(), c.sin() * d.cos()], 1)
    y = y + 0.05 * torch.randn(y.shape, generator=g)
    return halves(q, y * torch.tensor(scale), n)


def friedman(n=2000, m=500, seed=0, kind=1):
    """Friedman's functions of five of ten columns, with noise; standardized."""
    from sklearn.datasets import make_friedman1, make_friedman2

    make = make_friedman1 if kind == 1 else make_friedman2
    x, y = (torch.from_numpy(a).float() for a in make(n + m, noise=1.0, random_state=seed))
    if kind == 1:
        x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    return halves(x, y, n)


def counts(n=2500, m=600, seed=0):
    """How many calls come in, of six columns: Poisson numbers with a mean of about two."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, 6, generator=g)
    rate = (0.5 + 0.5 * x[:, 0] - 0.4 * x[:, 1] * (x[:, 2] > 0)).exp()
    return halves(x, torch.poisson(rate, generator=g), n)


def ratings(n=6000, m=1500, seed=0, users=400, items=300):
    """Who rates what how: ids of users and items, numbers of a product of hidden tastes; standardized."""
    g = torch.Generator().manual_seed(seed)
    u, v = (0.9 * torch.randn(k, 3, generator=g) for k in (users, items))
    i, j = (torch.randint(0, k, (n + m,), generator=g) for k in (users, items))
    y = (u[i] * v[j]).sum(1) + 0.8 * u[i, 0] + 0.3 * torch.randn(n + m, generator=g)
    return halves({"user": i, "item": j}, (y - y.mean()) / y.std(), n)


def tfidf(n=1500, m=400, seed=0, words=800):
    """Bags of words with weights: most are 0, rare words are rare; four subjects."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n + m,), generator=g)
    common = 1 / (3 + torch.arange(words).float())
    topic = common * (torch.rand(4, words, generator=g) < 0.15) * 6 + common
    drawn = torch.multinomial(topic[y], 60, replacement=True, generator=g)
    tf = torch.zeros(n + m, words).scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float))
    x = tf * torch.log((n + m) / (1 + (tf > 0).sum(0)))
    return halves(x / x.norm(dim=1, keepdim=True) * 28, y, n)


def uci_table(name, seed=0, n=None):
    """A table of UCI, at most n rows, three quarters of them for training."""
    with np.load(DATA / "uci90.npz") as file:
        x, y = torch.from_numpy(file[f"{name}/x"]).float(), torch.from_numpy(file[f"{name}/y"]).long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))[:n]
    return halves(x[order], y[order], len(order) * 3 // 4)


def levels(n=2400, m=600, seed=0):
    """Four columns of three categories each, one-hot: of 81 rows there are many copies; their labels are drawn, some
    rows having one almost always and others two about as often."""
    g = torch.Generator().manual_seed(seed)
    c = torch.randint(0, 3, (n + m, 4), generator=g)
    score = torch.stack([c[:, 0] + c[:, 1], 2.0 * c[:, 2] + 0.5 * c[:, 1], 4.0 - c[:, 0] - 0.5 * c[:, 3]], 1)
    y = torch.multinomial((1.5 * score).softmax(1), 1, generator=g)[:, 0]
    return halves(F.one_hot(c, 3).flatten(1).float(), y, n)


def bytes_of(n=3000, m=800, seed=0):
    """MNIST as it is stored: 0 to 255."""
    return tuple((255 * (x * 0.3081 + 0.1307), y) for x, y in mnist(n, m, seed))


class Jittered(Dataset):
    """Images that are mirrored and shifted at random whenever they are read."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        x = self.x[i].flip(-1) if torch.rand(()) < 0.5 else self.x[i]
        return x.roll(int(torch.randint(-2, 3, ())), 1), int(self.y[i])


class Streamed(IterableDataset):
    """Examples that come one after the other."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y

    def __iter__(self):
        return zip(self.x, self.y, strict=True)


def jittered(train, test):
    return DataLoader(Jittered(*train), batch_size=64, shuffle=True), DataLoader(Jittered(*test), batch_size=256)


def streamed(train, test):
    return DataLoader(Streamed(*train), batch_size=64), DataLoader(Streamed(*test), batch_size=256)


small_shapes = partial(shapes, 1500, 500)
