"""Renders plots as SVG for HTML pages and notebooks; background and text take the colors of the page.

>>> from gnomon.core.results.plot import Axis, Line, Plot
>>> picture = plots_svg((Plot("Loss", (Line("train", (1, 2), (1.0, 0.5)),), Axis("step"), Axis("loss")),), "loss")
>>> picture.startswith("<svg") and "currentColor" in picture
True
"""

from collections.abc import Sequence
from html import escape
from io import StringIO
from math import isfinite
from re import DOTALL, sub
from textwrap import fill
from typing import Any

from gnomon.core.results.drawing import draw
from gnomon.core.results.look import COLORS, SERIES, matplotlib_settings
from gnomon.core.results.plot import Bars, Plot, RangeMeter

__all__ = ["thumbnail_svg", "plots_svg"]

INK = "#010203"
STYLE: dict[str, Any] = {
    "font.size": 10, "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
    "ytick.color": INK, "grid.color": INK, "grid.alpha": 0.12, "axes.facecolor": "none", "figure.facecolor": "none",
    "path.simplify": True, "axes.titlesize": 10.5, "lines.linewidth": 1.8, "axes.linewidth": 0.7,
    "xtick.major.width": 0.7, "ytick.major.width": 0.7,
}  # fmt: skip
"""What differs from the look of all pictures: lines and words in the color of the page."""
POINTS_PER_INCH = 72
"""Units of an SVG picture in an inch."""
CHARACTERS_PER_INCH = 9
"""Number of characters of a title in an inch of a plot's width; longer titles are wrapped."""
INCHES_PER_BAR = 0.24
"""Height of a bar in inches."""
INCHES_AROUND_BARS = 1.4
"""Height of everything around the bars in inches."""


def plots_svg(plots: Sequence[Plot], name: str, *, width: float = 6.4, height: float = 3.4) -> str:
    """Draws plots side by side and returns them as one SVG element; ``name`` is the prefix of its ids.

    Cost: about 50 ms. Nothing of matplotlib's global state is changed.

    >>> from gnomon.core.results.plot import Reference
    >>> plots_svg((Plot("Zero", (Reference("zero", 0.0),)),), "zero").endswith("</svg>\\n")
    True
    """
    from matplotlib.figure import Figure

    bars = max((len(m.labels) for plot in plots for m in plot.marks if isinstance(m, Bars)), default=0)
    meters = all(isinstance(m, RangeMeter) for plot in plots for m in plot.marks) and any(plot.marks for plot in plots)
    with _style(name):
        figure = Figure(
            figsize=(width, 1.7 if meters else max(height, INCHES_AROUND_BARS + INCHES_PER_BAR * bars)),
            layout="constrained",
        )
        axes = figure.subplots(1, len(plots), squeeze=False)[0]
        characters = int(width * CHARACTERS_PER_INCH / len(plots))
        for plot, ax in zip(plots, axes, strict=True):
            draw(plot, ax).set_title(fill(plot.title, characters))
        picture = _write(figure, name, plots)
        return picture if len(plots) > 1 else picture.replace("<svg", f"<svg {_places(figure, axes[0])}", 1)


def thumbnail_svg(plot: Plot, name: str) -> str:
    """Returns a plot as a small SVG image without text, for overview pages.

    Cost: about 30 ms.

    >>> from gnomon.core.results.plot import Line
    >>> "<text" in thumbnail_svg(Plot("Loss", (Line("train", (1, 2), (1.0, 0.5)),)), "small")
    False
    """
    from matplotlib.figure import Figure

    with _style(name):
        figure = Figure(figsize=(2.3, 1.25))
        ax = draw(plot, figure.add_axes((0.03, 0.05, 0.94, 0.9)))
        ax.set(title="", xlabel="", ylabel="")
        ax.grid(visible=False, which="both")
        ax.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
        if (legend := ax.get_legend()) is not None:
            legend.remove()
        for words in list(ax.texts):
            words.remove()
        for line in ax.lines:
            line.set(markersize=max(line.get_markersize(), 7) if line.get_marker() == "." else line.get_markersize())
        return _write(figure, name, (plot,))


def _places(figure: Any, ax: Any) -> str:
    """Returns HTML attributes with position and ranges of a plot's axes; page scripts use these to show values under
    the mouse.
    """
    width, height = (POINTS_PER_INCH * inches for inches in figure.get_size_inches())
    box = ax.get_position()
    corners = (box.x0 * width, (1 - box.y1) * height, box.x1 * width, (1 - box.y0) * height)
    ends = {"x": (*ax.get_xlim(), ax.get_xscale()), "y": (*ax.get_ylim(), ax.get_yscale())}
    named = "".join(f' data-{axis}="{low:.6g} {high:.6g} {scale}"' for axis, (low, high, scale) in ends.items()
                    if isfinite(low) and isfinite(high))  # fmt: skip
    return f'data-box="{" ".join(f"{corner:.1f}" for corner in corners)}"{named}'


def _style(name: str) -> Any:
    import matplotlib as mpl

    style: Any = matplotlib_settings() | STYLE | {"svg.hashsalt": name}
    return mpl.rc_context(style)


def _write(figure: Any, name: str, plots: Sequence[Plot]) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _tidy(text.getvalue(), name, " ".join(plot.caption or plot.title for plot in plots))


def _tidy(picture: str, name: str, caption: str) -> str:
    """Cleans matplotlib's SVG for web pages: replaces colors by CSS variables, and makes ids unique on a page."""
    picture = picture[picture.index("<svg") :]
    picture = sub(r"<metadata>.*?</metadata>", "", picture, flags=DOTALL)
    for variable, color in zip(SERIES, COLORS, strict=True):
        picture = picture.replace(color, f"var(--{variable}, {color})")
    picture = picture.replace(INK, "currentColor")
    picture = sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', picture)
    picture = sub(r'url\(#([^)"]+)\)', rf"url(#{name}-\1)", picture)
    picture = sub(r'xlink:href="#([^"]+)"', rf'xlink:href="#{name}-\1"', picture)
    picture = sub(r'(<svg[^>]*?) width="[^"]+"', r"\1", picture)
    picture = sub(r'(<svg[^>]*?) height="[^"]+"', r"\1", picture)
    # Rounds coordinates to two decimals, finer than any screen, to make files smaller. Text between tags stays
    # unchanged.
    picture = sub(r"<[^>]*>", lambda tag: sub(r"(\d+\.\d{2})\d+", r"\1", tag[0]), picture)
    return picture.replace("<svg", f'<svg role="img" aria-label="{escape(caption, quote=True)}"', 1)
