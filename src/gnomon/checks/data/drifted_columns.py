"""Finds the columns of a table whose distribution differs between train and test.

For each column, with the empirical distribution functions F of n training and G of m test values,

    D = max_t |F(t) - G(t)|,    P(D > d) <= 2 exp(-2 d^2 n m / (n + m)) approximately                             (1)

A column is named if D is large and its probability under equal distributions, times the number of columns, is tiny.

Hypotheses: independent rows.
Reference: [smirnov1948table].
"""

from collections.abc import Sequence
from math import exp

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["drifted_column_findings"]

MIN_DISTANCE = 0.25
"""Smallest D of (1) that is reported: at least a quarter of the rows would have to change."""
SIGNIFICANCE_LEVEL = 1e-5
"""False-alarm rate for all columns together."""
MAX_NAMED_COLUMNS = 5
"""Number of columns in the message."""
MAX_SHARE_OF_COLUMNS = 0.5
"""If more columns differ, the whole table was prepared differently and no column is to blame."""
MAX_COLUMNS = 500
"""Tables with more columns are not searched: they are pixels or spectra."""


def drifted_column_findings(
    x: Inputs, x_test: Inputs, *, names: Sequence[str] = ()
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports the columns of a table whose distribution differs between train and test.

    See equation (1) of the module docstring.
    False alarms: at most 1e-5 by the bound (1) and a union bound.
    Cost: a sort of each column.

    >>> import torch
    >>> g = torch.Generator().manual_seed(0)
    >>> x, z = torch.randn(500, 4, generator=g), torch.randn(300, 4, generator=g)
    >>> drifted_column_findings(x, z)
    ()
    >>> z[:, 2] = 1.8 * z[:, 2] + 3
    >>> drifted_column_findings(x, z)[0].values["columns"]
    '2 (mean 0.0169 -> 2.81)'
    """
    parts, parts_test = ([t for t in input_tensors(part) if t.is_floating_point()] for part in (x, x_test))
    if len(parts) != 1 or parts[0].dim() != 2 or not 2 <= parts[0].shape[1] <= MAX_COLUMNS:
        return ()
    table, other = parts[0].detach().cpu().double(), parts_test[0].detach().cpu().double()
    n, m, width = len(table), len(other), table.shape[1]
    distance = torch.stack([_largest_difference(table[:, j], other[:, j]) for j in range(width)])
    chance = [2 * exp(-2 * float(d) ** 2 * n * m / (n + m)) * width for d in distance]  # (1)
    moved = [j for j in range(width) if float(distance[j]) > MIN_DISTANCE and chance[j] < SIGNIFICANCE_LEVEL]
    if not moved or len(moved) > MAX_SHARE_OF_COLUMNS * width:
        return ()
    moved.sort(key=lambda j: -float(distance[j]))
    words = [
        f"{names[j] if names else j} (mean {float(table[:, j].mean()):.3g} -> {float(other[:, j].mean()):.3g})"
        for j in moved[:MAX_NAMED_COLUMNS]
    ]
    evidence = (Value("largest difference of distribution functions", float(distance.max())),)
    values = {"count": len(moved), "total": width, "columns": ", ".join(words)}
    return (Finding(kinds.DRIFTED_COLUMNS, "inputs", values, evidence, SIGNIFICANCE_LEVEL),)


def _largest_difference(a: Float[Tensor, " n"], b: Float[Tensor, " m"]) -> Tensor:
    """Returns the Kolmogorov-Smirnov statistic of two samples: the largest difference between their distribution
    functions.

    See equation (1) of the module docstring.
    """
    places = torch.cat([a, b]).unique()
    below = (torch.searchsorted(t.sort().values, places, right=True).double() / len(t) for t in (a, b))
    first, second = below
    return (first - second).abs().max()
