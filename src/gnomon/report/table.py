"""Defines tables of a report, such as one row for each layer, whose columns may show small bars.

>>> sizes = PageTable("Layers", ("layer", "parameters"), (("0 Linear", 650), ("2 Linear", 20)), bars=("parameters",))
>>> sizes.bar_lengths("parameters")
(1.0, 0.03076923076923077)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10

from gnomon.core.results.record import Record

__all__ = ["Cell", "PageTable"]

Cell = str | int | float | None
"""A word, a number, or None if the number is not known."""


@dataclass(frozen=True, slots=True)
class PageTable(Record):
    """A report's table of words and numbers under named columns.

    ``bars`` are columns of positive numbers with a small bar in each cell; for columns in ``logarithmic`` the length of
    the bar is the logarithm, from the smallest to the largest number. ``percent`` are columns of shares.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    bars: Sequence[str] = ()
    logarithmic: Sequence[str] = ()
    percent: Sequence[str] = ()
    caption: str = ""

    def __post_init__(self) -> None:
        for name in ("columns", "bars", "logarithmic", "percent"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "rows", tuple(tuple(row) for row in self.rows))

    def bar_lengths(self, column: str) -> tuple[float | None, ...]:
        """Returns the lengths of the bars in a table column, from 0 to 1; None for cells without a positive number."""
        place = list(self.columns).index(column)
        numbers = [_positive(row[place]) for row in self.rows]
        known = [number for number in numbers if number is not None]
        if not known:
            return tuple(None for _ in numbers)
        if column not in self.logarithmic:
            return tuple(None if number is None else number / max(known) for number in numbers)
        low, high = log10(min(known)), log10(max(known))
        return tuple(None if number is None else _between(log10(number), low, high) for number in numbers)


def _between(value: float, low: float, high: float) -> float:
    """Returns the relative position of a value between two others, from 0.05 to 1, as the length of a bar."""
    return 1.0 if high <= low else 0.05 + 0.95 * (value - low) / (high - low)


def _positive(cell: Cell) -> float | None:
    known = isinstance(cell, int | float) and isfinite(cell) and cell > 0
    return float(cell) if known and not isinstance(cell, str) and cell is not None else None
