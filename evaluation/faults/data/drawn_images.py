"""Images that are drawn from formulas: shapes, textures, bright spots."""

from functools import partial

import torch
from torch.nn import functional as F  # noqa: N812

from evaluation.faults.data.split import split_at


def shapes(n=2000, m=600, seed=0, side=32):
    """Disks, squares, crosses, rings and stripes of random color, size and place on a noisy background."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 5, (k,), generator=g)
    grid = torch.arange(side).float()
    cx, cy = (side * (0.3 + 0.4 * torch.rand(k, 1, 1, generator=g)) for _ in range(2))
    r = side * (0.14 + 0.14 * torch.rand(k, 1, 1, generator=g))
    dx, dy = (grid[None, None, :] - cx).abs(), (grid[None, :, None] - cy).abs()
    distance, box = (dx.square() + dy.square()).sqrt(), torch.maximum(dx, dy)
    masks = torch.stack([distance < r, box < r, (torch.minimum(dx, dy) < r / 3) & (box < r), (distance < r) & (distance > r / 2),
                         (box < r) & (((dy / 2).long() % 2) == 0).expand_as(distance)], 1)  # fmt: skip
    mask = masks[torch.arange(k), y][:, None].float()
    ink, ground = torch.rand(k, 3, 1, 1, generator=g), torch.rand(k, 3, 1, 1, generator=g)
    ink = torch.where((ink - ground).abs().sum(1, keepdim=True) < 0.6, 1 - ground.round(), ink)
    x = mask * ink + (1 - mask) * ground + 0.1 * torch.randn(k, 3, side, side, generator=g)
    return split_at((x - 0.5) / 0.3, y, n)


small_shapes = partial(shapes, 1500, 500)


def shape_masks(n=800, m=200, seed=0, kinds=False):
    """Noisy gray images with a disk or a square, and its mask (n, 1, 24, 24); with ``kinds``, a class for each pixel."""
    g = torch.Generator().manual_seed(seed)
    k, side = n + m, 24
    grid = torch.arange(side).float()
    cx, cy = (7 + 10 * torch.rand(k, 1, 1, generator=g) for _ in range(2))
    r, square = 3 + 3 * torch.rand(k, 1, 1, generator=g), torch.rand(k, 1, 1, generator=g) < 0.5
    dx, dy = (grid[None, None, :] - cx).abs(), (grid[None, :, None] - cy).abs()
    inside = torch.where(square, torch.maximum(dx, dy) < r, (dx.square() + dy.square()).sqrt() < r)
    x = inside[:, None].float() * 1.5 - 0.5 + 0.7 * torch.randn(k, 1, side, side, generator=g)
    return split_at(x, (inside * (1 + square.long())) if kinds else inside[:, None].float(), n)


def textures(n=1800, m=500, seed=0, side=32):
    """Colored gratings (3, 32, 32) of two directions and three frequencies: six classes that mirroring would mix up."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 6, (k,), generator=g)
    angle = 0.4 + 1.6 * (y % 2) + 0.25 * torch.randn(k, generator=g)
    frequency = torch.tensor([0.45, 0.8, 1.3])[y // 2] * (1 + 0.08 * torch.randn(k, generator=g))
    grid = torch.arange(side).float()
    along = angle.cos()[:, None, None] * grid[None, None] + angle.sin()[:, None, None] * grid[None, :, None]
    wave = torch.sin(frequency[:, None, None] * along + 6.28 * torch.rand(k, 1, 1, generator=g))
    color = torch.randn(k, 3, 1, 1, generator=g)
    color = color / color.flatten(1).norm(dim=1)[:, None, None, None] * 1.7
    x = wave[:, None] * color + 0.4 * torch.randn(k, 1, 1, 1, generator=g)
    return split_at(x + 0.6 * torch.randn(k, 3, side, side, generator=g), y, n)


def overlaid_textures(n=1800, m=500, seed=0):
    """Two textures on top of each other, and six labels of 0 or 1 that say which textures occur."""

    def join(x, y):
        k = len(y) // 2
        return (x[:k] + x[k:]) / 1.4, (F.one_hot(y[:k], 6) | F.one_hot(y[k:], 6)).float()

    return tuple(join(x, y) for x, y in textures(2 * n, 2 * m, seed))


def _bright_spots(n, m, seed, side=32):
    """Gray images with one to six soft spots; how many; the position of the brightest, in [0, 1]."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    count = torch.randint(1, 7, (k,), generator=g)
    grid = torch.arange(side).float()
    x = 0.15 * torch.randn(k, 1, side, side, generator=g)
    positions = 3 + (side - 7) * torch.rand(k, 6, 2, generator=g)
    for i in range(6):
        dx, dy = (grid - positions[:, i, :1]).square(), (grid - positions[:, i, 1:]).square()
        bump = (1.6 if i == 0 else 1.0) * torch.exp(-(dx[:, None, :] + dy[:, :, None]) / 5)
        x[:, 0] += bump * (count > i)[:, None, None]
    return x / 0.3 - 0.5, count.float(), positions[:, 0] / side


def spot_counts(n=1800, m=500, seed=0):
    """Images of bright spots, and the number of spots, standardized."""
    x, count, _ = _bright_spots(n, m, seed)
    return split_at(x, (count - 3.5) / 1.7, n)


def spot_positions(n=1800, m=500, seed=0, scale=1.0):
    """Images of bright spots, and the position of the brightest: two numbers from 0 to ``scale``."""
    x, _, position = _bright_spots(n, m, seed)
    return split_at(x, scale * position, n)
