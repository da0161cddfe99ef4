"""Finds columns of row numbers, and tests whether row numbers predict the target because the data are sorted.

Row numbers of train and test together are the terms of an arithmetic progression, each at most once:

    all differences of neighbors are multiples of the smallest one, h, and (largest - smallest) / h < `MAX_GAPS` n   (1)

If rows were sorted or drift in time, and the split was random, the target of a test row is close to the targets of its
neighbors in train. The nearest training row in this column alone then removes most of the errors of guessing:

    saved = 1 - (error of the nearest row) / (error of guessing)                                                 (2)

With d the error of guessing minus the error of the nearest row, for each test row, chance saves as much with z = (sum
of d) / (root of the sum of d^2) about normal.

Hypotheses: the column was not rounded; test rows lie between training rows.
Reference: [kapoor2023leakage], L3.1; [kaufman2012leakage].
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["row_number_findings"]

MAX_GAPS = 1.6
"""Length of the progression over the number of rows: some rows may have been dropped."""
STEP_TOLERANCE = 0.02
"""Rounding of a difference, in steps."""
MIN_EXAMPLES = 100
"""Minimum number of rows in train and test together."""
MIN_SAVED = 0.3
"""Share (2) of the errors of guessing from which the column gives the target away."""
MIN_Z = 3.5
"""z-score of the saved errors; an unrelated row number exceeds it with probability 2e-4."""
MIN_BETWEEN = 0.8
"""Share of test rows that lie between training rows; with a split in time there are none."""
MAX_COLUMNS = 500
"""Tables with more columns are not searched: they are pixels or spectra."""


def row_number_findings(
    x: Inputs, y: Tensor, x_test: Inputs, y_test: Tensor, *, classes: int, names: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Reports a column of row numbers that alone predicts the target.

    See equations (1) and (2) of the module docstring.
    ``y`` are classes (n,), or numbers (n,) or (n, 1) if ``classes`` is 0.
    False alarms: 1e-3 for an unrelated row number; a column of independent numbers does not satisfy (1).
    Cost: a sort of each column.

    >>> import torch
    >>> g = torch.Generator().manual_seed(0)
    >>> x = torch.cat([torch.randn(400, 2, generator=g), torch.arange(400.0)[:, None]], 1)
    >>> y, order = (torch.arange(400) // 134), torch.randperm(400, generator=g)
    >>> a, b = order[:300], order[300:]
    >>> row_number_findings(x[a], y[a], x[b], y[b], classes=3)[0].values["column"]
    2
    >>> row_number_findings(x[a][:, :2], y[a], x[b][:, :2], y[b], classes=3)
    ()
    """
    parts, parts_test = ([t for t in input_tensors(part) if t.is_floating_point()] for part in (x, x_test))
    if len(parts) != 1 or parts[0].dim() != 2 or parts[0].shape[1] > MAX_COLUMNS:
        return ()
    table, other = parts[0].detach().cpu().double(), parts_test[0].detach().cpu().double()
    if len(table) + len(other) < MIN_EXAMPLES or (not classes and y.numel() != len(y)):
        return ()
    for column in range(table.shape[1]):
        own, test = table[:, column], other[:, column]
        if not _numbers_rows(torch.cat([own, test])):
            continue
        between = float(((test > own.min()) & (test < own.max())).double().mean())
        saved, z = _saved_by_nearest(own, y, test, y_test, classes)
        if between > MIN_BETWEEN and saved > MIN_SAVED and z > MIN_Z:
            values = {"column": names[column] if names else column, "saved": saved, "test": len(test)}
            return (Finding(kinds.ROW_NUMBER, "inputs", values, (Value("errors saved by the column", saved),), 1e-3),)
    return ()


def _numbers_rows(column: Float[Tensor, " n"]) -> bool:
    """Checks whether the values of a column are distinct and evenly spaced, as row numbers are.

    See equation (1) of the module docstring.
    """
    steps = column.sort().values.diff()
    if not bool(column.isfinite().all()) or float(steps.min()) <= 0:
        return False
    multiples = steps / steps.median()
    if float(column.max() - column.min()) / float(steps.median()) > MAX_GAPS * len(column):
        return False
    return bool(((multiples - multiples.round()).abs() < STEP_TOLERANCE * multiples.round().clamp_min(1)).all())


def _saved_by_nearest(own: Tensor, y: Tensor, test: Tensor, y_test: Tensor, classes: int) -> tuple[float, float]:
    """Tests whether row numbers predict the target: copies the target of the nearest row, and compares the error with
    guessing.

    See equation (2) of the module docstring.
    """
    nearest = (test[:, None] - own[None]).abs().argmin(1)
    y, y_test = y.detach().cpu().flatten(), y_test.detach().cpu().flatten()
    if classes:
        error, guess = (y[nearest] != y_test).double(), (y_test != y.mode().values).double()
    else:
        error = (y[nearest] - y_test).double().square()
        guess = (y_test - y.double().mean()).square()
    d = guess - error
    if not bool((guess > 0).any()) or not bool((d != 0).any()):
        return 0.0, 0.0
    return 1 - float(error.sum() / guess.sum()), float(d.sum() / d.square().sum().sqrt())  # (2)
