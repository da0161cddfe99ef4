"""Drawings that fit every page: SVG without background, whose ink is the color of the text around it.

Lines are drawn in named colors that the page defines for light and for dark; see ``COLORS``.
"""

from collections.abc import Callable
from io import StringIO
from re import sub
from typing import Any

from gnomon.report.page import Figure

INK = "#010203"
COLORS = {"first": "#b5367a", "second": "#3b6fb5", "third": "#c98a1b", "fourth": "#3f8f5b"}
"""Stand-ins that the page replaces by its own colors of these names."""


def figure(
    name: str, caption: str, draw: Callable[[Any], None], *, size: tuple[float, float] = (6.4, 3.4), parts: int = 1
) -> Figure:
    """Draw on matplotlib axes (a list of them for several ``parts`` side by side) and keep the SVG.

    Cost: about 50 ms. Nothing of matplotlib's global state is changed or used.

    >>> made = figure("line", "A line.", lambda axes: axes.plot([0, 1], [0, 1]))
    >>> made.svg.startswith("<svg") and "currentColor" in made.svg
    True
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    style: Any = {
        "svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif", "font.size": 10,
        "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": INK, "grid.alpha": 0.15,
        "axes.facecolor": "none", "figure.facecolor": "none", "legend.frameon": False, "path.simplify": True,
    }  # fmt: skip
    with mpl.rc_context(style):
        canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasSVG(canvas)
        axes = canvas.subplots(1, parts)
        draw(axes)
        text = StringIO()
        canvas.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return Figure(name, caption, _tidy(text.getvalue(), name, caption))


def _tidy(svg: str, name: str, caption: str) -> str:
    """Only the drawing; identifiers of its own, so that two drawings on one page do not share them."""
    svg = svg[svg.index("<svg") :]
    svg = sub(r"<metadata>.*?</metadata>", "", svg, flags=16)
    for color, stand_in in COLORS.items():
        svg = svg.replace(stand_in, f"var(--{color})")
    svg = svg.replace(INK, "currentColor")
    svg = sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = sub(r'url\(#([^)"]+)\)', rf"url(#{name}-\1)", svg)
    svg = sub(r'xlink:href="#([^"]+)"', rf'xlink:href="#{name}-\1"', svg)
    svg = sub(r'(<svg[^>]*?) width="[^"]+"', r"\1", svg)
    svg = sub(r'(<svg[^>]*?) height="[^"]+"', r"\1", svg)
    svg = sub(r"(\d+\.\d{2})\d+", r"\1", svg)  # a hundredth of a point is finer than any screen
    label = caption.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
