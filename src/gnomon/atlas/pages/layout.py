"""Renders what every web page of the atlas has in common: header, navigation and title.

>>> page_html("Title", "<p>body</p>").count("Title")
2
"""

from html import escape

from gnomon.atlas.pages.style import style_sheet

__all__ = ["page_html"]

LINKS = (
    ("index.html", "Atlas"),
    ("index.html#chapters", "Chapters"),
    ("index.html#paths", "Reading paths"),
    ("refuted.html", "Statements that failed"),
    ("coverage.html", "Coverage"),
)
"""Pages in the navigation, with their names."""


def page_html(title: str, body: str, *, home: str = "", script: str = "", links: bool = True) -> str:
    """Renders a complete web page from its title and body; ``home`` is the address of the surrounding documentation, if
    any.

    >>> '<a href="../index.html">' in page_html("Title", "", home="../index.html")
    True
    """
    items = ((home, "Documentation"), *LINKS) if home else LINKS
    nav = "".join(f'<a href="{address}">{name}</a>' for address, name in items) if links else ""
    frame = f'<nav aria-label="Atlas">{nav}</nav>' if nav else ""
    code = f"<script>{script}</script>" if script else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)} · gnomon atlas</title><style>{style_sheet()}</style></head><body>"
        f"<header><p class=brand>gnomon atlas</p>{frame}</header>"
        f"<main><h1>{escape(title)}</h1>{body}</main>{code}</body></html>"
    )
