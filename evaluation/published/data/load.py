"""Reads the real data sets, and splits rows into train and test."""

import numpy as np
import torch
from sklearn import datasets

from evaluation.faults.data.split import SHARED_DATA


class SkippedCase(Exception):
    """The data of this case are not on this machine."""


def split(x, y, n_train, seed=0, n_test=None):
    """Shuffled rows: n_train for training, the rest (or n_test of it) for testing."""
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    first, second = order[:n_train], order[n_train:] if n_test is None else order[n_train : n_train + n_test]
    if isinstance(x, tuple):
        return (tuple(t[first] for t in x), y[first]), (tuple(t[second] for t in x), y[second])
    return (x[first], y[first]), (x[second], y[second])


def standardized(train, test):
    """Both sets with the column means and standard deviations of the training inputs removed."""
    mean, std = train[0].mean(0), train[0].std(0).clamp(min=1e-6)
    return ((train[0] - mean) / std, train[1]), ((test[0] - mean) / std, test[1])


def _sklearn(loader):
    table = loader()
    return torch.tensor(table.data, dtype=torch.float32), torch.tensor(table.target)


def digits(n_train=1000, n_test=700, scale=16.0, seed=0):
    """Images of digits (n, 1, 8, 8) with values from 0 to 1."""
    x, y = _sklearn(datasets.load_digits)
    return split(x.reshape(-1, 1, 8, 8) / scale, y, n_train, seed, n_test)


def flat_digits(n_train=1000, n_test=700, scale=16.0, seed=0):
    """The digits as rows of 64 numbers."""
    train, test = digits(n_train, n_test, scale, seed)
    return (train[0].flatten(1), train[1]), (test[0].flatten(1), test[1])


def iris(seed=0):
    """Iris: 4 columns, 3 classes, 100 rows for training."""
    return split(*_sklearn(datasets.load_iris), 100, seed)


def wine(seed=0):
    """Wine: 13 columns of very different scales, 3 classes, 118 rows for training."""
    return split(*_sklearn(datasets.load_wine), 118, seed)


def breast_cancer(seed=0):
    """Breast cancer: 30 columns of very different scales, 2 classes, 400 rows for training."""
    return split(*_sklearn(datasets.load_breast_cancer), 400, seed)


def diabetes(seed=0):
    """Diabetes: 10 columns, a number between 25 and 346 as target."""
    x, y = _sklearn(datasets.load_diabetes)
    return split(x, y.float()[:, None], 330, seed)


def mnist(n_train=1500, n_test=1000, seed=0):
    """Images of MNIST (n, 1, 28, 28) with values from 0 to 1."""
    path = SHARED_DATA / "mnist.npz"
    if not path.exists():
        raise SkippedCase("mnist.npz is not in the folder of shared data")
    with np.load(path) as file:
        x, y, xt, yt = file["x_train"], file["y_train"], file["x_test"], file["y_test"]
    first = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))[:n_train].numpy()
    second = torch.randperm(len(yt), generator=torch.Generator().manual_seed(seed))[:n_test].numpy()
    pairs = ((x[first], y[first]), (xt[second], yt[second]))
    train, test = ((torch.tensor(a).float()[:, None] / 255, torch.tensor(b).long()) for a, b in pairs)
    return train, test


def small_mnist(n_train=1500, n_test=1000, seed=0):
    """MNIST averaged over blocks of 2 x 2 pixels: images (n, 1, 14, 14)."""
    pool = torch.nn.AvgPool2d(2)
    (x, y), (xt, yt) = mnist(n_train, n_test, seed)
    return (pool(x), y), (pool(xt), yt)


def uci(name, seed=0):
    """A table of UCI with 70 % of its rows for training."""
    path = SHARED_DATA / "uci90.npz"
    if not path.exists():
        raise SkippedCase("uci90.npz is not in the folder of shared data")
    with np.load(path) as file:
        x, y = torch.tensor(file[f"{name}/x"]), torch.tensor(file[f"{name}/y"]).long()
    return split(x.float(), y, len(y) * 7 // 10, seed)
