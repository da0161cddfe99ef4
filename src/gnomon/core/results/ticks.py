"""Sets readable axis ticks: few, with plain numbers, on linear and logarithmic axes.

>>> [plain_number(v) for v in (0.005, 20, 12000, 1e-6, 3e7)]
['0.005', '20', '12,000', '10⁻⁶', '3·10⁷']
"""

from math import floor, log10
from typing import Any

from gnomon.core.results.plot import Bars, Image, Line, Plot, RangeMeter, Scatter

__all__ = ["mark_ticks", "plain_number", "widen_flat_axes"]

TICK_COUNT = 6
"""Approximate number of ticks on an axis."""
MIN_LOG_DECADES = 0.5
"""A logarithmic axis over fewer decades gets linear ticks."""
MAX_TICKED_DECADES = 2.3
"""A logarithmic axis over fewer decades gets ticks at 1, 2, 5, 10."""
MIN_LOG_RATIO = 1.5
"""Smallest ratio of the ends of a logarithmic y axis; a smaller one makes noise look like progress."""
MIN_LINEAR_SPAN = 0.05
"""Smallest length of a linear y axis, relative to its largest value, for the same reason."""
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
    """Sets the axis ticks of a plot; ``whole`` makes the ticks of the x axis whole numbers.

    >>> from matplotlib.figure import Figure
    >>> from gnomon.core.results.plot import Line
    >>> ax = Figure().subplots()
    >>> mark_ticks(ax, Plot("Loss", (Line("a", (1, 2), (1, 2)),)), whole=True)
    >>> ax.xaxis.get_major_locator()._integer
    True
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    named = any(isinstance(mark, Bars | RangeMeter) for mark in plot.marks)
    labeled = [mark for mark in plot.marks if isinstance(mark, Image)]
    cells = any(mark.extent is None for mark in labeled)
    for axis in (ax.xaxis, ax.yaxis):
        if any(mark.columns if axis is ax.xaxis else mark.rows for mark in labeled):
            continue  # The ticks of this axis already name the rows or columns of a matrix.
        if axis is ax.yaxis and named:
            continue  # This axis of a bar chart or a gauge shows names or nothing, but no numbers.
        if axis.get_scale() != "log":
            axis.set_major_locator(
                MaxNLocator(TICK_COUNT, integer=cells or (whole and axis is ax.xaxis), steps=[1, 2, 2.5, 5, 10])
            )
        else:
            low, high = axis.get_view_interval()
            decades = log10(high / low) if 0 < low < high else MAX_TICKED_DECADES
            fine = (
                LogLocator(subs=(1.0, 2.0, 5.0), numticks=TICK_COUNT)
                if decades < MAX_TICKED_DECADES
                else LogLocator(numticks=TICK_COUNT)
            )
            axis.set_major_locator(MaxNLocator(TICK_COUNT) if decades < MIN_LOG_DECADES else fine)
            axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))


def widen_flat_axes(ax: Any, plot: Plot) -> None:
    """Widens the y range if curves are nearly constant, so that rounding errors and noise do not fill the plot.

    Axes with limits of their own keep them.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = ax.plot([1, 2], [2.3020, 2.3024])
    >>> widen_flat_axes(ax, Plot("Loss", (Line("a", (1, 2), (2.3020, 2.3024)),)))
    >>> [round(float(end), 2) for end in ax.get_ylim()]
    [2.24, 2.36]
    """
    if plot.y.limits is not None or not any(isinstance(mark, Line | Scatter) for mark in plot.marks):
        return
    low, high = ax.get_ylim()
    if not low < high:
        return
    middle = (low + high) / 2
    if ax.get_yscale() == "log":
        if high / low < MIN_LOG_RATIO:
            center = (low * high) ** 0.5
            ax.set_ylim(center / MIN_LOG_RATIO**0.5, center * MIN_LOG_RATIO**0.5)
    elif high - low < MIN_LINEAR_SPAN * max(abs(low), abs(high)):
        half = MIN_LINEAR_SPAN * max(abs(low), abs(high)) / 2
        ax.set_ylim(middle - half, middle + half)
