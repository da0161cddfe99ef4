"""References are keys into one bibliography: every key cited has an entry, every entry is cited.

A key is surname, year and one word of the title, as in ``jacot`` ``2018`` ``neural``; the entry must agree with it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import docstrings, modules, parse

KEY = re.compile(r"\b[a-z]+[0-9]{4}[a-z]+\b")
BRACKETS = re.compile(r"\[([^\[\]]*)\]")
PLACES = {"Definition": 2, "Source": 1}  # of the reference among the arguments
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
    text = (root / "src" / "gnomon" / "references.bib").read_text(encoding="utf-8")
    return {key: dict(FIELD.findall(body)) for _, key, body in ENTRY.findall(text)}


def cited(root: Path) -> dict[str, str]:
    """Every key that the source or a page cites, with the last place that does.

    A key is cited in brackets in a docstring or on a page, or as the reference of a ``Definition(...)`` or
    a ``Source(...)``.
    """
    places = {}
    for name, path in modules(root / "src" / "gnomon").items():
        tree = parse(path)
        texts = [text for _, text in docstrings(tree)] + [f"[{key}]" for key in _definitions(tree)]
        places[name] = " ".join(texts)
    for page in [root / "README.md", *(root / "docs").rglob("*.md")]:
        if page.exists():
            places[page.relative_to(root).as_posix()] = page.read_text(encoding="utf-8")
    return {
        key: where for where, text in places.items() for inside in BRACKETS.findall(text) for key in KEY.findall(inside)
    }


def _definitions(tree: ast.Module) -> Iterator[str]:
    """References of ``Definition(equation, text, reference)`` and ``Source(grade, reference)``, printed in full."""
    for node in ast.walk(tree):
        place = PLACES.get(ast.unparse(node.func).split(".")[-1]) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and place is not None:
            named = [keyword.value for keyword in node.keywords if keyword.arg == "reference"]
            for value in [*node.args[place : place + 1], *named]:
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
                    yield value.value


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
