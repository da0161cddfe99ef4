"""Finds columns of a table that are constant, repeat other columns, or have very different scales.

With the spreads s_j of the columns that vary, a network of usual initialization sees column j with weight s_j, and
gradient descent needs about

    (s_max / s_low)^2 steps,    s_low the lower quartile of the spreads                                       (1)

times as many steps for one column as for the other: the condition number of the inputs' covariance.

Hypotheses: inputs are one table (n, p) of real numbers.
Reference: [lecun1998efficient], section 4.3.

>>> import torch
>>> x = torch.randn(100, 4, generator=torch.Generator().manual_seed(0))
>>> column_statistics(x).findings, [f.kind for f in column_statistics(x * torch.tensor([1.0, 1.0, 1.0,
...     1000.0])).findings]
((), ['feature-scale'])
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.source import data_source
from gnomon.core.results import Finding, Result, Value
from gnomon.findings import data as kinds

__all__ = ["ColumnStatistics", "column_statistics"]

MAX_SPREAD_RATIO = 30.0
"""Ratio of column spreads at which (1) is a thousand."""
MAX_OFFSET_IN_SPREADS = 30.0
"""Distance of a column's mean from zero, in spreads, at which the column is a constant with a thousandth of signal,
squared."""
FAR_MEAN_IN_SPREADS = 3.0
"""Means count as far from zero beyond this many spreads of a typical column."""
MIN_SPREAD = 0.1
"""Spread of all columns below which a network with standard initialization hardly sees its inputs (small tables only).
"""
MAX_SPREAD = 10.0
"""Spread of all columns above which inputs dominate a network with standard initialization (small tables only)."""
MAX_TABLE_COLUMNS = 200
"""Columns up to which a constant or repeated column is reported; flattened images have constant pixels."""


@dataclass(frozen=True, slots=True)
class ColumnStatistics(Result):
    """Result: constant columns of a table, pairs of equal columns, and the range of the columns' standard deviations.

    ``offset`` is the largest distance of a mean from zero in units of the column's spread.
    ``filled``: some constant column is not zero; zeros are the borders of images. ``names`` has the names of all
    columns, if they are known.
    """

    count: int
    constant: tuple[int, ...]
    repeated: tuple[tuple[int, int], ...]
    largest: float
    low: float
    widest: int
    offset: float
    filled: bool = False
    names: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Says in one sentence whether the columns of the table have problems."""
        return (
            self.findings[0].message
            if self.findings
            else (f"The {self.count} input columns vary, differ from each other, and have similar scales.")
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns the problems found in the columns of a table, most serious first."""
        table = 1 < self.count <= MAX_TABLE_COLUMNS
        return (*self._scale(), *((*self._constant(), *self._find_repeated()) if table else ()))

    def _name(self, i: int) -> str:
        return f"'{self.names[i]}'" if len(self.names) == self.count else str(i)

    def _scale(self) -> tuple[Finding, ...]:
        evidence = (Value("largest spread of a column", self.largest), Value("lower quartile of spreads", self.low))
        ratio = self.largest / self.low if self.low > 0 else 1.0
        if ratio > MAX_SPREAD_RATIO:
            values = {"column": self._name(self.widest), "ratio": ratio}
            return (Finding(kinds.COLUMN_SCALE, "inputs", values, evidence),)
        if self.offset > MAX_OFFSET_IN_SPREADS:
            far = (Value("distance of the mean from zero, in standard deviations", self.offset),)
            return (Finding(kinds.COLUMN_OFFSET, "inputs", {"offset": self.offset}, far),)
        if self.count <= MAX_TABLE_COLUMNS and self.largest > 0 and not MIN_SPREAD <= self.largest <= MAX_SPREAD:
            word = "small" if self.largest < MIN_SPREAD else "large"
            return (Finding(kinds.ALL_COLUMNS_SCALE, "inputs", {"word": word, "largest": self.largest}, evidence),)
        return ()

    def _constant(self) -> tuple[Finding, ...]:
        if not self.constant:
            return ()
        names = ", ".join(map(self._name, self.constant[:5]))
        values = {"constant": len(self.constant), "total": self.count, "names": names}
        return (Finding(kinds.FILLED_COLUMNS if self.filled else kinds.CONSTANT_COLUMNS, "inputs", values),)

    def _find_repeated(self) -> tuple[Finding, ...]:
        if not self.repeated:
            return ()
        names = ", ".join(f"{self._name(i)} = {self._name(j)}" for i, j in self.repeated[:5])
        return (Finding(kinds.REPEATED_COLUMNS, "inputs", {"repeated": len(self.repeated), "names": names}),)


@add_call_to_errors
def column_statistics(data: Any, *, names: Sequence[str] = ()) -> ColumnStatistics:
    """Finds constant columns, repeated columns, and columns of very different scale in a table of inputs.

    ``data`` are inputs, or data in any form. ``names`` of all columns are said in place of their numbers.
    Inputs that are images, tokens or several tensors have no columns, and nothing is found in them. Thresholds are
    exact properties of the numbers given: false alarms by chance are impossible.

    Hypotheses: inputs are a table of real numbers.
    Reference: [lecun1998efficient].
    Cost: a pass over the table, and p^2 n multiplications for at most 200 columns.

    >>> column_statistics(torch.tensor([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 0.0]])).repeated
    ((0, 1),)
    """
    parts = list(input_tensors(data_source(data).whole().x))
    if len(parts) != 1 or parts[0].dim() != 2 or not parts[0].is_floating_point() or len(parts[0]) < 2:
        return ColumnStatistics(0, (), (), 0.0, 0.0, 0, 0.0)
    table = parts[0].detach().cpu().double()
    spread, mean = table.std(0, correction=0), table.mean(0)
    size = table.abs().max(0).values
    varies = spread > 1e-9 * size  # Columns that are constant up to float32 rounding have a relative spread of 1e-8.
    constant = tuple((~varies).nonzero()[:, 0].tolist())
    filled = bool((size[~varies] > 0).any())
    if not bool(varies.any()):
        return ColumnStatistics(table.shape[1], constant, (), 0.0, 0.0, 0, 0.0, filled, tuple(names))
    own = torch.where(varies, spread, 0.0)
    wide = table.shape[1] > MAX_TABLE_COLUMNS
    low = float(spread[varies].quantile(0.5 if wide else 0.25))
    far = varies & (mean.abs() > FAR_MEAN_IN_SPREADS * spread[varies].median())
    away = torch.where(far, mean.abs() / spread.clamp_min(1e-300), 0.0)
    repeated = () if wide else _repeat(table, mean, spread, varies)
    spreads = float(own.max()), low, int(own.argmax())
    return ColumnStatistics(table.shape[1], constant, repeated, *spreads, float(away.max()), filled, tuple(names))


def _repeat(table: Tensor, mean: Tensor, spread: Tensor, varies: Tensor) -> tuple[tuple[int, int], ...]:
    """Returns pairs of columns that repeat each other: their correlation is 1 or -1 up to rounding."""
    places = varies.nonzero()[:, 0]
    z = (table[:, places] - mean[places]) / spread[places]
    # Columns count as equal if 1 - |correlation| is below 1e-9; the square of float32 rounding is smaller.
    same = ((z.mT @ z / len(z)).abs() > 1 - 1e-9).triu(1)
    found: dict[int, int] = {}
    for i, j in same.nonzero().tolist():
        found.setdefault(int(places[j]), int(places[i]))
    return tuple((i, j) for j, i in found.items())
