"""Decides whether a plot shows any data, so that pages can leave out empty axes and uniform images."""

from collections.abc import Sequence
from math import isfinite

from gnomon.core.results import Band, Bars, Histogram, Image, Line, Plot, RangeMeter, Scatter

__all__ = ["plots_to_show", "shows_something"]

MIN_HISTOGRAM_BINS = 3
"""Minimum number of bins with counts: a histogram with fewer says no more than its sentence."""


def plots_to_show(plots: Sequence[Plot]) -> list[Plot]:
    """Returns the plots that show data, in their order.

    >>> plots_to_show(())
    []
    """
    return [plot for plot in plots if shows_something(plot)]


def shows_something(plot: Plot) -> bool:
    """Checks whether a plot shows data, and not only reference lines.

    Cost: one pass over the numbers.

    >>> from gnomon.core.results import Bars
    >>> shows_something(Plot("Sizes", (Bars("size", ("a",), (0.0,)),)))
    False
    """
    return any(_shows(mark) for mark in plot.marks)


def _shows(mark: object) -> bool:
    if isinstance(mark, Line | Scatter):
        if isinstance(mark, Line) and mark.style == "dotted" and len(mark.x) == 2:
            return False  # A dotted line of two points is only a reference value, such as "exact".
        points = {(x, y) for x, y in zip(mark.x, mark.y, strict=True) if isfinite(x) and isfinite(y)}
        return len(points) > 1
    if isinstance(mark, Band):
        return len(mark.x) > 1
    if isinstance(mark, Bars):
        return any(isfinite(value) and value != 0 for value in mark.values)
    if isinstance(mark, Histogram):
        return sum(count > 0 for count in mark.counts) >= MIN_HISTOGRAM_BINS
    if isinstance(mark, Image):
        values = {value for row in mark.values for value in row if isfinite(value)}
        return len(values) > 1
    return isinstance(mark, RangeMeter)
