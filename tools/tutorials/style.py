"""Defines the look of pictures on the pages: the palette of the report, and the same figure recolored for dark
pages."""

from typing import Any

from gnomon.core.results import look

LIGHT = look.LIGHT | {"fifth": "#6a6f7b"}
"""Colors of the light page by role; the gray of curves differs from "soft", so that `recolor` can distinguish them."""
DARK = look.DARK | {"fifth": "#9aa0ac"}
BLACK = "#000000"
WHITE = "#ffffff"
GRAYS = {BLACK: DARK["text"], "#808080": DARK["soft"], "#d3d3d3": DARK["line"], WHITE: DARK["ground"]}
"""Colors that are not in the palette and would not be readable on a dark page."""


def rc_parameters() -> dict[Any, Any]:
    """Returns the matplotlib settings for a picture on a light page."""
    from cycler import cycler

    series = [LIGHT[name] for name in look.SERIES]
    return look.matplotlib_settings() | {
        "figure.figsize": (7.0, 3.8), "axes.prop_cycle": cycler(color=series), "font.size": 11, "axes.titlesize": 11.5,
        "lines.markersize": 5, "image.cmap": "magma", "svg.hashsalt": "gnomon",
    }  # fmt: skip


def recolor(figure: Any) -> None:
    """Changes the colors of a figure for dark pages: texts, lines and areas; color maps and images stay."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    figure.draw_without_rendering()  # makes matplotlib create the ticks, which it otherwise does only when drawing
    for artist in figure.findobj():
        if isinstance(artist, Text):
            artist.set_color(dark(artist.get_color()))
            if (box := artist.get_bbox_patch()) is not None:
                box.set(facecolor=dark(box.get_facecolor()), edgecolor=dark(box.get_edgecolor()))
        elif isinstance(artist, Line2D):
            for name in ("color", "markerfacecolor", "markeredgecolor"):
                getattr(artist, f"set_{name}")(dark(getattr(artist, f"get_{name}")()))
        elif isinstance(artist, Patch):
            face, edge = artist.get_facecolor(), artist.get_edgecolor()
            artist.set(facecolor=dark(face), edgecolor=dark(edge))
        elif isinstance(artist, Collection) and artist.get_array() is None:
            faces, edges = artist.get_facecolor(), artist.get_edgecolor()
            artist.set_facecolor([dark(color) for color in faces] or "none")
            artist.set_edgecolor([dark(color) for color in edges] or "none")
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        axis.set_tick_params(which="both", color=DARK["text"], labelcolor=DARK["text"], grid_color=DARK["line"])


def dark(color: Any) -> Any:
    """Returns the color that replaces a light page's color on dark pages, with the same transparency.

    >>> from matplotlib.colors import to_hex
    >>> to_hex(dark(LIGHT["first"])), to_hex(dark("black")), dark("none")
    ('#f06fae', '#e6e4de', 'none')
    """
    from matplotlib.colors import to_hex, to_rgba

    if isinstance(color, str) and color in ("none", "auto"):
        return color
    pairs = {LIGHT[name]: DARK[name] for name in LIGHT} | GRAYS | {"#6a6f7a": DARK["soft"]}
    alpha = to_rgba(color)[3]
    return to_rgba(pairs.get(to_hex(color), to_hex(color)), alpha)
