"""Images of digits: MNIST if it is there, else the digits of scikit-learn enlarged to the same size."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor
from torch.nn import functional as F

from evaluation.faults.data.split import SHARED_DATA
from evaluation.public_models.case import Data

MEAN, DEVIATION = 0.1307, 0.3081
"""Of MNIST's pixels, as its public scripts subtract and divide."""


def digits(
    seed: int, train: int, test: int, size: int = 28, channels: int = 1
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pixels from 0 to 1 and classes of training and test images."""
    if (SHARED_DATA / "mnist.npz").exists():
        with np.load(SHARED_DATA / "mnist.npz") as file:
            x = torch.from_numpy(file["x_train"]).float()[:, None] / 255
            y = torch.from_numpy(file["y_train"]).long()
    else:
        pixels, classes = load_digits(return_X_y=True)
        x, y = torch.tensor(pixels).float().reshape(-1, 1, 8, 8) / 16, torch.tensor(classes).long()
    chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))[: train + test]
    x, y = x[chosen], y[chosen]
    x = x if x.shape[-1] == size else F.interpolate(x, size=(size, size), mode="bilinear", antialias=True)
    x = x.expand(-1, channels, -1, -1).contiguous()
    train = len(x) - test
    return x[:train], y[:train], x[train:], y[train:]


def small_digits(seed: int, test: int = 450) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The 8 x 8 digits of scikit-learn: pixels from 0 to 1 (n, 1, 8, 8) and classes."""
    pixels, classes = load_digits(return_X_y=True)
    x, y = torch.tensor(pixels).float().reshape(-1, 1, 8, 8) / 16, torch.tensor(classes).long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    x, y = x[order], y[order]
    return x[test:], y[test:], x[:test], y[:test]


def pairs(size: int = 28, channels: int = 1, train: int = 3000, test: int = 1000):
    """A function of a seed: normalized images and classes as pairs of tensors."""

    def data(seed: int) -> Data:
        x, y, xt, yt = digits(seed, train, test, size, channels)
        return Data(((x - MEAN) / DEVIATION, y), ((xt - MEAN) / DEVIATION, yt))

    return data


def labelled(name: str, size: int = 28, channels: int = 3, train: int = 3000, test: int = 1000):
    """A function of a seed: the same as dicts with ``labels``, as Hugging Face has them."""

    def data(seed: int) -> Data:
        x, y, xt, yt = digits(seed, train, test, size, channels)
        return Data({name: (x - MEAN) / DEVIATION, "labels": y}, {name: (xt - MEAN) / DEVIATION, "labels": yt})

    return data


def masks(size: int = 32, channels: int = 3, train: int = 400, test: int = 100, dicts: bool = False):
    """A function of a seed: noisy images, and as targets a class for each pixel: 0, or 1 + the digit's parity."""

    def data(seed: int) -> Data:
        x, y, xt, yt = digits(seed, train, test, size, channels)
        generator = torch.Generator().manual_seed(seed)
        parts = []
        for images, classes in ((x, y), (xt, yt)):
            mask = (images[:, 0] > 0.3).long() * (1 + classes % 2)[:, None, None]
            noisy = images + 0.2 * torch.randn(images.shape, generator=generator)
            parts.append({"pixel_values": noisy, "labels": mask} if dicts else (noisy, mask))
        return Data(*parts)

    return data
