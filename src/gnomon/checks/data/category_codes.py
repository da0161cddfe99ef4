"""Finds columns of a table that hold category codes, such as the index of a city, but are used as numbers.

A column with few different values, equally spaced, may hold codes or quantities. Two models of this column alone
decide:

    by code    the mean target of the other rows with the same value                                            (1)
    by size    the best polynomial of degree 1 to `MAX_DEGREE` in the value, fitted by least squares    (2)

Both are judged on rows that they leave out, by the share of the variance of the targets that they explain. Quantities
are described by (2) about as well as by (1). Codes without order are not.

Hypotheses: several rows for each value; independent rows.
Reference: [hastie2009elements], sections 7.10 and 9.2.4.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["category_code_findings"]

CODE_COUNTS = (8, 300)
"""Fewest and most different values of a column of codes."""
MIN_ROWS_PER_CODE = 4.0
"""Minimum mean number of rows with one value."""
MAX_DEGREE = 6
"""Highest degree of the polynomials in (2); smooth dependence on a quantity needs less."""
MIN_GAIN = 0.15
"""Smallest difference in explained variance between (1) and (2) that matters."""
MAX_COLUMNS = 200
"""Tables with more columns are not searched."""


def category_code_findings(
    x: Inputs, y: Tensor, *, classes: int, names: Sequence[str] = ()
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports a column of numbers that predicts the targets well as a category but not as a quantity.

    See equations (1), (2) of the module docstring.
    ``y`` are classes (n,), or numbers (n,) or (n, k) if ``classes`` is 0.
    False alarms: none of 80 whole-number columns, unrelated to the target or related by a smooth function.
    Cost: six least-squares fits of at most seven coefficients for each column.

    >>> import torch
    >>> g = torch.Generator().manual_seed(0)
    >>> code = torch.randint(0, 30, (900,), generator=g)
    >>> x = torch.stack([code.float(), torch.randn(900, generator=g)], 1)
    >>> category_code_findings(x, torch.randn(30, generator=g)[code][:, None], classes=0)[0].values["codes"]
    30
    >>> category_code_findings(x, (code / 10.0).sin()[:, None], classes=0)         # a smooth function of a quantity
    ()
    """
    parts = [t for t in input_tensors(x) if t.is_floating_point()]
    if len(parts) != 1 or parts[0].dim() != 2 or parts[0].shape[1] > MAX_COLUMNS:
        return ()
    table, y = parts[0].detach().cpu().double(), y.detach().cpu()
    targets = torch.nn.functional.one_hot(y.long().flatten()).double() if classes else y.double().reshape(len(y), -1)
    best: tuple[float, int, int, float, float] | None = None
    for column in range(table.shape[1]):
        values, place = table[:, column].unique(return_inverse=True)
        if not _are_codes(values, len(table)):
            continue
        by_code, by_size = _explained_by_code(place, targets), _explained_by_size(table[:, column], targets)
        if by_code - by_size > MIN_GAIN and (best is None or by_code - by_size > best[0]):
            best = (by_code - by_size, column, len(values), by_code, by_size)
    if best is None:
        return ()
    _, column, codes, by_code, by_size = best
    values_of = {
        "column": names[column] if names else column, "codes": codes, "by_code": by_code, "by_size": max(by_size, 0.0),
    }  # fmt: skip
    evidence = (Value("explained by code", by_code), Value("explained by size", by_size))
    return (Finding(kinds.CATEGORY_CODES, "inputs", values_of, evidence, 1e-3),)


def _are_codes(values: Float[Tensor, " k"], rows: int) -> bool:
    """Returns whether a column could hold category codes: few distinct values with equal spacing, apart from gaps."""
    if not CODE_COUNTS[0] <= len(values) <= CODE_COUNTS[1] or rows < MIN_ROWS_PER_CODE * len(values):
        return False
    steps = values.diff()
    multiples = steps / steps.min()
    return bool(((multiples - multiples.round()).abs() < 0.02).all())


def _explained_by_code(place: Tensor, targets: Float[Tensor, "n k"]) -> float:
    """Returns the fraction of the target's variance that is explained by the mean target of each code (leave-one-out).

    See equation (1) of the module docstring.
    """
    counts = torch.bincount(place).double()
    sums = torch.zeros(len(counts), targets.shape[1], dtype=torch.float64).index_add_(0, place, targets)
    others = (counts[place] - 1)[:, None]
    mean = (targets.sum(0) - targets) / (len(targets) - 1)
    predicted = torch.where(others > 0, (sums[place] - targets) / others.clamp_min(1), mean)
    return _explained_share(predicted, targets)


def _explained_by_size(column: Float[Tensor, " n"], targets: Float[Tensor, "n k"]) -> float:
    """Returns the fraction of the target's variance that is explained by the best polynomial of a column
    (leave-one-out).

    See equation (2) of the module docstring.
    A rare value decides a polynomial of high degree alone, so lower degrees are tried as well.
    """
    t = 2 * (column - column.min()) / (column.max() - column.min()) - 1
    basis = torch.linalg.qr(torch.stack([t**power for power in range(MAX_DEGREE + 1)], 1))[0]
    best = -torch.inf
    for degree in range(1, MAX_DEGREE + 1):
        part = basis[:, : degree + 1]
        leverage = part.square().sum(1, keepdim=True)
        residual = (targets - part @ (part.mT @ targets)) / (1 - leverage).clamp_min(1e-9)
        best = max(best, _explained_share(targets - residual, targets))
    return best


def _explained_share(predicted: Tensor, targets: Tensor) -> float:
    total = float((targets - targets.mean(0)).square().sum())
    return 1 - float((predicted - targets).square().sum()) / total if total > 0 else 0.0
