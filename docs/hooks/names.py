"""Public names and their pages.

Every page of ``docs/reference`` asks for one part of the package with the line ``::: gnomon.<part>``. It becomes a
table of its public names, and each name gets a page of its own, ``reference/<part>/<name>``. The line ``::: public``
becomes a table of every name of ``gnomon`` itself.
"""

import ast
import importlib
import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

LINE = re.compile(r"^::: (gnomon(?:\.\w+)+)$", re.MULTILINE)
PUBLIC = re.compile(r"^::: public$", re.MULTILINE)
ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
REFERENCE = ROOT / "docs" / "reference"


@dataclass(frozen=True, slots=True)
class Name:
    """A public name: the part that exports it, the file that defines it, and the records that its page also shows."""

    part: str
    name: str
    origin: str
    records: tuple[str, ...] = ()
    slug: str = ""

    @property
    def public(self) -> str:
        """As users write it."""
        return f"{self.part}.{self.name}"

    @property
    def defined(self) -> str:
        """By the file that defines it: ``gnomon.kernels.limit`` alone would mean the file, not the function."""
        return f"{self.origin}.{self.name}"

    @property
    def page(self) -> str:
        """Its page, relative to the folder of pages."""
        return f"reference/{self.part.removeprefix('gnomon.')}/{self.slug or self.name}.md"


def parts() -> list[str]:
    """The parts of the package that pages of the reference ask for."""
    return [part for page in sorted(REFERENCE.glob("*.md")) for part in LINE.findall(page.read_text("utf-8"))]


@cache
def names() -> tuple[Name, ...]:
    """All public names; a name that several parts export belongs to the part that defines it, or to the first."""
    found: dict[str, Name] = {}
    for part in sorted(parts(), key=str.lower):
        for name in names_of(part):
            inside = name.origin.startswith(f"{part}.")
            if name.defined not in found or inside and len(part) > len(found[name.defined].part):
                found[name.defined] = name
            elif inside and not found[name.defined].origin.startswith(f"{found[name.defined].part}."):
                found[name.defined] = name
    return tuple(found.values())


def names_of(part: str, source: Path = SOURCE) -> list[Name]:
    """The names that a part exports, in its order."""
    place = source.joinpath(*part.split("."))
    body, exported = _exports(place / "__init__.py" if place.is_dir() else place.with_suffix(".py"))
    origins = {name: _imported(body).get(name, part) for name in exported}
    shown: set[str] = set()
    found = []
    for name in exported:
        others = [
            r for r in _classes(origins[name], source) if r not in exported and f"{origins[name]}.{r}" not in shown
        ]
        records = tuple(others) if origins[name].startswith(f"{part}.") else ()
        shown |= {f"{origins[name]}.{record}" for record in records}
        twins = [other for other in exported if other != name and other.lower() == name.lower()]
        slug = f"{name}-class" if twins and name[:1].isupper() else name
        found.append(Name(part, name, origins[name], records, slug))
    return found


def table_of(part: str) -> str:
    """A part's opening sentence and a table of its names."""
    pages = {name.defined: name for name in names()}
    rows = []
    for name in names_of(part):
        page = pages[name.defined].page.removeprefix("reference/")
        rows.append(f"| [`{name.name}`]({page}) | {sentence(getattr(importlib.import_module(part), name.name))} |")
    charter = f"::: {part}\n    options:\n      members: false\n      show_root_heading: false\n"
    return "\n".join([charter, "| name | is |", "|---|---|", *sorted(rows, key=str.lower)])


def public() -> str:
    """Three tables: functions and records, parts of the package, errors; each name with its first sentence."""
    front = importlib.import_module("gnomon")
    values = {name: getattr(front, name) for name in front.__all__}
    errors = [name for name, value in values.items() if inspect.isclass(value) and issubclass(value, Exception)]
    modules = [name for name, value in values.items() if isinstance(value, ModuleType)]
    calls = [name for name in values if name not in errors and name not in modules]
    tables = [("Functions and records", calls), ("Parts of the package", modules), ("Errors", errors)]
    return "\n\n".join(f"## {title}\n\n{_table(names, values)}" for title, names in tables)


def sentence(value: object) -> str:
    """The first paragraph of a docstring; nothing for a value that has none of its own."""
    documented = inspect.isclass(value) or inspect.isroutine(value) or isinstance(value, ModuleType)
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()) if documented else ""
    return re.sub(r"<(?=\w)", "&lt;", (text[:1].upper() + text[1:]).replace("|", r"\|"))


def _table(names: list[str], values: dict[str, object]) -> str:
    rows = [f"| {_link(name, values[name])} | {sentence(values[name])} |" for name in sorted(names, key=str.lower)]
    return "\n".join(["| name | is |", "|---|---|", *rows])


def _link(name: str, value: object) -> str:
    if isinstance(value, ModuleType):
        return f"[`gnomon.{name}`](reference/{name}.md)"
    return f"[`gnomon.{name}`]({page_of(value)})"


def page_of(value: object) -> str:
    """The page of a function or class, whichever part exports it."""
    return next(n.page for n in names() if getattr(importlib.import_module(n.origin), n.name) is value)


def _exports(file: Path) -> tuple[list[ast.stmt], list[str]]:
    """The statements of a file and its ``__all__``."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    assigned = [s for s in body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    lists = [s for s in assigned if s.targets[0].id == "__all__"]
    return body, next(ast.literal_eval(s.value) for s in lists)


def _classes(module: str, source: Path) -> list[str]:
    """Public classes that a file defines, such as the records that its functions return."""
    file = source.joinpath(*module.split(".")).with_suffix(".py")
    if not file.exists() or "__all__" not in file.read_text(encoding="utf-8"):
        return []
    body = ast.parse(file.read_text(encoding="utf-8")).body
    defined = {statement.name for statement in body if isinstance(statement, ast.ClassDef)}
    return [name for name in _exports(file)[1] if name in defined]


def _imported(body: list[ast.stmt]) -> dict[str, str]:
    """Where each imported name comes from; also names that are imported for type checkers and loaded on first use."""
    nested = [inner for node in body if isinstance(node, ast.If) for inner in node.body]
    found = [node for node in (*body, *nested) if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in found for alias in node.names}
