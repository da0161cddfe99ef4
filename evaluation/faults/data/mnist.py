"""MNIST, and tasks made from it; `mnist.npz` is read from the folder of shared data."""

from functools import cache

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812

from evaluation.faults.data.split import SHARED_DATA

MEAN, STANDARD_DEVIATION = 0.1307, 0.3081


def unit_range(x):
    """Standardized pixels back to the range [0, 1]."""
    return x * STANDARD_DEVIATION + MEAN


def byte_range(x):
    """Standardized pixels back to the range 0 to 255."""
    return 255 * unit_range(x)


@cache
def _stored() -> tuple[np.ndarray, ...]:
    with np.load(SHARED_DATA / "mnist.npz") as file:
        return tuple(file[name] for name in ("x_train", "y_train", "x_test", "y_test"))


def mnist(n=4000, m=1000, seed=0):
    """Standardized images (n, 1, 28, 28) and their digits."""
    x, y, x_test, y_test = _stored()
    rng = np.random.default_rng(seed)
    i, j = rng.permutation(len(x))[:n], rng.permutation(len(x_test))[:m]

    def pixels(a):
        return (torch.from_numpy(a).float()[:, None] / 255 - MEAN) / STANDARD_DEVIATION

    return (pixels(x[i]), torch.from_numpy(y[i]).long()), (pixels(x_test[j]), torch.from_numpy(y_test[j]).long())


def mnist_flat(n=4000, m=1000, seed=0):
    """Standardized images as vectors of 784 numbers."""
    return tuple((x.flatten(1), y) for x, y in mnist(n, m, seed))


def mnist_rows(n=3000, m=1000, seed=0):
    """Images as sequences of 20 rows, without the empty rows at the top and the bottom."""
    return tuple((x[:, 0, 5:25], y) for x, y in mnist(n, m, seed))


def mnist_color(n=1500, m=500, seed=0):
    """Digits on 32 x 32 pixels in random colors, with noise."""
    g = torch.Generator().manual_seed(seed)

    def paint(pair):
        x = F.pad(pair[0], (2, 2, 2, 2), value=float(pair[0].min()))
        tint = 0.5 + torch.rand(len(x), 3, 1, 1, generator=g)
        return x * tint + 0.3 * torch.randn(len(x), 3, 32, 32, generator=g), pair[1]

    return tuple(map(paint, mnist(n, m, seed)))


def mnist_unit(n=3000, m=800, seed=0):
    """Images with pixels in [0, 1]."""
    return tuple((unit_range(x), y) for x, y in mnist(n, m, seed))


def mnist_unit_flat(n=3000, m=800, seed=0):
    """Vectors of pixels in [0, 1], and the digits."""
    return tuple((x.clamp(0, 1).flatten(1), y) for x, y in mnist_unit(n, m, seed))


def mnist_bytes(n=3000, m=800, seed=0):
    """Images as they are stored, with pixels from 0 to 255."""
    return tuple((byte_range(x), y) for x, y in mnist(n, m, seed))


def mnist_even(n=3000, m=800, seed=0):
    """Whether a digit is even (class 0) or odd (class 1)."""
    return tuple((x, y % 2) for x, y in mnist(n, m, seed))


def reconstruct(data, seed=0):
    """Replaces the targets of a data set by its inputs, for autoencoders."""
    return tuple((x, x.clone()) for x, _ in data(seed=seed))


def mnist_fill_in(n=2500, m=800, seed=0):
    """Images whose lower half is hidden, and the whole image as the target."""

    def hide(x):
        hidden = x.clone()
        hidden[:, :, 14:] = 0
        return hidden, x.flatten(1)

    return tuple(hide(x) for x, _ in mnist_unit(n, m, seed))


def mnist_denoise(n=3000, m=800, seed=0, noise=0.3):
    """Noisy images, and the images without noise as targets."""
    g = torch.Generator().manual_seed(seed)
    clean = [x.clamp(0, 1) for x, _ in mnist_unit(n, m, seed)]
    return tuple((x + noise * torch.randn(x.shape, generator=g), x) for x in clean)


def mnist_two_digits(n=2000, m=500, seed=0):
    """Two digits side by side, and ten labels of 0 or 1 that say which digits occur."""

    def join(x, y):
        k = len(x) // 2
        labels = F.one_hot(y[:k], 10) | F.one_hot(y[k : 2 * k], 10)
        return torch.cat([x[:k], x[k : 2 * k]], 3), labels.float()

    return tuple(join(*pair) for pair in mnist(2 * n, 2 * m, seed))


def mnist_same_digit(n=2500, m=600, seed=0):
    """Two images, passed by name, and whether they show the same digit."""

    def pair(x, y, k):
        g = torch.Generator().manual_seed(seed)
        same = torch.rand(k, generator=g) < 0.5
        order = y.argsort(stable=True)
        place = torch.empty_like(order)
        place[order] = torch.arange(len(order))
        neighbor = order[(place[:k] + torch.randint(1, 20, (k,), generator=g)).clamp(max=len(y) - 1)]
        other = torch.where(same, neighbor, torch.randint(0, len(y), (k,), generator=g))
        return {"left": x[:k], "right": x[other]}, (y[:k] == y[other]).long()

    return tuple(pair(x, y, k) for (x, y), k in zip(mnist(2 * n, 2 * m, seed), (n, m), strict=True))


def mnist_contrastive_pairs(n=3000, m=800, seed=0):
    """Two images, and 1.0 if they show the same digit (half of the pairs), for a loss on distances."""
    out = []
    for (x, y), k in zip(mnist(2 * n, 2 * m, seed), (n, m), strict=True):
        g = torch.Generator().manual_seed(seed)
        same = torch.rand(k, generator=g) < 0.5
        left = torch.arange(k)
        scores = torch.rand(k, len(y) - k, generator=g) * ((y[:k, None] == y[None, k:]) == same[:, None])
        right = k + scores.argmax(1)
        out.append(((x[left], x[right]), (y[left] == y[right]).float()))
    return tuple(out)
