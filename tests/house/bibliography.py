"""References are keys into one bibliography: every key cited has an entry, every entry is cited.

A key is surname, year and one word of the title, as in ``jacot`` ``2018`` ``neural``; the entry must agree with it.
"""

import re
from pathlib import Path

from tests.house.tree import docstrings, modules, parse

KEY = re.compile(r"\b[a-z]+[0-9]{4}[a-z]+\b")
BRACKETS = re.compile(r"\[([^\[\]]*)\]")
ENTRY = re.compile(r"^@(\w+)\{([^,\s]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)


def faults(root: Path) -> list[str]:
    """Unknown keys, unused entries and entries that contradict their key, in a project folder."""
    known, found = entries(root), []
    for key, fields in known.items():
        found += _contradictions(key, fields)
    used = cited(root)
    found += [f"{key}: cited in {where}, and not in references.bib" for key, where in used.items() if key not in known]
    return found + [f"{key}: in references.bib, and cited nowhere" for key in known if key not in used]


def entries(root: Path) -> dict[str, dict[str, str]]:
    """The fields of every entry, by key."""
    text = (root / "docs" / "references.bib").read_text(encoding="utf-8")
    return {key: dict(FIELD.findall(body)) for _, key, body in ENTRY.findall(text)}


def cited(root: Path) -> dict[str, str]:
    """Every key in brackets in a docstring of the source or on a page, with the last place that cites it."""
    places = {}
    for name, path in modules(root / "src" / "gnomon").items():
        places[name] = " ".join(text for _, text in docstrings(parse(path)))
    for page in [root / "README.md", *(root / "docs").rglob("*.md")]:
        if page.exists():
            places[page.relative_to(root).as_posix()] = page.read_text(encoding="utf-8")
    return {
        key: where for where, text in places.items() for inside in BRACKETS.findall(text) for key in KEY.findall(inside)
    }


def _contradictions(key: str, fields: dict[str, str]) -> list[str]:
    parts = re.fullmatch(r"([a-z]+)([0-9]{4})([a-z]+)", key)
    if not parts:
        return [f"{key}: a key is surname, year, word"]
    missing = {"title", "author", "year"} - fields.keys()
    if missing:
        return [f"{key}: has no {', '.join(sorted(missing))}"]
    surname, year, word = parts.groups()
    agree = {
        "author": surname in fields["author"].split(" and ")[0].lower(),
        "year": year == fields["year"],
        "title": word in fields["title"].lower().replace("{", "").replace("}", ""),
    }
    return [f"{key}: does not agree with its {field}" for field, right in agree.items() if not right]
