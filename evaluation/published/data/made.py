"""Synthetic tables, sequences, images and graphs with a known rule."""

import math

import torch
from torch.nn import functional as F

from evaluation.published.data.load import split


def generator(seed):
    """A random generator with this seed."""
    return torch.Generator().manual_seed(seed)


def housing(n=1500, noise=0.2, seed=0):
    """Prices like those of California: 8 columns of different scales, one number in units of 100,000."""
    g = generator(seed)
    u = torch.rand(n, 8, generator=g)
    income, age, rooms, people = 0.5 + 9 * u[:, 0] ** 2, 1 + 51 * u[:, 1], 2 + 6 * u[:, 2], 300 + 3000 * u[:, 3]
    latitude, longitude = 32 + 10 * u[:, 6], -124 + 10 * u[:, 7]
    coast = torch.exp(-(((longitude + 122) / 2) ** 2))
    price = 0.4 * income + 1.2 * coast + 0.3 * torch.sin(latitude) * rooms / 4 - 0.004 * (age - 30).abs()
    price = price + noise * torch.randn(n, generator=g)
    x = torch.stack((income, age, rooms, 1 + 0.3 * u[:, 4], people, 2 + 2 * u[:, 5], latitude, longitude), 1)
    return split(x, price[:, None], n * 3 // 4, seed)


def regression(n=1200, d=8, noise=0.1, seed=0):
    """A smooth nonlinear function of d standard columns, with mean about 0 and standard deviation about 1."""
    g = generator(seed)
    x = torch.randn(n, d, generator=g)
    y = torch.sin(x[:, 0] * 1.5) + 0.5 * x[:, 1] * x[:, 2] + 0.5 * x[:, 3] + noise * torch.randn(n, generator=g)
    return split(x, y[:, None], n * 2 // 3, seed)


def blobs(n=900, classes=3, d=10, spread=1.0, seed=0):
    """Gaussian clusters, one for each class."""
    g = generator(seed)
    centers = 1.5 * torch.randn(classes, d, generator=g)
    y = torch.randint(classes, (n,), generator=g)
    return split(centers[y] + spread * torch.randn(n, d, generator=g), y, n * 2 // 3, seed)


def rings(n=900, noise=0.1, d=2, seed=0):
    """Two classes that no line separates: an inner disk and a ring around it; other columns are noise."""
    g = generator(seed)
    y = torch.randint(2, (n,), generator=g)
    angle = 2 * math.pi * torch.rand(n, generator=g)
    radius = 0.6 + 0.9 * y + noise * torch.randn(n, generator=g)
    x = torch.stack((radius * angle.cos(), radius * angle.sin()), 1)
    return split(torch.cat((x, torch.randn(n, d - 2, generator=g)), 1), y, n * 2 // 3, seed)


def moons(n=800, noise=0.15, seed=0):
    """Two interleaved half circles."""
    from sklearn.datasets import make_moons

    x, y = make_moons(n, noise=noise, random_state=seed)
    return split(torch.tensor(x, dtype=torch.float32), torch.tensor(y), n * 3 // 4, seed)


def imbalanced(n=3000, rare=0.04, d=10, shift=1.1, seed=0):
    """Two overlapping classes of which one is rare; the test set is balanced like the training set."""
    g = generator(seed)
    y = (torch.rand(n, generator=g) < rare).long()
    x = torch.randn(n, d, generator=g)
    x[:, :3] += shift * y[:, None]
    return split(x, y, n * 2 // 3, seed)


def multi_label(n=1500, labels=6, d=20, seed=0):
    """Each example has any number of the labels; each label depends on its own combination of columns."""
    g = generator(seed)
    x = torch.randn(n, d, generator=g)
    weight = torch.randn(d, labels, generator=g)
    y = (x @ weight / math.sqrt(d) + 0.1 * torch.randn(n, labels, generator=g) > 0).float()
    return split(x, y, n * 2 // 3, seed)


def text_counts(n=1600, classes=20, words=300, length=60, seed=0):
    """Word counts of documents on 20 topics that share most words."""
    g = generator(seed)
    topic = torch.rand(classes, words, generator=g) ** 6 + 0.05
    y = torch.randint(classes, (n,), generator=g)
    drawn = torch.multinomial(topic[y], length, replacement=True, generator=g)
    x = F.one_hot(drawn, words).sum(1).float()
    return split(x, y, n * 3 // 4, seed)


def reviews(n=1500, length=20, words=60, seed=0):
    """Token sequences with good and bad words; the class is whether there are more good words."""
    g = generator(seed)
    x = torch.randint(1, words, (n, length), generator=g)
    mood = torch.rand(n, 1, generator=g)
    special = torch.rand(n, length, generator=g) < 0.35
    good = torch.rand(n, length, generator=g) < mood
    x = torch.where(special, torch.where(good, 1 + x % 5, 6 + x % 5), 11 + x % (words - 11))
    y = ((x <= 5).sum(1) > ((x > 5) & (x <= 10)).sum(1)).long()
    return split(x, y, n * 2 // 3, seed)


def padded_reviews(n=1500, longest=60, seed=0):
    """Reviews of 5 to 15 tokens, padded with zeros on the right to 60; returns tokens with their lengths."""
    g = generator(seed)
    lengths = torch.randint(5, 16, (n,), generator=g)
    x = torch.randint(1, 50, (n, longest), generator=g)
    y = torch.randint(2, (n,), generator=g)
    place = (torch.rand(n, generator=g) * lengths).long()
    x[x <= 2] += 10
    x[torch.arange(n), place] = 1 + y
    x[torch.arange(longest) >= lengths[:, None]] = 0
    return split((x, lengths), y, n * 2 // 3, seed)


def waves(n=900, length=30, noise=0.2, seed=0):
    """One-channel signals (n, length, 1) of 3 classes: slow, middle and fast oscillations with random phase."""
    g = generator(seed)
    y = torch.randint(3, (n,), generator=g)
    t = torch.arange(length) / length
    phase = 2 * math.pi * torch.rand(n, 1, generator=g)
    x = torch.sin(2 * math.pi * torch.tensor([1.0, 3.0, 6.0])[y][:, None] * t + phase)
    return split((x + noise * torch.randn(n, length, generator=g))[..., None], y, n * 2 // 3, seed)


def sine_forecast(n=900, window=24, noise=0.05, seed=0):
    """Windows (n, window, 1) of sine waves with random period; the target is the next value."""
    g = generator(seed)
    period = 8 + 16 * torch.rand(n, 1, generator=g)
    phase = 2 * math.pi * torch.rand(n, 1, generator=g)
    wave = torch.sin(2 * math.pi * torch.arange(window + 1) / period + phase)
    wave = wave + noise * torch.randn(n, window + 1, generator=g)
    return split(wave[:, :-1, None], wave[:, -1:], n * 2 // 3, seed)


def adding(n=2000, length=12, seed=0):
    """The adding problem: (value, marker) pairs; the target is the sum of the two marked values."""
    g = generator(seed)
    values = torch.rand(n, length, generator=g)
    marks = torch.zeros(n, length)
    marks.scatter_(1, torch.rand(n, length, generator=g).argsort(1)[:, :2], 1.0)
    return split(torch.stack((values, marks), 2), (values * marks).sum(1, keepdim=True), n * 3 // 4, seed)


def order_task(n=1500, length=10, words=12, seed=0):
    """Token sequences; the class is whether the token 1 comes before the token 2. Only the order matters."""
    g = generator(seed)
    x = torch.randint(3, words, (n, length), generator=g)
    places = torch.rand(n, length, generator=g).argsort(1)[:, :2]
    x.scatter_(1, places, torch.tensor([[1, 2]]).expand(n, 2))
    return split(x, (places[:, 0] < places[:, 1]).long(), n * 2 // 3, seed)


def characters(n=800, length=32, seed=0):
    """Tokens of a small grammar of 12 symbols; the targets are the next tokens. The last two tokens decide most."""
    g = generator(seed)
    table = torch.rand(12, 12, 12, generator=g) ** 12
    x = torch.randint(12, (n, length + 1), generator=g)
    for t in range(2, length + 1):
        x[:, t] = torch.multinomial(table[x[:, t - 2], x[:, t - 1]], 1, generator=g)[:, 0]
    return split(x[:, :-1], x[:, 1:], n * 3 // 4, seed)[0], split(x[:, :-1], x[:, 1:], n * 3 // 4, seed)[1]


def shapes(n=240, size=16, seed=0):
    """Noisy images (n, 1, size, size) with one square and one disk; the target is a class for each pixel."""
    g = generator(seed)
    rows, columns = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    at = torch.randint(3, size - 3, (n, 4, 1, 1), generator=g)
    square = ((rows - at[:, 0]).abs() <= 2) & ((columns - at[:, 1]).abs() <= 2)
    disk = (rows - at[:, 2]) ** 2 + (columns - at[:, 3]) ** 2 <= 9
    masks = torch.where(disk, 2, torch.where(square, 1, 0))
    x = torch.where(disk, -1.0, torch.where(square, 1.0, 0.0)) + 0.5 * torch.randn(n, size, size, generator=g)
    return split(x[:, None], masks, n * 3 // 4, seed)


def graphs(n=500, nodes=12, seed=0):
    """Dense graphs (features and adjacency); the class is whether the graph has two communities or one."""
    g = generator(seed)
    y = torch.randint(2, (n,), generator=g)
    side = torch.arange(nodes) < nodes // 2
    same = (side[:, None] == side).float()
    p_two, p_one = 0.1 + 0.6 * same, torch.full((nodes, nodes), 0.4)
    p = torch.where(y[:, None, None] == 1, p_two, p_one)
    upper = (torch.rand(n, nodes, nodes, generator=g) < p).float().triu(1)
    adjacency = upper + upper.transpose(1, 2)
    features = torch.cat((adjacency.sum(2, keepdim=True) / 4, side.float().expand(n, nodes)[..., None]), 2)
    return split((features, adjacency), y, n * 7 // 10, seed)
