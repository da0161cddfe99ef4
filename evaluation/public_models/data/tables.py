"""Tables: sets of the UCI collection if they are there, else those of scikit-learn."""

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_friedman1
from torch import Tensor

from evaluation.faults.data.split import SHARED_DATA
from evaluation.public_models.case import Data


def table(name: str, seed: int) -> tuple[Tensor, Tensor]:
    """Standardized columns and classes of a set of the UCI collection, shuffled; the wines of scikit-learn instead."""
    if (SHARED_DATA / "uci90.npz").exists():
        with np.load(SHARED_DATA / "uci90.npz") as file:
            x, y = torch.from_numpy(file[f"{name}/x"]).float(), torch.from_numpy(file[f"{name}/y"]).long()
    else:
        values, classes = load_wine(return_X_y=True)
        x, y = _standard(torch.tensor(values).float()), torch.tensor(classes).long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    return x[order], y[order]


def classes(name: str):
    """A function of a seed: a pair of columns and classes; a quarter of the rows is for the test."""

    def data(seed: int) -> Data:
        x, y = table(name, seed)
        n = len(x) // 4
        return Data((x[n:], y[n:]), (x[:n], y[:n]))

    return data


def mixed(name: str, categories: int = 3, levels: int = 4):
    """A function of a seed: the first columns as categories by quartiles, the others as numbers, and classes."""

    def data(seed: int) -> Data:
        x, y = table(name, seed)
        borders = torch.quantile(x[:, :categories], torch.linspace(0, 1, levels + 1)[1:-1], dim=0)
        categorical = (x[:, None, :categories] > borders).sum(1)
        n = len(x) // 4
        parts = [((categorical[rows], x[rows, categories:]), y[rows]) for rows in (slice(n, None), slice(0, n))]
        return Data(*parts)

    return data


def yes_or_no(seed: int) -> Data:
    """Breast cancer: columns, and 0 or 1 as a number (n, 1), for a network with one logit."""
    values, answers = load_breast_cancer(return_X_y=True)
    x, y = _standard(torch.tensor(values).float()), torch.tensor(answers).float()[:, None]
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    x, y = x[order], y[order]
    return Data((x[140:], y[140:]), (x[:140], y[:140]))


def diabetes(seed: int) -> Data:
    """Progress of diabetes in a year, standardized (n, 1)."""
    values, progress = load_diabetes(return_X_y=True)
    return _regression(values, progress, seed, 110)


def friedman(seed: int) -> Data:
    """Friedman's function of ten columns, five of them without influence, with noise (n, 1)."""
    values, targets = make_friedman1(3000, noise=0.5, random_state=seed)
    return _regression(values, targets, seed, 700)


def _regression(values, targets, seed: int, test: int) -> Data:
    x, y = _standard(torch.tensor(values).float()), _standard(torch.tensor(targets).float()[:, None])
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    x, y = x[order], y[order]
    return Data((x[test:], y[test:]), (x[:test], y[:test]))


def _standard(t: Tensor) -> Tensor:
    return (t - t.mean(0)) / t.std(0).clamp(min=1e-6)
