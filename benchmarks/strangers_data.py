"""Data for `faults_strangers.py`: textures, sensors, conversations, tables with categories, graphs, sets of points.

Each function draws from one seed and returns (train, test).
"""

import torch
from faults_models import mnist
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, Dataset, TensorDataset, WeightedRandomSampler
from unseen_data import halves


def textures(n=1800, m=500, seed=0, side=32):
    """Colored gratings (3, 32, 32) of two directions and three paces: six classes, which mirror images would mix."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 6, (k,), generator=g)
    angle = 0.4 + 1.6 * (y % 2) + 0.25 * torch.randn(k, generator=g)
    pace = torch.tensor([0.45, 0.8, 1.3])[y // 2] * (1 + 0.08 * torch.randn(k, generator=g))
    grid = torch.arange(side).float()
    along = angle.cos()[:, None, None] * grid[None, None] + angle.sin()[:, None, None] * grid[None, :, None]
    wave = torch.sin(pace[:, None, None] * along + 6.28 * torch.rand(k, 1, 1, generator=g))
    color = torch.randn(k, 3, 1, 1, generator=g)
    color = color / color.flatten(1).norm(dim=1)[:, None, None, None] * 1.7
    x = wave[:, None] * color + 0.4 * torch.randn(k, 1, 1, 1, generator=g)
    return halves(x + 0.6 * torch.randn(k, 3, side, side, generator=g), y, n)


def scenes(n=1800, m=500, seed=0):
    """Two textures on top of each other, and which of the six are there: six labels of 0 or 1."""
    (x, y), (xt, yt) = textures(2 * n, 2 * m, seed)

    def join(x, y):
        k = len(y) // 2
        return (x[:k] + x[k:]) / 1.4, (F.one_hot(y[:k], 6) | F.one_hot(y[k:], 6)).float()

    return join(x, y), join(xt, yt)


def blobs(n=1800, m=500, seed=0, side=32):
    """Gray images with one to six soft spots: images, how many, and where the brightest one is (in [0, 1])."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    count = torch.randint(1, 7, (k,), generator=g)
    grid = torch.arange(side).float()
    x = 0.15 * torch.randn(k, 1, side, side, generator=g)
    places = 3 + (side - 7) * torch.rand(k, 6, 2, generator=g)
    for i in range(6):
        dx, dy = (grid - places[:, i, :1]).square(), (grid - places[:, i, 1:]).square()
        bump = (1.6 if i == 0 else 1.0) * torch.exp(-(dx[:, None, :] + dy[:, :, None]) / 5)
        x[:, 0] += bump * (count > i)[:, None, None]
    return x / 0.3 - 0.5, count.float(), places[:, 0] / side, n


def counted(n=1800, m=500, seed=0):
    x, count, _, cut = blobs(n, m, seed)
    return halves(x, (count - 3.5) / 1.7, cut)


def placed(n=1800, m=500, seed=0, scale=1.0):
    x, _, place, cut = blobs(n, m, seed)
    return halves(x, scale * place, cut)


def sensors(n=2400, m=600, seed=0, length=64):
    """Six channels of a phone that is carried: rest, walk, run, stairs, cycle, ride; gravity is on one of the axes."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 6, (k,), generator=g)
    t = torch.arange(length).float()
    pace = torch.tensor([0.0, 0.35, 0.6, 0.3, 0.45, 0.9])[y] * (1 + 0.1 * torch.randn(k, generator=g))
    loud = torch.tensor([0.05, 0.8, 1.8, 1.0, 0.6, 0.25])[y] * (1 + 0.2 * torch.randn(k, generator=g)).clamp(min=0.3)
    phase = 6.28 * torch.rand(k, 6, 1, generator=g)
    base = torch.sin(pace[:, None, None] * t + phase)
    second = torch.tensor([0.0, 0.2, 0.3, 0.9, 0.0, 0.1])[y][:, None, None] * torch.sin(
        2 * pace[:, None, None] * t + phase
    )
    x = loud[:, None, None] * (base + second) * torch.tensor([1.0, 0.7, 0.5, 0.6, 0.4, 0.8])[:, None]
    x = x + 0.35 * torch.randn(k, 6, length, generator=g)
    x[:, 2] += 0.6 + 0.3 * torch.randn(k, 1, generator=g)
    return halves(x, y, n)


def windows(n=2400, m=600, seed=0, length=64):
    """Windows cut from few long recordings at any place and then split at random: nearly each has its twin in train."""
    g = torch.Generator().manual_seed(seed)
    (x, y), _ = sensors(60, 6, seed, length=400)
    who = torch.randint(0, 60, (n + m,), generator=g)
    start = torch.randint(0, 400 - length, (n + m,), generator=g)
    cut = torch.stack([x[i, :, s : s + length] for i, s in zip(who.tolist(), start.tolist(), strict=True)])
    return halves(cut, y[who], n)


def talk(n=2400, m=600, seed=0, length=30, vocabulary=2000):
    """Requests to a shop, five intents: words fall off like 1 / rank, most of the vocabulary never comes; 0 pads."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 5, (k,), generator=g)
    common = 1 / (2 + torch.arange(vocabulary).float())
    common[0], common[-700:] = 0, 0
    topic = common.repeat(5, 1)
    for c in range(5):
        topic[c, 20 + c : 400 : 5] *= 9
    x = torch.multinomial(topic[y], length, replacement=True, generator=g)
    size = torch.randint(8, length + 1, (k, 1), generator=g)
    return halves(torch.where(torch.arange(length) < size, x, 0), y, n)


