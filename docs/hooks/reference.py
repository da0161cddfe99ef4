"""The page of a public name: its documentation, the background of its file, and what uses it."""

import ast
import re
from functools import cache
from typing import Any

import names
from claims import titles
from mkdocs.structure.files import File, InclusionLevel
from names import Name

from tools.tutorials import uses

MIN_BACKGROUND_PARAGRAPHS = 2
"""A docstring of a file with fewer paragraphs says nothing that its functions do not say."""


def add_files(files: Any, config: Any) -> None:
    """Adds one page for each public name."""
    shown: set[str] = set()
    for name in names.names():
        text = page(name, repeated=name.origin in shown)
        shown.add(name.origin)
        files.append(File.generated(config, name.page, content=text, inclusion=InclusionLevel.NOT_IN_NAV))


def page(name: Name, *, repeated: bool) -> str:
    """The Markdown of a name's page."""
    part = name.part.removeprefix("gnomon.").split(".")[0]
    up = "../" * (name.page.count("/") - 1)
    blocks = [
        f"---\ntitle: {name.public}\n---\n",
        _ask(name.defined, heading=name.public, level=1),
        *(_ask(f"{name.origin}.{record}", heading=record, level=2) for record in name.records),
    ]
    if name.origin != name.part and _has_background(name.origin):
        blocks += ["## Background", _background(name.origin, repeated)]
    blocks += [*_section("Used in", _used(name, up)), *_section("Claims about this", _claims(name, up))]
    blocks.append(f"All names of [`gnomon.{part}`]({up}{part}.md).")
    return "\n\n".join(blocks) + "\n"


def _ask(path: str, *, heading: str, level: int) -> str:
    options = f"heading: {heading}\n      heading_level: {level}\n      toc_label: {heading.rpartition('.')[2]}"
    return f"::: {path}\n    options:\n      {options}\n"


def _background(origin: str, repeated: bool) -> str:
    options = "members: false\n      show_root_heading: false\n      show_root_toc_entry: false"
    return f"::: {origin}\n    options:\n      {options}\n" + ("      skip_local_inventory: true\n" if repeated else "")


def _has_background(origin: str) -> bool:
    file = names.SOURCE.joinpath(*origin.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return len([p for p in text.split("\n\n") if not p.startswith(">>>")]) >= MIN_BACKGROUND_PARAGRAPHS


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "\n".join(lines)] if lines else []


def _used(name: Name, up: str) -> list[str]:
    pages = uses.pages_by_name().get(uses.identity(name.public), [])
    return [f"- [{title}]({up}../{page})" for title, page in pages]


def _claims(name: Name, up: str) -> list[str]:
    return [f"- [{titles()[claim]}](claim:{claim})" for claim in claims_by_name().get(uses.identity(name.public), [])]


@cache
def claims_by_name() -> dict[str, list[str]]:
    """Claims about each function: those whose quantity it measures, and those whose file or page uses it."""
    from gnomon.atlas.catalog import catalog
    from gnomon.atlas.coverage import functions_by_entry
    from gnomon.atlas.prose import explanation_of_claim

    found: dict[str, list[str]] = {}
    for claim, entry in catalog().items():
        covered = [function for i in (claim, *entry.claim.covers) for function in functions_by_entry().get(i, ())]
        prose = explanation_of_claim(claim)
        measured = [call.partition("(")[0] for call, _ in prose.measure] if prose else []
        for function in dict.fromkeys([*covered, *measured, *sorted(uses.names_in(entry.code))]):
            if not re.match(r"gnomon\.(lab|atlas)\b", function) and (key := uses.identity(function)):
                found.setdefault(key, []).append(claim)
    return {key: list(dict.fromkeys(claims)) for key, claims in found.items()}


@cache
def functions_by_claim() -> dict[str, list[str]]:
    """The public functions whose pages name each claim, so that the page of the claim can name them."""
    found: dict[str, list[str]] = {}
    for name in names.names():
        for claim in claims_by_name().get(uses.identity(name.public), []):
            found.setdefault(claim, []).append(name.public)
    return found
