"""Public names on pages.

The line ``::: gnomon.<part>`` becomes the part's opening sentence, its files and public names, or those of one file;
each name is asked for where it is defined: ``gnomon.kernels.limit`` alone would mean the file, not the function. The
line ``::: public`` becomes a table of every name of ``gnomon`` itself.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

LINE = re.compile(r"^::: (gnomon(?:\.\w+)+)$", re.MULTILINE)
PUBLIC = re.compile(r"^::: public$", re.MULTILINE)
SOURCE = Path(__file__).parents[2] / "src"
CHARTER = "\n    options:\n      members: false\n      show_root_heading: false\n"
FILE = "\n    options:\n      members: false\n      show_root_full_path: true\n      show_root_toc_entry: false\n"
NAME = "\n    options:\n      heading_level: 3\n"
REPEATED = f"{NAME}      skip_local_inventory: true\n"


def expanded(room: str, source: Path = SOURCE) -> str:
    """A part's opening sentence; then file by file its docstring, where the equations are, and its public names.

    A name that several parts export has an entry on the page of each. Links lead to the first of these pages in
    alphabetical order.
    """
    place = source.joinpath(*room.split("."))
    body, names = _exports(place / "__init__.py" if place.is_dir() else place.with_suffix(".py"))
    lines = [f"::: {room}{CHARTER}", *(f"::: {room}.{name}{NAME}" for name in names if name not in _imported(body))]
    for origin in dict.fromkeys(_imported(body).values()):
        inside = [name for name in names if _imported(body).get(name) == origin]
        if inside:
            options = NAME if room == _first_room(origin, inside, room, source) else REPEATED
            inside += [
                name for name in _classes(origin, source) if name not in inside and origin.startswith(f"{room}.")
            ]
            lines += [f"::: {origin}{FILE}", *(f"::: {origin}.{name}{options}" for name in inside)]
    return "\n".join(lines)


def public() -> str:
    """Three tables: functions and records, parts of the package, errors; each name with its first sentence."""
    front = importlib.import_module("gnomon")
    values = {name: getattr(front, name) for name in front.__all__}
    errors = [name for name, value in values.items() if inspect.isclass(value) and issubclass(value, Exception)]
    parts = [name for name, value in values.items() if isinstance(value, ModuleType)]
    calls = [name for name in values if name not in errors and name not in parts]
    tables = [("Functions and records", calls), ("Parts of the package", parts), ("Errors", errors)]
    return "\n\n".join(f"## {title}\n\n{_table(names, values)}" for title, names in tables)


def _table(names: list[str], values: dict[str, object]) -> str:
    rows = [f"| {_link(name, values[name])} | {_sentence(values[name])} |" for name in sorted(names, key=str.lower)]
    return "\n".join(["| name | is |", "|---|---|", *rows])


def _link(name: str, value: object) -> str:
    if isinstance(value, ModuleType):
        return f"[`gnomon.{name}`](reference/{name}.md)"
    return f"[`gnomon.{name}`][{value.__module__}.{value.__qualname__}]"


def _sentence(value: object) -> str:
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return (text[:1].upper() + text[1:]).replace("|", r"\|")


def _exports(file: Path) -> tuple[list[ast.stmt], list[str]]:
    """The statements of a file and its ``__all__``."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    assigned = [s for s in body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    lists = [s for s in assigned if s.targets[0].id == "__all__"]
    return body, next(ast.literal_eval(s.value) for s in lists)


def _classes(module: str, source: Path) -> list[str]:
    """Public classes that a file defines, such as the records that its functions return."""
    file = source.joinpath(*module.split(".")).with_suffix(".py")
    if not file.exists():
        return []
    body = ast.parse(file.read_text(encoding="utf-8")).body
    if "__all__" not in file.read_text(encoding="utf-8"):
        return []
    defined = {statement.name for statement in body if isinstance(statement, ast.ClassDef)}
    return [name for name in _exports(file)[1] if name in defined]


def _first_room(origin: str, names: list[str], room: str, source: Path) -> str:
    """The first part that exports these names of a file; ``room`` itself if the file lies inside it."""
    if origin.startswith(f"{room}."):
        return room
    for file in sorted(source.glob("gnomon/*/__init__.py")):
        body, exported = _exports(file)
        if any(name in exported and _imported(body).get(name) == origin for name in names):
            return f"gnomon.{file.parent.name}"
    return room


def _imported(body: list[ast.stmt]) -> dict[str, str]:
    """Where each imported name comes from; also names that are imported for type checkers and loaded on first use."""
    nested = [inner for node in body if isinstance(node, ast.If) for inner in node.body]
    found = [node for node in (*body, *nested) if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in found for alias in node.names}
