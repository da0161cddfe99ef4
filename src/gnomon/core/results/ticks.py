"""Sets readable axis ticks: few of them, with plain numbers, also on logarithmic axes.

>>> [plain_number(v) for v in (0.005, 20, 12000, 1e-6, 3e7)]
['0.005', '20', '12,000', '10⁻⁶', '3·10⁷']
"""

from math import floor, log10
from typing import Any

from gnomon.core.results.plot import Bars, Plot, RangeMeter

__all__ = ["mark_ticks", "plain_number"]

TICK_COUNT = 6
"""Approximate number of ticks on an axis."""
MIN_LOG_DECADES = 0.5
"""A logarithmic axis over fewer decades gets linear ticks."""
MAX_TICKED_DECADES = 1.7
"""A logarithmic axis over fewer decades gets ticks at 1, 2, 5, 10."""
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def plain_number(value: float) -> str:
    """Formats a number with commas, or as a power of ten if it is very small or very large.

    >>> plain_number(0.25)
    '0.25'
    """
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{value:,.10g}"
    power = floor(log10(abs(value)) + 1e-9)
    factor = float(f"{value / 10**power:.3g}")
    raised = f"10{str(power).translate(RAISED)}"
    return raised if factor == 1 else f"{factor:g}·{raised}"


def mark_ticks(ax: Any, plot: Plot, *, whole: bool) -> None:
    """Sets the ticks of matplotlib axes; ``whole``: x counts something.

    >>> from matplotlib.figure import Figure
    >>> from gnomon.core.results.plot import Line
    >>> ax = Figure().subplots()
    >>> mark_ticks(ax, Plot("Loss", (Line("a", (1, 2), (1, 2)),)), whole=True)
    >>> ax.xaxis.get_major_locator()._integer
    True
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    named = any(isinstance(mark, Bars | RangeMeter) for mark in plot.marks)
    for axis in (ax.xaxis, ax.yaxis):
        if axis is ax.yaxis and named:
            continue  # the ticks are words, or the axis has none
        if axis.get_scale() != "log":
            axis.set_major_locator(
                MaxNLocator(TICK_COUNT, integer=whole and axis is ax.xaxis, steps=[1, 2, 2.5, 5, 10])
            )
        else:
            low, high = axis.get_view_interval()
            decades = log10(high / low) if 0 < low < high else MAX_TICKED_DECADES
            fine = (
                LogLocator(subs=(1.0, 2.0, 5.0), numticks=TICK_COUNT)
                if decades < MAX_TICKED_DECADES
                else LogLocator(numticks=TICK_COUNT)
            )
            axis.set_major_locator(MaxNLocator(TICK_COUNT - 2) if decades < MIN_LOG_DECADES else fine)
            axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
