"""Draws plots with matplotlib, with one function for each kind of element (line, bars, histogram, ...).

>>> import matplotlib
>>> matplotlib.use("agg")
>>> from gnomon.core.results.plot import Axis, Line, Plot
>>> ax = draw(Plot("Loss", (Line("train", (1, 10), (1.0, 0.1)),), Axis("step", log=True), Axis("loss", log=True)))
>>> ax.get_xscale(), ax.get_title()
('log', 'Loss')
"""

from collections.abc import Callable, Sequence
from math import isfinite, isnan
from os.path import commonprefix
from textwrap import fill
from typing import Any

from gnomon.core.results.labels import SMALL_TEXT, label_curves
from gnomon.core.results.look import COLORS, DARK, MARKERS, SERIES, is_dark, matplotlib_settings
from gnomon.core.results.matrix import draw_matrix
from gnomon.core.results.plot import Band, Bars, Histogram, Image, Line, Plot, PlotMark, RangeMeter, Reference, Scatter
from gnomon.core.results.ticks import mark_ticks, plain_number, widen_flat_axes

__all__ = ["draw", "draw_all", "has_points", "new_axes"]

MAX_LABEL_CHARACTERS = 30
"""Maximum number of characters in the label of a bar."""
MAX_LARGE_POINTS = 60
"""Maximum number of points that are drawn large."""
TITLE_CHARACTERS = 74
"""Number of characters in a line of the title over one plot."""
MAX_TITLE_LINES = 3
"""Number of lines of a title."""
MIN_BAR_PLACES = 4
"""Number of bars below which space is left above and below them, so that no bar is thick."""
MAX_BARS_WITH_NUMBERS = 25
"""Maximum number of bars whose numbers are written at their ends."""
STYLES = {"solid": "-", "dashed": "--", "dotted": ":"}


def draw(plot: Plot, ax: Any = None) -> Any:
    """Draws a plot on matplotlib axes (new ones if none are given) and returns them.

    Cost: about 20 ms, and the import of matplotlib.

    >>> from gnomon.core.results.plot import Bars, Plot
    >>> len(draw(Plot("Sizes", (Bars("size", ("a", "b"), (1, 2)),))).patches)
    2
    """
    if ax is None:
        ax = new_axes()[0]
    palette = [DARK[role] for role in SERIES] if is_dark(ax.get_facecolor()[:3]) and _opaque(ax) else COLORS
    for mark, color in zip(plot.marks, plot.colors, strict=True):
        DRAWN[type(mark)](ax, mark, palette[color % len(palette)])
    ax.set(title=plot.title)
    for axis, drawn, set_scale, set_limits in (
        (plot.x, ax.xaxis, ax.set_xscale, ax.set_xlim),
        (plot.y, ax.yaxis, ax.set_yscale, ax.set_ylim),
    ):
        drawn.set_label_text(axis.label)
        # matplotlib can draw a logarithmic axis only if at least one number is positive.
        if axis.log and isfinite(drawn.get_minpos()):
            set_scale("log")
        if axis.limits is not None:
            set_limits(*axis.limits)
    widen_flat_axes(ax, plot)
    mark_ticks(ax, plot, whole=_whole(plot))
    if any(map(has_points, plot.marks)):
        label_curves(ax, plot)
    else:
        words = ax.text(0.5, 0.5, "Nothing was measured that could be plotted.", transform=ax.transAxes)
        words.set(ha="center", va="center", in_layout=False)
        ax.set_axis_off()
    return ax


def has_points(mark: PlotMark) -> bool:
    """Checks whether an element of a plot shows any data; reference lines do not count.

    >>> has_points(Line("loss", (1, 2), (float("nan"), 0.5))), has_points(Reference("limit", 1.0))
    (True, False)
    """
    if isinstance(mark, Reference):
        return False
    numbers = mark.counts if isinstance(mark, Histogram) else mark.values if isinstance(mark, Bars) else ()
    if isinstance(mark, Line | Scatter):
        numbers = _finite(mark.x, mark.y)[0]
    elif isinstance(mark, Band):
        numbers = _finite(mark.x, mark.low, mark.high)[0]
    elif isinstance(mark, Image):
        numbers = [value for row in mark.values for value in row]
    return isinstance(mark, RangeMeter) or any(isfinite(number) for number in numbers)


def draw_all(plots: Sequence[Plot], verdict: str, ax: Any = None) -> Any:
    """Draws plots on a new figure with the verdict as title, or only the first plot on given axes; returns the first
    axes.

    Cost: about 20 ms for each plot, and the import of matplotlib.

    >>> from gnomon.core.results.plot import Bars, Plot
    >>> draw_all((Plot("Sizes", (Bars("size", ("a", "b"), (1, 2)),)),), "b is larger.").figure.get_suptitle()
    'b is larger.'
    """
    if ax is not None:
        return draw(plots[0], ax)
    from matplotlib import pyplot as plt  # slow to import

    with plt.rc_context(matplotlib_settings(dark=is_dark(plt.rcParams["figure.facecolor"]))):
        axes = new_axes(len(plots))
        for plot, place in zip(plots, axes, strict=True):
            draw(plot, place)
        if len(axes) == 1:
            axes[0].set_title("")
        width = TITLE_CHARACTERS if len(axes) == 1 else int(1.6 * TITLE_CHARACTERS)
        axes[0].figure.suptitle(_title(verdict, width), x=0.01, ha="left", weight="bold", size=11)
    return axes[0]


