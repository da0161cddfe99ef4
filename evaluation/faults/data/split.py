"""Where the shared data files are, and how data are split into train and test."""

import os
from pathlib import Path

import torch

SHARED_DATA = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[4] / "shared")) / "data"
"""The folder with `mnist.npz` and `uci90.npz`; the environment variable GNOMON_SHARED overrides the default."""


def split_at(x, y, n):
    """The first n examples for training, the others for testing; x is a tensor, a tuple or a dict of tensors."""

    def rows(where):
        if isinstance(x, dict):
            return {name: values[where] for name, values in x.items()}, y[where]
        return (tuple(t[where] for t in x) if isinstance(x, tuple) else x[where]), y[where]

    return rows(slice(0, n)), rows(slice(n, None))


def shuffled_split(x, y, seed, n=None):
    """Shuffles the rows, then splits them at n, by default at three quarters."""
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    return split_at(x[order], y[order], len(x) * 3 // 4 if n is None else n)


def standardize(t):
    """Mean 0 and standard deviation 1 in each column."""
    return (t - t.mean(0)) / t.std(0)
