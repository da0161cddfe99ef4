"""Labels the curves of a plot: at the end of each curve if there is space, otherwise in a legend."""

from math import isfinite
from typing import Any

from gnomon.core.results.plot import Bars, Image, Line, Plot, RangeMeter, Reference

__all__ = ["SMALL_TEXT", "label_curves"]

MIN_DISTANCE_OF_LABELS = 0.07
"""Smallest distance of two labels, as a share of the height of the axes."""
MIN_SPACE_AT_THE_LEFT = 0.06
"""A vertical line closer to the left edge, as a share of the width, gets its name on its right."""
MAX_DIRECT_CHARACTERS = 18
"""Maximum number of characters of a label at the end of a curve; longer ones take too much of the picture."""
SMALL_TEXT = 9.5
"""Size of words and numbers inside the axes in points: a little smaller than the axes, and readable on a phone."""
MAX_DIRECT_LABELS = 5
"""Maximum number of labels at the ends of curves."""


def label_curves(ax: Any, plot: Plot) -> None:
    """Labels the curves and other elements of a plot on matplotlib axes; a single curve needs no label.

    Cost: less than a millisecond, and the legend if there is one.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> curves = [ax.plot([1, 2], [0, height], label=name)[0] for name, height in (("a", 1), ("b", 2))]
    >>> label_curves(ax, Plot("P", (Line("a", (1, 2), (0, 1)), Line("b", (1, 2), (0, 2)))))
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b']
    """
    named = [mark for mark in plot.marks if mark.name and not isinstance(mark, Image | Bars | RangeMeter)]
    lines = [mark for mark in named if isinstance(mark, Reference)]
    curves = [mark for mark in named if not isinstance(mark, Reference)]
    handles, names = ax.get_legend_handles_labels()
    drawn = dict(zip(names, handles, strict=True))
    picture = any(isinstance(mark, Image) for mark in plot.marks)
    alone = len(named) < 2 and not picture  # The axes name a single curve, but not a mark on a picture.
    listed = [] if alone or _label_ends(ax, plot, curves, drawn) else [mark.name for mark in curves]
    if _overlap(ax, lines):
        listed += [mark.name for mark in lines]
    else:
        for mark in lines:
            _label_reference(ax, mark)
    shown = [name for name in dict.fromkeys(listed) if name in drawn]
    if shown:
        ax.legend([drawn[name] for name in shown], shown, frameon=picture)


def _label_ends(ax: Any, plot: Plot, curves: list[Any], drawn: dict[str, Any]) -> bool:
    """Writes names at the right ends of curves; returns False without writing if the names would overlap."""
    if len(curves) < 2 or len(curves) > MAX_DIRECT_LABELS or not all(isinstance(mark, Line) for mark in curves):
        return False
    ends = []
    for mark in curves:
        points = [(x, y) for x, y in zip(mark.x, mark.y, strict=True) if isfinite(x) and isfinite(y)]
        if len(points) < 2 or len(mark.name) > MAX_DIRECT_CHARACTERS or mark.name not in drawn:
            return False
        ends.append(max(points, key=lambda point: point[0]))
    ax.get_ylim()  # Reading the limits makes matplotlib compute them now.
    (low, high), (left, right) = sorted(ax.get_ylim()), sorted(ax.get_xlim())
    if any(not (low <= y <= high and left <= x <= right) for x, y in ends):
        return False
    places = sorted(_place(ax, x, y) for x, y in ends)
    if any(b - a < MIN_DISTANCE_OF_LABELS for a, b in zip(places, places[1:], strict=False)):
        return False
    for mark, end in zip(curves, ends, strict=True):
        color = drawn[mark.name].get_color()
        ax.annotate(
            mark.name, end, xytext=(5, 0), textcoords="offset points", va="center", color=color, annotation_clip=False
        )
    return True


def _place(ax: Any, x: float, y: float) -> float:
    """Converts a point of a plot to its vertical position, as a fraction of the axes' height."""
    return float(ax.transAxes.inverted().transform(ax.transData.transform((x, y)))[1])


def _overlap(ax: Any, lines: list[Reference]) -> bool:
    """Checks whether the names of reference lines in a plot would overlap."""
    for vertical in (False, True):
        same = [mark.at for mark in lines if mark.vertical is vertical and isfinite(mark.at)]
        ends = ax.get_xlim() if vertical else ax.get_ylim()
        scale = (ax.xaxis if vertical else ax.yaxis).get_transform().transform
        places = sorted(float(scale([at])[0]) for at in same)
        low, high = sorted(float(end) for end in scale(list(ends)))
        close = MIN_DISTANCE_OF_LABELS * (high - low)
        if any(b - a < close for a, b in zip(places, places[1:], strict=False)):
            return True
    return False


def _label_reference(ax: Any, mark: Reference) -> None:
    """Writes the name of a reference line next to it: above its right end, or left of its upper end if vertical."""
    color = ax.xaxis.label.get_color()
    style = {"fontsize": SMALL_TEXT, "textcoords": "offset points", "color": color, "alpha": 0.85, "in_layout": False}
    if not mark.vertical:
        place = {"xy": (1, mark.at), "xycoords": ax.get_yaxis_transform(), "xytext": (-3, 3)}
        ax.annotate(mark.name, **place, ha="right", va="bottom", **style)
        return
    left = _share(ax, mark.at) < MIN_SPACE_AT_THE_LEFT
    place = {"xy": (mark.at, 1), "xycoords": ax.get_xaxis_transform(), "xytext": (3 if left else -3, -3)}
    ax.annotate(mark.name, **place, ha="left" if left else "right", va="top", rotation=90, **style)


def _share(ax: Any, x: float) -> float:
    """Converts an x value of a plot to its horizontal position, as a fraction of the axes' width."""
    return float(ax.transAxes.inverted().transform(ax.transData.transform((x, ax.get_ylim()[1])))[0])