def _title(verdict: str, width: int) -> str:
    """Wraps a result's verdict to a plot title of a few lines; cuts off the rest.

    >>> _title("It has 2 layers. " * 30, 40).count("\\n")
    2
    """
    return fill(verdict, width, max_lines=MAX_TITLE_LINES, placeholder=" ...")


def new_axes(count: int = 1) -> list[Any]:
    """Creates a figure with this number of axes, at most two side by side, in gnomon's style.

    The figure is dark if matplotlib's own figures are.

    >>> len(new_axes(3))
    3
    """
    from matplotlib import pyplot as plt  # slow to import

    columns = min(count, 2)
    rows = -(-count // columns)
    size = (7.0, 4.2) if count == 1 else (5.6 * columns, 3.9 * rows)
    with plt.rc_context(matplotlib_settings(dark=is_dark(plt.rcParams["figure.facecolor"]))):
        axes = plt.subplots(rows, columns, layout="constrained", figsize=size, squeeze=False)[1].flatten()
    for unused in axes[count:]:
        unused.remove()
    return list(axes[:count])


def _opaque(ax: Any) -> bool:
    """Checks whether the axes of a plot have a background color."""
    return bool(ax.get_facecolor()[3] > 0)


def _whole(plot: Plot) -> bool:
    """Checks whether all x values of a plot are whole numbers, so that its ticks should be whole numbers too."""
    curves = [mark.x for mark in plot.marks if isinstance(mark, Line | Scatter | Band)]
    curves += [mark.values for mark in plot.marks if isinstance(mark, Bars) and max(mark.values, default=0) > 1]
    return bool(curves) and all(x == round(x) for xs in curves for x in xs if isfinite(x)) and plot.x.limits is None


def _finite(*columns: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Removes all points that contain NaN or infinity, and returns the remaining points as columns."""
    rows = [row for row in zip(*columns, strict=True) if all(map(isfinite, row))]
    return list(zip(*rows, strict=True)) if rows else [() for _ in columns]


def _line(ax: Any, mark: Line, color: str) -> None:
    if any(map(isnan, mark.x)):  # A NaN separates two curves of a line mark, such as borders of regions.
        ax.plot(mark.x, mark.y, STYLES[mark.style], color=color, label=mark.name, linewidth=0.8)
        return
    x, y = _finite(mark.x, mark.y)
    ax.plot(x, y, STYLES[mark.style], color=color, label=mark.name, marker="o" if len(x) == 1 else "")


def _scatter(ax: Any, mark: Scatter, color: str) -> None:
    """Draws dots whose shape and size depend on the color and on the number of points."""
    many, index = len(mark.x) > MAX_LARGE_POINTS, _index(color)
    inside = "none" if index == 1 and not many else color
    edge = 0 if many else 1.3
    ax.plot(
        *_finite(mark.x, mark.y), MARKERS[0 if many else index], linestyle="", color=color, label=mark.name,
        markersize=2.5 if many else 6.5 if index == 1 else 5, markerfacecolor=inside, markeredgewidth=edge,
    )  # fmt: skip
    if mark.low:
        ax.vlines(*_finite(mark.x, mark.low, mark.high), color=color, linewidth=1)


def _index(color: str) -> int:
    """Returns the index of a color in the light or dark palette."""
    dark = [DARK[role] for role in SERIES]
    return COLORS.index(color) if color in COLORS else dark.index(color)


def _band(ax: Any, mark: Band, color: str) -> None:
    ax.fill_between(*_finite(mark.x, mark.low, mark.high), color=color, alpha=0.25, linewidth=0, label=mark.name)


def _bars(ax: Any, mark: Bars, color: str) -> None:
    places = range(len(mark.labels))
    ax.barh(places, list(mark.values), height=0.7, color=color, label=mark.name)
    spare = max(0.0, (MIN_BAR_PLACES - len(places)) / 2)
    ax.set_ylim(-0.6 - spare, len(places) - 0.4 + spare)
    ax.set_yticks(places, _short(mark.labels))
    ax.invert_yaxis()  # Puts the first label at the top of the axis.
    ax.grid(visible=False, axis="y")
    if len(mark.labels) <= MAX_BARS_WITH_NUMBERS:
        for place, value in zip(places, mark.values, strict=True):
            end = value if isfinite(value) else 0.0
            words, side = f" {plain_number(float(f'{value:.3g}'))} ", "left" if end >= 0 else "right"
            ax.annotate(words, (end, place), va="center", ha=side, fontsize=SMALL_TEXT)
        ax.margins(x=0.14)


def _short(labels: Sequence[str]) -> list[str]:
    """Shortens long labels of bars: removes their common prefix, then cuts off their beginnings.

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

assert set(DRAWN) == set(PlotMark.__args__)  # Checks at import that every kind of mark has a drawing function.
