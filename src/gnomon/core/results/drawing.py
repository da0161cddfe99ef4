"""Draws plots with matplotlib, with one function for each kind of mark (line, bars, histogram, ...).

>>> import matplotlib
>>> matplotlib.use("agg")
>>> from gnomon.core.results.plot import Axis, Line, Plot
>>> ax = draw(Plot("Loss", (Line("train", (1, 10), (1.0, 0.1)),), Axis("step", log=True), Axis("loss", log=True)))
>>> ax.get_xscale(), ax.get_title()
('log', 'Loss')
"""

from collections.abc import Callable, Sequence
from math import isfinite
from os.path import commonprefix
from typing import Any

from gnomon.core.results.matrix import draw_matrix
from gnomon.core.results.plot import Band, Bars, Histogram, Image, Line, Mark, Plot, RangeMeter, Reference, Scatter
from gnomon.core.results.ticks import mark_ticks, widen_flat_axes

__all__ = ["COLORS", "draw"]

COLORS = ("#b5367a", "#2f62a8", "#b57508", "#2f7d4b", "#6a6f7a")
"""Colors of the marks in order; the HTML report replaces them with the colors of its light or dark theme."""
MAX_LABEL_CHARACTERS = 30
"""Maximum number of characters in the label of a bar."""
MAX_LARGE_POINTS = 60
"""Maximum number of points that are drawn large."""
STYLES = {"solid": "-", "dashed": "--", "dotted": ":"}


def draw(plot: Plot, ax: Any = None) -> Any:
    """Draws a plot on matplotlib axes (new ones if none are given) and returns them.

    Cost: about 20 ms, and the import of matplotlib.

    >>> from gnomon.core.results.plot import Bars, Plot
    >>> len(draw(Plot("Sizes", (Bars("size", ("a", "b"), (1, 2)),))).patches)
    2
    """
    if ax is None:
        from matplotlib import pyplot as plt  # slow to import

        ax = plt.subplots(layout="constrained")[1]
    for i, mark in enumerate(plot.marks):
        own = mark.color if isinstance(mark, Line | Scatter) else None
        DRAWN[type(mark)](ax, mark, COLORS[(i if own is None else own) % len(COLORS)])
    ax.set(title=plot.title)
    for axis, drawn, set_scale, set_limits in (
        (plot.x, ax.xaxis, ax.set_xscale, ax.set_xlim),
        (plot.y, ax.yaxis, ax.set_yscale, ax.set_ylim),
    ):
        drawn.set_label_text(axis.label)
        # matplotlib cannot draw a logarithmic axis without a positive number
        if axis.log and isfinite(drawn.get_minpos()):
            set_scale("log")
        if axis.limits is not None:
            set_limits(*axis.limits)
    widen_flat_axes(ax, plot)
    mark_ticks(ax, plot, whole=_whole(plot))
    named = [mark for mark in plot.marks if mark.name and not isinstance(mark, Image | Bars | RangeMeter)]
    if len(named) > 1 or any(isinstance(mark, Reference) for mark in named):
        ax.legend()
    return ax


def _whole(plot: Plot) -> bool:
    """Whether the x axis counts something, such as layers, steps or errors, so that its ticks are whole numbers."""
    curves = [mark.x for mark in plot.marks if isinstance(mark, Line | Scatter | Band)]
    curves += [mark.values for mark in plot.marks if isinstance(mark, Bars) and max(mark.values, default=0) > 1]
    return bool(curves) and all(x == round(x) for xs in curves for x in xs if isfinite(x)) and plot.x.limits is None


