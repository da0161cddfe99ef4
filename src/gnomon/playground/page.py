"""The page as a file."""

from pathlib import Path

from gnomon.core.errors import names_call

__all__ = ["page_path"]


@names_call
def page_path() -> Path:
    """Where ``playground.html`` is installed; a browser opens it without a server.

    >>> page_path().name
    'playground.html'
    """
    return Path(__file__).with_name("playground.html")
