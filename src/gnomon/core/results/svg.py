"""Plots as SVG for HTML pages and notebooks: no background, text in the color of the page, lines in its named colors.

>>> from gnomon.core.results.plot import Axis, Line, Plot
>>> picture = svg((Plot("Loss", (Line("train", (1, 2), (1.0, 0.5)),), Axis("step"), Axis("loss")),), "loss")
>>> picture.startswith("<svg") and "currentColor" in picture
True
"""

from collections.abc import Sequence
from html import escape
from io import StringIO
from re import DOTALL, sub
from typing import Any

from gnomon.core.results.drawing import COLORS, draw
from gnomon.core.results.plot import Plot

__all__ = ["svg"]

INK = "#010203"
NAMES = ("first", "second", "third", "fourth", "fifth")
"""Variables of the page's style sheet that stand for `COLORS`, with these as their fallback."""


def svg(plots: Sequence[Plot], name: str, *, width: float = 6.4, height: float = 3.4) -> str:
    """Plots side by side as one SVG element whose identifiers begin with ``name``.

    Cost: about 50 ms. Nothing of matplotlib's global state is changed.

    >>> from gnomon.core.results.plot import Reference
    >>> svg((Plot("Zero", (Reference("zero", 0.0),)),), "zero").endswith("</svg>\\n")
    True
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {
        "svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif", "font.size": 10,
        "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": INK, "grid.alpha": 0.15,
        "axes.facecolor": "none", "figure.facecolor": "none", "legend.frameon": False, "path.simplify": True,
    }  # fmt: skip
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        for plot, ax in zip(plots, figure.subplots(1, len(plots), squeeze=False)[0], strict=True):
            draw(plot, ax)
        text = StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    caption = " ".join(plot.caption or plot.title for plot in plots)
    return _tidy(text.getvalue(), name, caption)


def _tidy(picture: str, name: str, caption: str) -> str:
    """Only the drawing; identifiers of its own, so that two drawings on one page do not share them."""
    picture = picture[picture.index("<svg") :]
    picture = sub(r"<metadata>.*?</metadata>", "", picture, flags=DOTALL)
    for variable, color in zip(NAMES, COLORS, strict=True):
        picture = picture.replace(color, f"var(--{variable}, {color})")
    picture = picture.replace(INK, "currentColor")
    picture = sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', picture)
    picture = sub(r'url\(#([^)"]+)\)', rf"url(#{name}-\1)", picture)
    picture = sub(r'xlink:href="#([^"]+)"', rf'xlink:href="#{name}-\1"', picture)
    picture = sub(r'(<svg[^>]*?) width="[^"]+"', r"\1", picture)
    picture = sub(r'(<svg[^>]*?) height="[^"]+"', r"\1", picture)
    picture = sub(r"(\d+\.\d{2})\d+", r"\1", picture)  # a hundredth of a point is finer than any screen
    return picture.replace("<svg", f'<svg role="img" aria-label="{escape(caption, quote=True)}"', 1)
