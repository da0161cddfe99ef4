"""Returns the style sheet and the scripts of the atlas; each web page includes them, so that a page is a single file.

>>> "--first" in style_sheet() and "slider" in script_text("atlas")
True
"""

from functools import cache
from importlib.resources import files

from gnomon.report.style import PALETTE

__all__ = ["script_text", "style_sheet"]


@cache
def style_sheet() -> str:
    """Returns the CSS of all atlas pages: colors for light and dark screens, and layout.

    Cost: a small file is read once.

    >>> "@media print" in style_sheet()
    True
    """
    return PALETTE + (files("gnomon.atlas.pages") / "atlas.css").read_text(encoding="utf-8")


@cache
def script_text(name: str) -> str:
    """Returns a JavaScript file of the atlas: "atlas" for pages of claims, "search" for the index page.

    Cost: a small file is read once.

    >>> len(script_text("atlas") + script_text("search")) < 20_000
    True
    """
    return (files("gnomon.atlas.pages") / f"{name}.js").read_text(encoding="utf-8")
