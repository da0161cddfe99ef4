"""Tables: rows of UCI and scikit-learn, and regression problems drawn from formulas."""

from functools import partial

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812

from evaluation.faults.data.split import SHARED_DATA, shuffled_split, split_at, standardize


def load_uci(name, seed=0):
    """A table of UCI from `uci90.npz`, three quarters for training."""
    with np.load(SHARED_DATA / "uci90.npz") as file:
        x, y = torch.from_numpy(file[f"{name}/x"]).float(), torch.from_numpy(file[f"{name}/y"]).long()
    return shuffled_split(x, y, seed)


def uci(name):
    """The function of a seed that loads a table of UCI."""
    return partial(load_uci, name)


def sklearn_table(name, seed=0, standardized=True, regression=False):
    """A table of scikit-learn, three quarters for training; ``regression`` standardizes the targets."""
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    x, y = torch.from_numpy(x).float(), torch.from_numpy(y)
    x = (x - x.mean(0)) / x.std(0).clamp_min(1e-6) if standardized else x
    return shuffled_split(x, standardize(y.float()) if regression else y.long(), seed)


def digits_8x8(seed=0):
    """Images of digits (1, 8, 8) with pixels in [0, 1], from scikit-learn."""
    return tuple((x.reshape(-1, 1, 8, 8) / 16.0, y) for x, y in sklearn_table("digits", seed, standardized=False))


def diabetes(standardized=True, seed=0):
    """The diabetes table of scikit-learn, 330 rows for training; optionally in the units of the file."""
    from sklearn.datasets import load_diabetes

    x, y = (torch.from_numpy(a).float() for a in load_diabetes(return_X_y=True))
    if standardized:
        x, y = standardize(x), standardize(y)
    return shuffled_split(x, y, seed, 330)


def smooth_regression(n=4000, m=1000, seed=0):
    """A smooth function of eight standardized columns, with noise."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, 8, generator=g)
    y = x[:, 0].sin() + x[:, 1] * x[:, 2] / 2 + 0.3 * x[:, 3] + 0.1 * torch.randn(n + m, generator=g)
    return split_at(x, standardize(y), n)


def house_prices(n=4000, m=1000, seed=0):
    """A regression that resembles house prices: skewed columns, an interaction, much noise; standardized."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, 8, generator=g)
    x[:, :3] = x[:, :3].exp()
    x = standardize(x)
    y = x[:, 0] + 0.5 * x[:, 1].tanh() * x[:, 5] + 0.7 * torch.randn(n + m, generator=g)
    return split_at(x, standardize(y), n)


def robot_arm(n=2500, m=600, seed=0, scale=(1.0, 1.0, 1.0)):
    """Four joint angles of a robot arm, and the position of its hand: three numbers."""
    g = torch.Generator().manual_seed(seed)
    q = 1.5 * torch.randn(n + m, 4, generator=g)
    a, b, c, d = q.T
    y = torch.stack([a.cos() + (a + b).cos(), a.sin() + (a + b).sin(), c.sin() * d.cos()], 1)
    y = y + 0.05 * torch.randn(y.shape, generator=g)
    return split_at(q, y * torch.tensor(scale), n)


def friedman(n=2000, m=500, seed=0, kind=1):
    """Friedman's first function, standardized, or the second in its own units; both with noise."""
    from sklearn.datasets import make_friedman1, make_friedman2

    make = make_friedman1 if kind == 1 else make_friedman2
    x, y = (torch.from_numpy(a).float() for a in make(n + m, noise=1.0, random_state=seed))
    if kind == 1:
        x, y = standardize(x), standardize(y)
    return split_at(x, y, n)


def call_counts(n=2500, m=600, seed=0):
    """Poisson counts with a mean of about two, from six columns."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, 6, generator=g)
    rate = (0.5 + 0.5 * x[:, 0] - 0.4 * x[:, 1] * (x[:, 2] > 0)).exp()
    return split_at(x, torch.poisson(rate, generator=g), n)


def ratings(n=6000, m=1500, seed=0, users=400, items=300):
    """Ids of users and items, and ratings from a product of hidden factors; standardized."""
    g = torch.Generator().manual_seed(seed)
    u, v = (0.9 * torch.randn(k, 3, generator=g) for k in (users, items))
    i, j = (torch.randint(0, k, (n + m,), generator=g) for k in (users, items))
    y = (u[i] * v[j]).sum(1) + 0.8 * u[i, 0] + 0.3 * torch.randn(n + m, generator=g)
    return split_at({"user": i, "item": j}, standardize(y), n)


def categorical_rows(n=2400, m=600, seed=0):
    """Four one-hot columns of three categories: many equal rows, whose labels are drawn at random."""
    g = torch.Generator().manual_seed(seed)
    c = torch.randint(0, 3, (n + m, 4), generator=g)
    score = torch.stack([c[:, 0] + c[:, 1], 2.0 * c[:, 2] + 0.5 * c[:, 1], 4.0 - c[:, 0] - 0.5 * c[:, 3]], 1)
    y = torch.multinomial((1.5 * score).softmax(1), 1, generator=g)[:, 0]
    return split_at(F.one_hot(c, 3).flatten(1).float(), y, n)


def rents(n=4000, m=1000, seed=0, raw=False):
    """Rents of flats: a district of 40, a kind of 6, and seven numbers; standardized unless ``raw``."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    district, kind = torch.randint(0, 40, (k,), generator=g), torch.randint(0, 6, (k,), generator=g)
    level, extra = torch.randn(40, generator=g), torch.randn(6, generator=g)
    size = (0.4 * torch.randn(k, generator=g) + 4.2).exp()
    year, floor = 1900 + 120 * torch.rand(k, generator=g), torch.poisson(torch.full((k,), 2.5), generator=g)
    others = torch.randn(k, 4, generator=g)
    y = (
        11 * size * (1 + 0.25 * level[district] + 0.1 * extra[kind])
        + 2 * (year - 1960).clamp(min=0)
        + 40 * others[:, 0]
    )
    y = y + 60 * torch.randn(k, generator=g)
    x = torch.cat([size[:, None], year[:, None], floor[:, None], others], 1)
    if not raw:
        x, y = standardize(x), standardize(y)
    return split_at({"category": torch.stack([district, kind], 1), "number": x}, y, n)


def rent_numbers(**options):
    """The numbers of the table of rents, without its categories."""
    return tuple((x["number"], y) for x, y in rents(**options))
