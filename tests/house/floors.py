"""Imports go down the floors only; rooms on one floor are strangers; no module imports itself by a detour.

The front door, the package's own ``__init__``, may import any room, and no room may import the front door.
Imports inside functions, under TYPE_CHECKING and through ``import_module("...")`` count like all others.
"""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.house.tree import modules, parse

FLOORS = {
    "cellar": ("core",),
    "ground floor": ("program", "expectations", "linalg", "models", "data", "training"),
    "first floor": (
        "kernels",
        "tangent",
        "dynamics",
        "landscape",
        "geometry",
        "generalization",
        "checkup",
        "symmetry",
        "scattering",
        "attribution",
        "generative",
        "bayes",
        "discovery",
        "sequences",
        "graphs",
        "lab",
        "report",
    ),
    "landing": ("forecast",),
    "second floor": ("estimators", "examination"),
    "third floor": ("atlas",),
    "roof": ("cli", "playground"),
}
HEIGHT = {room: height for height, rooms in enumerate(FLOORS.values()) for room in rooms}


def faults(source: Path) -> list[str]:
    """Every breach of the rule in a package folder, one sentence each."""
    known = modules(source)
    rooms = {name.split(".")[1] for name in known if "." in name} - {"__main__"}  # the door of `python -m`
    found = [f"{room}: no floor of the house has this room" for room in sorted(rooms - HEIGHT.keys())]
    graph: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for line, target in imports(name, path, source.name):
            where = f"{name}, line {line}"
            if target not in known:
                missing, target = target, target.rpartition(".")[0]  # `from package.module import name`: no module
                if target not in known or target == name:
                    found.append(f"{where}: there is no module {missing}")
                    continue
            graph[name].add(target)
            if breach := _breach(name, target):
                found.append(f"{where}: {breach}")
    return found + _cycles(graph)


def page_faults(page: Path, source: Path) -> list[str]:
    """Where the table of a page (floor, rooms in the plan, rooms that stand) differs from the house."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text("utf-8").splitlines()]
    told = {row[0]: [set(re.findall(r"\w+", cell)) for cell in row[1:]] for row in rows if row and row[0] in FLOORS}
    standing = {path.parent.name for path in source.glob("*/__init__.py")}
    return [
        f"{page.name}: the row '{floor}' should read {sorted(rooms)}, of which stand {sorted(standing & set(rooms))}"
        for floor, rooms in FLOORS.items()
        if told.get(floor) != [set(rooms), standing & set(rooms)]
    ]


def imports(name: str, path: Path, package: str) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything that a module imports from its own package."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = _absolute(name, path, node)
            targets = [start if alias.name == "*" else f"{start}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            targets = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        else:
            continue
        for target in targets:
            if target.split(".")[0] == package:
                yield node.lineno, target


def _absolute(name: str, path: Path, node: ast.ImportFrom) -> str:
    """The module that a `from` import starts at; one dot is the module's own folder."""
    if not node.level:
        return node.module or ""
    folder = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    start = folder[: len(folder) - node.level + 1]
    return ".".join([*start, node.module] if node.module else start)


def _breach(name: str, target: str) -> str | None:
    if "." not in name:
        return None
    if "." not in target:
        return f"imports the front door '{target}'"
    here, there = name.split(".")[1], target.split(".")[1]
    if here == there or here not in HEIGHT or there not in HEIGHT or HEIGHT[there] < HEIGHT[here]:
        return None
    way = "upward" if HEIGHT[there] > HEIGHT[here] else "sideways"
    return f"'{here}' imports {way} from '{there}' ({target})"


def _cycles(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["import cycle: " + " <- ".join(error.args[1])]
    return []
