"""Finds tables in which each row was standardized by its own mean and deviation.

Such rows have mean 0 and standard deviation 1 exactly, so that the level and the spread of an example are lost:

    max_i |mean of row i| < 1e-4,    max_i s_i - min_i s_i < 1e-3,    |mean of s_i - 1| < 0.2                      (1)

with the deviation s_i of row i.

Hypotheses: rows of five or more columns of a table.

>>> import torch
>>> x = torch.randn(60, 8, generator=torch.Generator().manual_seed(0))
>>> rows = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
>>> standardized_row_findings(rows)[0].kind, standardized_row_findings(x)
('standardized-rows', ())
"""

from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding
from gnomon.findings import data as kinds

__all__ = ["standardized_row_findings"]

MIN_COLUMNS = 5
"""Fewest columns."""
MIN_ROWS = 20
"""Fewest rows."""
MAX_MEAN = 1e-4
"""Largest mean of a standardized row, up to rounding."""
MAX_DEVIATION_FROM_ONE = 0.2
"""Largest distance of the deviation of a row from 1: with n instead of n - 1 it is not exactly 1."""
MAX_SPREAD_OF_DEVIATIONS = 1e-3
"""Largest difference of the deviations of two rows."""


def standardized_row_findings(x: Inputs) -> tuple[Finding, ...]:
    """Returns a finding if all rows of a table have mean 0 and the same standard deviation near 1.

    See equation (1) of the module docstring.
    Cost: one pass.

    >>> import torch
    >>> standardized_row_findings(torch.zeros(3, 2))
    ()
    """
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.is_floating_point():
        return ()
    if len(x) < MIN_ROWS or x.shape[1] < MIN_COLUMNS:
        return ()
    mean, deviation = x.detach().double().mean(1), x.detach().double().std(1)
    same = float(deviation.max() - deviation.min()) < MAX_SPREAD_OF_DEVIATIONS
    if float(mean.abs().max()) > MAX_MEAN or not same or abs(float(deviation.mean()) - 1) > MAX_DEVIATION_FROM_ONE:
        return ()
    return (Finding(kinds.STANDARDIZED_ROWS, "inputs", {"rows": len(x), "columns": x.shape[1]}, (), 0.0),)
