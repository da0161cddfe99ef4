"""The bibliography of the package, so that a report can print a reference and not its key.

>>> print(reference("jacot2018neural"))
Jacot, Gabriel, Hongler (2018). Neural Tangent Kernel: Convergence and Generalization in Neural Networks.
"""

import re
from functools import cache
from importlib.resources import files
from unicodedata import normalize

__all__ = ["reference"]

ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)
AUTHORS = 4
"""Authors that are named; of more, the first alone."""


def reference(key: str) -> str:
    """Authors, year and title of an entry of the bibliography; the key itself where there is no such entry.

    Cost: the bibliography is read once.

    >>> reference("nobody2000nothing")
    'nobody2000nothing'
    """
    entry = entries().get(key)
    return key if entry is None else f"{_authors(entry['author'])} ({entry['year']}). {_plain(entry['title'])}."


@cache
def entries() -> dict[str, dict[str, str]]:
    """The fields of every entry by key."""
    text = (files("gnomon") / "references.bib").read_text(encoding="utf-8")
    return {key: dict(FIELD.findall(body)) for key, body in ENTRY.findall(text)}


def _authors(text: str) -> str:
    names = [_plain(author.split(",")[0]) for author in text.split(" and ")]
    return ", ".join(names) if len(names) <= AUTHORS else f"{names[0]} and others"


ACCENTS = {'\\"': "\u0308", "\\'": "\u0301", "\\`": "\u0300", "\\^": "\u0302", "\\~": "\u0303"}


def _plain(text: str) -> str:
    """Without braces, accents of TeX as letters."""
    for command, mark in ACCENTS.items():
        text = re.sub(re.escape(command) + r"\{?(\w)\}?", rf"\1{mark}", text)
    return normalize("NFC", text.replace("{", "").replace("}", "").replace("--", "–"))