def _finite(*columns: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Drops all rows that contain NaN or infinity, and returns the rest as columns."""
    rows = [row for row in zip(*columns, strict=True) if all(map(isfinite, row))]
    return list(zip(*rows, strict=True)) if rows else [() for _ in columns]


def _line(ax: Any, mark: Line, color: str) -> None:
    ax.plot(*_finite(mark.x, mark.y), STYLES[mark.style], color=color, label=mark.name)


def _scatter(ax: Any, mark: Scatter, color: str) -> None:
    size = 9 if len(mark.x) <= MAX_LARGE_POINTS else 5
    ax.plot(*_finite(mark.x, mark.y), ".", markersize=size, color=color, label=mark.name)
    if mark.low:
        ax.vlines(*_finite(mark.x, mark.low, mark.high), color=color, linewidth=1)


def _band(ax: Any, mark: Band, color: str) -> None:
    ax.fill_between(*_finite(mark.x, mark.low, mark.high), color=color, alpha=0.25, linewidth=0, label=mark.name)


def _bars(ax: Any, mark: Bars, color: str) -> None:
    places = range(len(mark.labels))
    ax.barh(places, list(mark.values), color=color, label=mark.name)
    ax.set_yticks(places, _short(mark.labels))
    ax.invert_yaxis()  # matplotlib starts at the bottom; the first label belongs on top


def _short(labels: Sequence[str]) -> list[str]:
    """Shortens the labels of bars: removes the part of the path that all share, then the beginning.

    >>> _short(["encoder.layers.0.self_attn head 1", "encoder.layers.1.self_attn head 1"])
    ['0.self_attn head 1', '1.self_attn head 1']
    >>> _short(["head", "encoder.layers.0.self_attn.out_proj Linear"])
    ['head', '…s.0.self_attn.out_proj Linear']
    """
    if max(map(len, labels), default=0) > MAX_LABEL_CHARACTERS:
        common = commonprefix(list(labels)).rpartition(".")
        labels = [label.removeprefix(common[0] + common[1]) for label in labels]
    return [
        label if len(label) <= MAX_LABEL_CHARACTERS else f"…{label[1 - MAX_LABEL_CHARACTERS :]}" for label in labels
    ]


def _histogram(ax: Any, mark: Histogram, color: str) -> None:
    ax.stairs(mark.counts, mark.edges, fill=True, color=color, label=mark.name)


def _image(ax: Any, mark: Image, color: str) -> None:
    draw_matrix(ax, mark)


def _reference(ax: Any, mark: Reference, color: str) -> None:
    (ax.axvline if mark.vertical else ax.axhline)(mark.at, color=color, linestyle="--", label=mark.name)


def _meter(ax: Any, mark: RangeMeter, color: str) -> None:
    log = mark.edges[0] > 0
    for i, (name, low, high) in enumerate(zip(mark.zones, mark.edges, mark.edges[1:], strict=False)):
        here = name == mark.zone
        ax.axvspan(low, high, 0.0, 0.45, color=COLORS[-1], alpha=0.55 if here else 0.12 + 0.08 * (i % 2), linewidth=0)
        middle = (low * high) ** 0.5 if log else (low + high) / 2
        ax.text(middle, 0.225, name, ha="center", va="center", weight="bold" if here else "normal", wrap=True)
    if log:
        ax.set_xscale("log")
    ax.plot([mark.pointer], [0.56], marker="v", markersize=13, color=color, clip_on=False)
    words = f"{mark.name} {mark.value:.3g}".strip()
    places = {"left": mark.pointer == mark.edges[0], "right": mark.pointer == mark.edges[-1]}
    side = next((side for side, true in places.items() if true), "center")
    ax.text(mark.pointer, 0.72, words, ha=side, va="bottom", color=color)
    ax.set(xlim=(mark.edges[0], mark.edges[-1]), ylim=(0, 1))
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)


DRAWN: dict[type, Callable[[Any, Any, str], None]] = {
    Line: _line,
    Scatter: _scatter,
    Band: _band,
    Bars: _bars,
    Histogram: _histogram,
    Image: _image,
    Reference: _reference,
    RangeMeter: _meter,
}
"""Drawing function of each mark. A new mark needs a class in `plot`, a function here and an entry in this table."""

assert set(DRAWN) == set(Mark.__args__)  # a mark without a drawing function would fail only when somebody draws it
