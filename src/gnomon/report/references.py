"""Reads the bibliography of the package, so that reports show full references instead of keys.

>>> print(reference("jacot2018neural"))
Jacot, Gabriel, Hongler (2018). Neural Tangent Kernel: Convergence and Generalization in Neural Networks.
"""

import re
from functools import cache
from importlib.resources import files
from unicodedata import normalize

__all__ = ["full_reference", "reference"]

ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)
MAX_NAMED_AUTHORS = 4
"""Maximum number of authors listed; with more authors, only the first is listed."""


def reference(key: str) -> str:
    """Returns authors, year and title of an entry in the bibliography; the key itself if the bibliography lacks the
    entry.

    Cost: the bibliography is read once.

    >>> reference("nobody2000nothing")
    'nobody2000nothing'
    """
    entry = entries().get(key)
    return key if entry is None else f"{_authors(entry['author'])} ({entry['year']}). {_plain(entry['title'])}."


def full_reference(key: str) -> str:
    """Returns the full reference, with all authors, the journal or conference, and the arXiv number or DOI.

    Cost: none after the bibliography was read.

    >>> print(full_reference("lee2019wide"))
    Lee, Xiao, Schoenholz, Bahri, Novak, Sohl-Dickstein, Pennington (2019). Wide Neural Networks of Any Depth Evolve
    as Linear Models Under Gradient Descent. Advances in Neural Information Processing Systems. arXiv:1902.06720.
    """
    entry = entries().get(key)
    if entry is None:
        return key
    names = ", ".join(_plain(author.split(",")[0]) for author in entry["author"].split(" and "))
    place = next((entry[name] for name in ("journal", "booktitle", "publisher", "school") if name in entry), "")
    link = f"arXiv:{entry['eprint']}" if "eprint" in entry else f"doi:{entry['doi']}" if "doi" in entry else ""
    parts = [f"{names} ({entry['year']}). {_plain(entry['title'])}", _plain(place), link]
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


@cache
def entries() -> dict[str, dict[str, str]]:
    """Reads the bibliography file; returns the fields of every entry by key."""
    text = (files("gnomon") / "references.bib").read_text(encoding="utf-8")
    return {key: dict(FIELD.findall(body)) for key, body in ENTRY.findall(text)}


def _authors(text: str) -> str:
    names = [_plain(author.split(",")[0]) for author in text.split(" and ")]
    return ", ".join(names) if len(names) <= MAX_NAMED_AUTHORS else f"{names[0]} and others"


ACCENTS = {'\\"': "\u0308", "\\'": "\u0301", "\\`": "\u0300", "\\^": "\u0302", "\\~": "\u0303"}


def _plain(text: str) -> str:
    """Converts TeX text of the bibliography to plain text: removes braces, converts accents to letters."""
    for command, mark in ACCENTS.items():
        text = re.sub(re.escape(command) + r"\{?(\w)\}?", rf"\1{mark}", text)
    return normalize("NFC", text.replace("{", "").replace("}", "").replace("--", "–"))
