"""Keys of the bibliography as links that show authors and year, and the bibliography itself as a page.

``[jacot2018neural]`` in a page or a docstring becomes "Jacot et al. 2018", linked to the entry; the line
``::: bibliography`` becomes the list of all entries.
"""

import re
from functools import cache
from pathlib import Path
from unicodedata import normalize

BIB = Path(__file__).parents[2] / "src" / "gnomon" / "references.bib"
ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)
ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303"}
LINE = re.compile(r"^::: bibliography$", re.MULTILINE)
BRACKETS = re.compile(r"\[([^\[\]`]*\b[a-z]+[0-9]{4}[a-z]+\b[^\[\]`]*)\](?![(\[])")
KEY = re.compile(r"\b[a-z]+[0-9]{4}[a-z]+\b")
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def replaced(markdown: str) -> str:
    """A text with its keys as links; code is left alone."""
    parts = CODE.split(markdown)
    parts[::2] = [BRACKETS.sub(lambda match: KEY.sub(_link, match[1]), part) for part in parts[::2]]
    return "".join(parts)


def bibliography() -> str:
    """All entries by first author and year."""
    order = sorted(entries(), key=lambda key: (label(key).lower(), key))
    return "\n\n".join(f"[](){{#{key}}}\n{_entry(entries()[key])}" for key in order)


def label(key: str) -> str:
    """Authors and year as they are cited.

    >>> label("jacot2018neural")
    'Jacot et al. 2018'
    """
    names = [_plain(name.split(",")[0]) for name in entries()[key]["author"].split(" and ")]
    shown = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{shown} {entries()[key]['year']}"


@cache
def entries() -> dict[str, dict[str, str]]:
    """The fields of every entry by key."""
    return {key: dict(FIELD.findall(body)) for key, body in ENTRY.findall(BIB.read_text(encoding="utf-8"))}


def _link(match: re.Match[str]) -> str:
    return f"[{label(match[0])}][{match[0]}]" if match[0] in entries() else match[0]


def _entry(fields: dict[str, str]) -> str:
    names = [" ".join(reversed(_plain(name).split(", "))) for name in fields["author"].split(" and ")]
    authors = ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
    venue = [fields[kind] for kind in ("journal", "booktitle", "howpublished", "publisher") if kind in fields]
    volume = fields.get("volume", "") + (f"({fields['number']})" if "number" in fields else "")
    place = ", ".join([*venue, *([volume] if volume else []), *([fields["pages"]] if "pages" in fields else [])])
    links = []
    if "eprint" in fields:
        links.append(f"[arXiv:{fields['eprint']}](https://arxiv.org/abs/{fields['eprint']})")
    if "doi" in fields:
        links.append(f"[doi:{fields['doi']}](https://doi.org/{fields['doi']})")
    end = f" {', '.join(links)}." if links else ""
    title = _plain(fields["title"])
    stop = "" if title[-1] in "?!." else "."
    return f"{authors} ({fields['year']}). *{title}{stop}*" + (f" {_plain(place)}." if place else "") + end


def _plain(text: str) -> str:
    """Without braces, accents of TeX as letters."""
    text = re.sub(r"\\(\W)\{?(\w)\}?", lambda match: match[2] + ACCENTS[match[1]], text)
    return normalize("NFC", text.replace("{", "").replace("}", "").replace("--", "–"))
