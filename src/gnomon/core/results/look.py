"""Defines colors and style of all plots, light and dark, for matplotlib, the report and HTML pages.

The first four colors differ in lightness as well as in hue, so that color-blind readers and readers of gray prints can
distinguish them. Theory is drawn as lines, measurements as dots, and one quantity has one color in a plot.

>>> matplotlib_settings()["axes.spines.top"], matplotlib_settings(dark=True)["text.color"]
(False, '#e6e4de')
"""

from typing import Any

__all__ = ["COLORS", "DARK", "LIGHT", "MARKERS", "SERIES", "is_dark", "matplotlib_settings"]

SERIES = ("first", "second", "third", "fourth", "fifth")
"""Roles of the colors of curves, in order; the last one is gray."""
LIGHT = {
    "ground": "#fdfcf9", "text": "#22242a", "soft": "#6a6f7a", "line": "#dedbd2", "panel": "#f4f1e9",
    "first": "#b5367a", "second": "#2f62a8", "third": "#b57508", "fourth": "#2f7d4b", "fifth": "#6a6f7a",
}  # fmt: skip
"""Colors on light ground and on paper, by role."""
DARK = {
    "ground": "#16181d", "text": "#e6e4de", "soft": "#9aa0ab", "line": "#333842", "panel": "#1e2129",
    "first": "#f06fae", "second": "#7fb0f5", "third": "#e8b04a", "fourth": "#74c690", "fifth": "#9aa0ab",
}  # fmt: skip
"""Colors on dark ground, by role."""
COLORS = tuple(LIGHT[name] for name in SERIES)
"""Colors of the marks in order; pages replace them with the colors of their light or dark theme."""
MARKERS = ("o", "s", "^", "D", "v")
"""Shapes of the dots of each color; the second one is drawn open, so that dots on the same place are both seen."""
MAX_DARK_LUMINANCE = 0.5
"""Relative luminance of the ground below which a figure is dark."""


def matplotlib_settings(*, dark: bool = False) -> dict[Any, Any]:
    """Returns gnomon's matplotlib style as a dict for `matplotlib.rc_context`, light or dark.

    >>> sorted(matplotlib_settings()) == sorted(matplotlib_settings(dark=True))
    True
    """
    from cycler import cycler

    colors = DARK if dark else LIGHT
    ink = {
        key: colors["text"] for key in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    }
    return {
        **ink,
        "figure.figsize": (7.0, 4.2), "figure.facecolor": colors["ground"], "axes.facecolor": colors["ground"],
        "savefig.facecolor": "auto", "axes.prop_cycle": cycler(color=[colors[name] for name in SERIES]),
        "font.family": "sans-serif", "font.size": 10.5, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": colors["line"], "grid.linewidth": 0.7, "axes.axisbelow": True,
        "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.titlesize": 11, "legend.frameon": False,
        "lines.linewidth": 2.0, "lines.markersize": 6, "axes.linewidth": 0.8, "svg.fonttype": "none",
    }  # fmt: skip


def is_dark(color: Any) -> bool:
    """Checks whether a background color is dark, such as in matplotlib's style "dark_background".

    >>> is_dark("black"), is_dark("white")
    (True, False)
    """
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < MAX_DARK_LUMINANCE
