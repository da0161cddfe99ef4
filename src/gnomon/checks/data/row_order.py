"""Finds training rows that are sorted by their target, and columns whose values rise or fall along the rows.

In rows of random order, neighbors have the same class as often as any two rows, and numbers do not depend on the place:

    z = (e - n p) / sqrt(n p (1 - p)),    e = neighbors of one class, p = sum over classes of (share)^2       (1)
    z = rho sqrt(n - 1),                  rho = rank correlation of the numbers with the number of the row    (2)

A loader that does not shuffle sorted rows makes batches of one class. Rows that drift were probably recorded in time:
after a random split, test rows lie between training rows.

Hypotheses: rows are given in the order of the data set.
Reference: [spearman1904proof] for (2).

>>> y = torch.arange(300) // 100
>>> row_order_findings(torch.rand(300, 2), y, in_order=False)[0].kind
'row-order'
>>> row_order_findings(torch.rand(300, 2), y[torch.randperm(300)], in_order=False)
()
"""

from collections.abc import Sequence
from math import sqrt

import torch
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import loading as kinds

__all__ = ["row_order_findings"]

MIN_EXAMPLES = 60
"""Fewest rows."""
MIN_Z = 6.0
"""z-score of (1) and (2); false-alarm rate 2e-9 for each column."""
MIN_SAME_NEIGHBORS = 0.9
"""Share of neighbors with one class in sorted rows."""
MIN_SORTED_CORRELATION = 0.95
"""Rank correlation (2) of sorted targets."""
MIN_DRIFT_CORRELATION = 0.5
"""Rank correlation (2) of a column that drifts."""
MAX_COLUMNS = 100
"""Tables with more columns are not searched: they are pixels or spectra."""


def row_order_findings(x: Inputs, y: Tensor, *, in_order: bool, names: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Reports a problem if rows are sorted by their target, or if a column or the target rises or falls along the rows.

    ``in_order`` says that training takes the rows in this order, which makes sorted rows a problem.
    False alarms: 0 of 400 shuffled tables.
    Cost: a sort of each column.

    >>> row_order_findings(torch.arange(100.0)[:, None], torch.rand(100, 1), in_order=False)[0].values["column"]
    'column 0'
    """
    n = len(y)
    if n < MIN_EXAMPLES or (y.is_floating_point() and y.numel() != n) or (not y.is_floating_point() and y.dim() != 1):
        return ()
    target = y.detach().cpu().reshape(-1)
    if _is_sorted(target):
        row = kinds.SORTED_BATCHES if in_order else kinds.SORTED_ROWS
        return (Finding(row, "labels", {"examples": n}, (), 2e-9),)
    drifting = [] if not target.is_floating_point() else [("the target", _correlation(target.double()))]
    parts = [t for t in input_tensors(x) if t.is_floating_point()]
    if len(parts) == 1 and parts[0].dim() == 2 and parts[0].shape[1] <= MAX_COLUMNS:
        table = parts[0].detach().cpu().double()
        labels = [names[j] if names else f"column {j}" for j in range(table.shape[1])]
        drifting += [(labels[j], _correlation(table[:, j])) for j in range(table.shape[1])]
    drifting = [
        (name, rho) for name, rho in drifting if abs(rho) > MIN_DRIFT_CORRELATION and abs(rho) * sqrt(n - 1) > MIN_Z
    ]
    if not drifting:
        return ()
    name, rho = max(drifting, key=lambda pair: abs(pair[1]))
    values = {"column": name, "rho": rho, "count": len(drifting), "examples": n}
    return (Finding(kinds.ROWS_DRIFT, "inputs", values, (Value("rank correlation with the row number", rho),), 2e-7),)


def _is_sorted(target: Tensor) -> bool:
    """Checks whether targets are sorted: neighboring rows nearly always have the same class, or numbers rise or fall
    steadily.
    """
    if target.is_floating_point():
        return abs(_correlation(target.double())) > MIN_SORTED_CORRELATION
    shares = torch.bincount(target - target.min()).double() / len(target)
    p, pairs = float(shares.square().sum()), len(target) - 1
    same = float((target[1:] == target[:-1]).double().mean())
    if p >= 1:
        return False
    return same >= MIN_SAME_NEIGHBORS and (same - p) * sqrt(pairs) / sqrt(p * (1 - p)) > MIN_Z  # (1)


def _correlation(column: Tensor) -> float:
    """Returns the rank correlation of a column with the row number; 0 for a constant column."""
    n = len(column)
    values, places = column.unique(return_inverse=True)
    if len(values) < 2:
        return 0.0
    counts = torch.bincount(places).double()
    ranks = (counts.cumsum(0) - (counts - 1) / 2)[places]  # Equal values get the mean of their ranks.
    rows = torch.arange(1, n + 1, dtype=torch.float64)
    ranks, rows = ranks - ranks.mean(), rows - rows.mean()
    return float((ranks * rows).sum() / (ranks.norm() * rows.norm()))  # (2)
