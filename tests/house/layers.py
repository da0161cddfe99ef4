"""Imports go down the layers only; subpackages of one layer do not import each other; there are no import cycles.

The package's own ``__init__`` may import any subpackage, and no subpackage may import it. Imports inside functions, under
TYPE_CHECKING and through ``import_module("...")`` count like all others. Each subpackage states in its docstring what it
imports ("May import: ..."), and that list must be what it really imports.
"""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.house.tree import modules, parse

LAYERS = {
    "core": ("core",),
    "findings": ("findings",),
    "adapter": ("adapter",),
    "foundation": ("program", "expectations", "linalg", "models", "data", "training"),
    "instruments": (
        "kernels",
        "tangent",
        "dynamics",
        "landscape",
        "checks",
        "robustness",
        "bounds",
        "decisions",
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
    "prediction": ("forecast",),
    "product": ("estimators", "examination"),
    "content": ("atlas", "playground"),
    "interface": ("cli",),
}
HEIGHT = {name: height for height, names in enumerate(LAYERS.values()) for name in names}
STATED = re.compile(r"^May import: (.*?)\.$", re.MULTILINE | re.DOTALL)
NOTHING = "no other subpackage"


def faults(source: Path) -> list[str]:
    """Every breach of the rules in a package folder, one sentence each."""
    known = modules(source)
    present = {name.split(".")[1] for name in known if "." in name} - {"__main__"}
    found = [f"{name}: this subpackage belongs to no layer" for name in sorted(present - HEIGHT.keys())]
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


def stated_faults(source: Path) -> list[str]:
    """Subpackages whose docstring does not list exactly what they import."""
    found = []
    for folder in sorted(path.parent for path in source.glob("*/__init__.py")):
        match = STATED.search(ast.get_docstring(parse(folder / "__init__.py")) or "")
        if match is None:
            found.append(f"{folder.name}: its docstring has no line 'May import: ...'")
            continue
        listed = " ".join(match[1].split())
        stated = set() if listed == NOTHING else {word.strip() for word in listed.split(",")}
        used = imports_of(source, folder.name)
        if extra := sorted(stated - used):
            found.append(f"{folder.name}: says that it imports {', '.join(extra)}, and does not")
        if missing := sorted(used - stated):
            found.append(f"{folder.name}: imports {', '.join(missing)}, and does not say so")
    return found


def imports_of(source: Path, subpackage: str) -> set[str]:
    """The other subpackages that one of them imports."""
    known = {
        name: path for name, path in modules(source).items() if f"{name}.".startswith(f"{source.name}.{subpackage}.")
    }
    targets = {target for name, path in known.items() for _, target in imports(name, path, source.name)}
    parts = {target.split(".")[1] for target in targets if "." in target}
    return {part for part in parts if (source / part / "__init__.py").exists()} - {subpackage}


def page_faults(page: Path, source: Path) -> list[str]:
    """Rows of the table of a page (layer, subpackages) that differ from the layers of the package."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text("utf-8").splitlines()]
    stated = {row[0]: set(re.findall(r"\w+", row[1])) for row in rows if len(row) == 2 and row[0] in LAYERS}
    present = {path.parent.name for path in source.glob("*/__init__.py")}
    return [
        f"{page.name}: the row '{layer}' should list {sorted(present & set(names))}"
        for layer, names in LAYERS.items()
        if stated.get(layer) != present & set(names)
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
        return f"imports the package itself, '{target}'"
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