def reversal(n=2500, m=500, seed=0, length=10, ignore=False):
    """Digits, and the same backwards: a label for every place; with ``ignore`` the last places are not asked for."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 8, (n + m, length), generator=g)
    y = x.flip(1).clone()
    if ignore:
        y[torch.arange(length) >= torch.randint(6, length + 1, (n + m, 1), generator=g)] = -100
    return halves(x, y, n)


def communities(n=1600, m=500, seed=0, nodes=20):
    """Graphs of one, two or four groups of friends; a node has noisy features and a constant one."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 3, (k,), generator=g)
    groups = torch.tensor([1, 2, 4])[y][:, None]
    member = torch.arange(nodes)[None] % groups
    same = member[:, :, None] == member[:, None, :]
    p = torch.where(same, torch.tensor([0.35, 0.62, 0.95])[y][:, None, None], torch.tensor(0.06))
    a = (torch.rand(k, nodes, nodes, generator=g) < p).float().triu(1)
    a = a + a.mT + torch.eye(nodes)
    feature = F.one_hot(torch.randint(0, 5, (k, nodes), generator=g), 5).float() + 0.1 * torch.randn(
        k, nodes, 5, generator=g
    )
    feature = torch.cat([feature, (a.sum(2, keepdim=True) - 8) / 3], 2)
    return halves((feature, a / a.sum(2, keepdim=True)), y, n)


def rents(n=4000, m=1000, seed=0, raw=False):
    """What a flat costs: a quarter of 40, a kind of 6, and seven numbers; standardized unless ``raw``."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    where, kind = torch.randint(0, 40, (k,), generator=g), torch.randint(0, 6, (k,), generator=g)
    level, extra = torch.randn(40, generator=g), torch.randn(6, generator=g)
    size = (0.4 * torch.randn(k, generator=g) + 4.2).exp()
    year, floor = 1900 + 120 * torch.rand(k, generator=g), torch.poisson(torch.full((k,), 2.5), generator=g)
    others = torch.randn(k, 4, generator=g)
    y = 11 * size * (1 + 0.25 * level[where] + 0.1 * extra[kind]) + 2 * (year - 1960).clamp(min=0) + 40 * others[:, 0]
    y = y + 60 * torch.randn(k, generator=g)
    x = torch.cat([size[:, None], year[:, None], floor[:, None], others], 1)
    if not raw:
        x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    return halves({"category": torch.stack([where, kind], 1), "number": x}, y, n)


def numbers_only(data):
    """Of a table with categories the numbers alone."""
    return lambda **options: tuple((x["number"], y) for x, y in data(**options))


def clouds(n=2000, m=500, seed=0, points=40):
    """Sets of points in space: spheres, cubes, cylinders and saddles, turned around one axis, with noise."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 4, (k,), generator=g)
    z = torch.randn(k, points, 3, generator=g)
    u = 2 * torch.rand(k, points, 3, generator=g) - 1
    sphere = z / z.norm(dim=2, keepdim=True)
    cube = u / u.abs().amax(2, keepdim=True)
    ring = z[..., :2] / z[..., :2].norm(dim=2, keepdim=True)
    saddle = torch.stack([u[..., 0], u[..., 1], u[..., 0].square() - u[..., 1].square()], 2)
    every = torch.stack([sphere, cube, torch.cat([ring, u[..., 2:]], 2), saddle], 1)
    x = every[torch.arange(k), y]
    turn = 6.28 * torch.rand(k, generator=g)
    c, s = turn.cos()[:, None], turn.sin()[:, None]
    x = torch.stack([c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]], 2)
    return halves(1.4 * x + 0.08 * torch.randn(x.shape, generator=g), y, n)


def unit(n=3000, m=800, seed=0, clean=False, noise=0.0):
    """MNIST in [0, 1], flat: pictures that are their own targets, perhaps seen through noise; or with their labels."""
    g = torch.Generator().manual_seed(seed)
    out = []
    for x, y in mnist(n, m, seed):
        x = (x * 0.3081 + 0.1307).clamp(0, 1)
        seen = x + noise * torch.randn(x.shape, generator=g)
        out.append((seen, x) if noise else (x.flatten(1), y if clean else x.flatten(1)))
    return tuple(out)


def couples(n=3000, m=800, seed=0):
    """Two digits, and 1 where they are the same: half of the pairs, as a loss on distances takes them."""
    out = []
    for (x, y), k in zip(mnist(2 * n, 2 * m, seed), (n, m), strict=True):
        g = torch.Generator().manual_seed(seed)
        same = torch.rand(k, generator=g) < 0.5
        left = torch.arange(k)
        scores = torch.rand(k, len(y) - k, generator=g) * ((y[:k, None] == y[None, k:]) == same[:, None])
        right = k + scores.argmax(1)
        out.append(((x[left], x[right]), (y[left] == y[right]).float()))
    return tuple(out)


class Turned(Dataset):
    """Images that are moved, scaled and made noisy whenever they are read."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        a, b = torch.randint(-3, 4, (2,)).tolist()
        return (0.9 + 0.2 * torch.rand(())) * self.x[i].roll((a, b), (1, 2)), self.y[i]


def augmented(train, test):
    return DataLoader(Turned(*train), batch_size=64, shuffle=True, drop_last=True), DataLoader(
        TensorDataset(*test), batch_size=250
    )


def balanced(train, test):
    """A loader that draws rare classes as often as the others."""
    weights = 1 / torch.bincount(train[1])[train[1]].float()
    sampler = WeightedRandomSampler(weights.tolist(), len(train[1]))
    return DataLoader(TensorDataset(*train), batch_size=64, sampler=sampler), DataLoader(
        TensorDataset(*test), batch_size=250
    )
