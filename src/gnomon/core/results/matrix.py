"""Draws a matrix with matplotlib: square cells, a color bar, labels of rows and columns, numbers in the cells."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from gnomon.core.results.labels import SMALL_TEXT
from gnomon.core.results.plot import Image

__all__ = ["draw_matrix", "row_shares"]

MAX_SIDE_RATIO = 8
"""Largest ratio of the sides at which cells are square; a longer matrix is stretched."""
ONE_SIGN = "Blues"
"""Color map of numbers of one sign: dark is large, also in gray."""
TWO_SIGNS = "RdBu_r"
"""Color map of numbers of both signs: white is zero."""
DARK_CELL = 0.55
"""Share of the scale above which a cell is dark, so that its number is written in white."""
MAX_UPRIGHT_CHARACTERS = 24
"""Maximum number of characters of all column labels that are written upright."""
UNDER_OPACITY = 0.45
"""Opacity of the gray picture under a matrix."""
CONTOUR_LEVELS = 10
"""Approximate number of contours."""
SMALL_CELLS = 30
"""Number of digits along a side above which numbers are written small."""


def draw_matrix(ax: Any, mark: Image) -> None:
    """Draws a matrix as colored cells on matplotlib axes.

    Cost: one rectangle for each cell.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> draw_matrix(ax, Image("examples", [[3, 1], [0, 4]], rows=("cat", "dog"), columns=("cat", "dog"), written=True))
    >>> [label.get_text() for label in ax.texts]
    ['3', '1', '', '4']
    """
    from matplotlib.cm import ScalarMappable

    values = [value for row in mark.values for value in row if isfinite(value)]
    if not values:
        return
    low, high = min(values), max(values)
    if mark.centered:
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    colored = mark.values
    if mark.written:
        colored, low, high = row_shares(mark.values), 0.0, 1.0
    rows, columns = len(mark.values), len(mark.values[0]) if mark.values else 0
    square = max(rows, columns) <= MAX_SIDE_RATIO * min(rows, columns)
    colors = TWO_SIGNS if mark.centered else ONE_SIGN if mark.written else "viridis"
    style: dict[str, Any] = {"interpolation": "nearest", "aspect": "equal" if square else "auto", "extent": mark.extent}
    if mark.under:
        ax.imshow(mark.under, cmap="gray", alpha=UNDER_OPACITY, **style)
        style["alpha"] = [[_opacity(value, high) for value in row] for row in mark.values]
    shown = ax.imshow(colored, cmap=colors, vmin=low, vmax=high, **style)
    ax.grid(visible=False)
    if mark.rows:
        ax.set_yticks(range(rows), mark.rows)
    if mark.columns:
        long = sum(map(len, mark.columns)) > MAX_UPRIGHT_CHARACTERS
        ax.set_xticks(range(columns), mark.columns, rotation=60 if long else 0, ha="right" if long else "center")
    for axis, words in (("x", mark.columns), ("y", mark.rows)):
        if "" in words:  # Only some of the rows or columns have a name.
            ax.tick_params(axis=axis, length=0)
    if mark.contours and low < high:
        _draw_contours(ax, mark)
    if mark.written:
        _write_numbers(ax, mark, colored)
    elif low < high and ax.figure is not None:
        ax.figure.colorbar(ScalarMappable(shown.norm, shown.cmap), ax=ax, label=mark.name, shrink=0.85)
    else:
        ax.text(0.5, 0.5, f"{mark.name}: {low:.3g} everywhere", transform=ax.transAxes, ha="center", va="center",
                bbox={"facecolor": "#ffffff", "edgecolor": "none"}, color="#1b1e24")  # fmt: skip


def _opacity(value: float, high: float) -> float:
    """Returns the opacity of a matrix cell in a plot: 0 for zero, 1 for the largest value."""
    return min(1.0, abs(value) / (high or 1.0)) if isfinite(value) else 0.0


def _draw_contours(ax: Any, mark: Image) -> None:
    """Draws contour lines of a matrix over its cells."""
    rows, columns = len(mark.values), len(mark.values[0])
    if min(rows, columns) < 2:
        return
    left, right, low, high = mark.extent or (-0.5, columns - 0.5, rows - 0.5, -0.5)
    x = [left + (right - left) * (j + 0.5) / columns for j in range(columns)]
    y = [high + (low - high) * (i + 0.5) / rows for i in range(rows)]
    ax.contour(x, y, mark.values, levels=CONTOUR_LEVELS, colors="white", linewidths=0.7, alpha=0.8)


def row_shares(values: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """Returns each number of a matrix divided by the sum of its row; zeros in rows of zeros.

    >>> row_shares([[3, 1], [0, 0]])
    ((0.75, 0.25), (0.0, 0.0))
    """
    return tuple(tuple(value / (sum(map(abs, row)) or 1.0) for value in row) for row in values)


def _write_numbers(ax: Any, mark: Image, shares: Sequence[Sequence[float]]) -> None:
    digits = max(len(f"{value:,.0f}") for row in mark.values for value in row)
    size = 7.5 if digits * len(mark.values) > SMALL_CELLS or len(mark.values) > 10 else SMALL_TEXT
    for i, row in enumerate(mark.values):
        for j, value in enumerate(row):
            dark = shares[i][j] > DARK_CELL
            words = f"{value:,.0f}" if value else ""
            ax.text(j, i, words, ha="center", va="center", fontsize=size, color="#ffffff" if dark else "#1b1e24")
