"""How many names the subpackages export, and that each of them is on a reference page."""

import ast
from pathlib import Path

from tests.house.tree import parse

MOST_NAMES_OF_A_SUBPACKAGE = 26
MOST_NAMES = 420


def faults(source: Path, reference: Path) -> list[str]:
    """Subpackages that export too many names, or have no page in the reference."""
    found, total = [], 0
    for init in sorted(source.glob("*/__init__.py")):
        name, exported = init.parent.name, names(init)
        total += len(exported)
        if len(exported) > MOST_NAMES_OF_A_SUBPACKAGE:
            found.append(f"{name} exports {len(exported)} names; at most {MOST_NAMES_OF_A_SUBPACKAGE} are allowed")
        page = reference / f"{name}.md"
        if name != "cli" and not (page.exists() and f"::: gnomon.{name}\n" in page.read_text(encoding="utf-8")):
            found.append(f"{name} has no page in the reference")
    if total > MOST_NAMES:
        found.append(f"the subpackages export {total} names; at most {MOST_NAMES} are allowed")
    return found


def names(init: Path) -> list[str]:
    """The ``__all__`` of a file."""
    for statement in parse(init).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []
