"""Finds the HTML file of the playground."""

from pathlib import Path

from gnomon.core.errors import add_call_to_errors

__all__ = ["page_path"]


@add_call_to_errors
def page_path() -> Path:
    """Returns the path of the installed ``playground.html``, which works in a browser without a server.

    >>> page_path().name
    'playground.html'
    """
    return Path(__file__).with_name("playground.html")
