"""Finds the HTML file of the playground."""

from pathlib import Path

from gnomon.core.errors import names_call

__all__ = ["page_path"]


@names_call
def page_path() -> Path:
    """Returns the path of the installed ``playground.html``, which works in a browser without a server.

    >>> page_path().name
    'playground.html'
    """
    return Path(__file__).with_name("playground.html")
