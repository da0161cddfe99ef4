"""Estimates from data how many steps back in a sequence the inputs lie that determine the targets.

    R^2(t) = share of the variance of x_t that the targets explain (of classes: between their means)       (1)
    lag = T - 1 - (the latest t with R^2(t) >= half of the largest), if the largest is beyond chance      (2)

Inputs that only matter together (parity, products) are unrelated one by one, so they give no lag.
Reference: [fisher1925statistical].
"""

from math import isfinite
from typing import Any

import torch
from scipy.stats import f as fisher
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.classes import are_classes

__all__ = ["lag_of_task"]

SIGNIFICANCE_LEVEL = 1e-4
"""Probability that unrelated data get a lag: the significance level of the test of the largest R^2 over positions."""
MIN_SHARE_OF_LARGEST = 0.5
"""A position counts if its R^2 is at least this share of the largest."""


@add_call_to_errors
def lag_of_task(x: Any, y: Tensor) -> int | None:
    """Returns how many steps back the inputs lie that determine the targets; None if no position matters beyond chance.

    See equation (2) of the module docstring.

    Args:
        x: sequences (n, times, features) of real numbers.
        y: classes (n,), or numbers (n, k).

    Hypotheses: examples are independent; features are nearly Gaussian within classes.
    Reference: [fisher1925statistical].
    Cost: one pass over the data.

    >>> x = torch.randn(200, 12, 2, generator=torch.Generator().manual_seed(0))
    >>> lag_of_task(x, (x[:, 3, 0] > 0).long())                                     # told at step 3 of 0 ... 11
    8
    """
    if not isinstance(x, Tensor) or x.dim() != 3 or not x.is_floating_point() or x.shape[1] < 2 or len(x) < 8:
        return None
    rows = x.detach().double().cpu().flatten(1)
    told = _table(y.detach().cpu())
    n, k = told.shape[0], int(torch.linalg.matrix_rank(told - told.mean(0)))
    if n <= k + 2 or k == 0:
        return None
    rows = rows - rows.mean(0)
    q = torch.linalg.svd(told - told.mean(0), full_matrices=False)[0][:, :k]
    total = rows.square().sum(0)
    shares = torch.where(
        total > 0, (q.T @ rows).square().sum(0) / total.clamp(min=1e-300), torch.zeros_like(total)
    )  # (1)
    best = float(shares.max().clamp(max=1 - 1e-12))
    ratio = best / k / ((1 - best) / (n - k - 1))
    if not isfinite(ratio) or float(fisher.sf(ratio, k, n - k - 1)) * rows.shape[1] > SIGNIFICANCE_LEVEL:
        return None
    by_time = shares.reshape(x.shape[1], -1).amax(1)
    last = int((by_time >= MIN_SHARE_OF_LARGEST * by_time.max()).nonzero()[-1])
    return x.shape[1] - 1 - last  # (2)


def _table(y: Tensor) -> Tensor:
    if are_classes(y):
        return torch.nn.functional.one_hot(torch.unique(y, return_inverse=True)[1]).double()
    return y.double().reshape(len(y), -1)
