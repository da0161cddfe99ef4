"""Finds numbers that stand for "missing" in a table, such as -999, 9999, or -1 among larger values.

For each column, v is its smallest or largest value and the rest are all other values:

    gap = distance from v to the nearest other value > `MIN_GAP_IN_RANGES` * (range of the rest)                  (1)

A value that fills several rows exactly and lies so far outside is a code, not a measurement. Standardizing such a
column squeezes all real values together: with a share p of rows at distance d, the spread is about d sqrt(p (1 - p)).

Hypotheses: a table whose other values are numbers with many different values.
Reference: [little2019missing], chapter 1.

>>> import torch
>>> x = torch.rand(300, 2, generator=torch.Generator().manual_seed(0))
>>> sentinel_findings(x)
()
>>> x[::15, 1] = -999.0
>>> found = sentinel_findings(x)[0]
>>> found.values["column"], found.values["value"], found.values["rows"]
(1, -999.0, 20)
"""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["sentinel_findings"]

MIN_GAP_IN_RANGES = 2.0
"""Distance of the code from the other values, in ranges of these; equation (1). Rounded normal values stay below 0.5.
"""
MIN_ROWS = 5
"""Minimum number of rows with exactly this value."""
MIN_SHARE = 0.002
"""Minimum share of rows with exactly this value."""
MAX_SHARE = 0.6
"""Maximum share: with more, the value is the usual one."""
MIN_OTHER_VALUES = 10
"""Minimum number of different other values; with fewer, the column holds categories."""
MAX_COLUMNS = 2000
"""Tables with more columns are not searched: they are pixels or spectra."""


def sentinel_findings(x: Inputs, *, names: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Reports the table column whose code for missing values, such as -999, is the most extreme.

    See equation (1) of the module docstring.
    False alarms: none of 280 columns of normal, lognormal, exponential, Student (3), rounded and counted numbers.
    Cost: a sort of each column.

    >>> import torch
    >>> sentinel_findings(torch.tensor([0.0, 1.0] * 50)[:, None])               # categories
    ()
    """
    parts = [t for t in input_tensors(x) if t.is_floating_point()]
    if len(parts) != 1 or parts[0].dim() != 2 or parts[0].shape[1] > MAX_COLUMNS:
        return ()
    table = parts[0].detach().cpu().double()
    codes = {column: code for column in range(table.shape[1]) if (code := _code(table[:, column]))}
    if not codes:
        return ()
    column = max(codes, key=lambda place: codes[place][2])
    value, rows, gap, low, high = codes[column]
    values = {
        "column": names[column] if names else column, "value": value, "rows": rows, "examples": len(table),
        "low": low, "high": high, "columns": len(codes),
    }  # fmt: skip
    evidence = (Value("distance from other values, in ranges of these", gap), Value("rows with this value", rows))
    return (Finding(kinds.SENTINEL_VALUES, "inputs", values, evidence, 1e-4),)


def _code(column: Float[Tensor, " n"]) -> tuple[float, int, float, float, float] | None:
    """Finds a number that marks missing values in a column, such as -999; returns it with its count and its gap to
    other values.
    """
    values, counts = column.unique(return_counts=True)
    if len(values) <= MIN_OTHER_VALUES or not bool(values.isfinite().all()):
        return None
    found = None
    for place, rest in ((0, values[1:]), (-1, values[:-1])):
        rows, width = int(counts[place]), float(rest[-1] - rest[0])
        gap = float((rest[0] - values[0]) if place == 0 else (values[-1] - rest[-1])) / width
        often = rows >= MIN_ROWS and MIN_SHARE <= rows / len(column) <= MAX_SHARE
        if often and gap > MIN_GAP_IN_RANGES and (found is None or gap > found[2]):  # (1)
            found = (float(values[place]), rows, gap, float(rest[0]), float(rest[-1]))
    return found
