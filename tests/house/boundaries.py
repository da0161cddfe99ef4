"""A name that one room takes from another is public: in the ``__all__`` of the module it is taken from.

Whole modules may be imported, and a room's own modules may share what they like. Imports inside functions and for type
checkers count like all others; a name with a leading underscore is never public.
"""

import ast
from pathlib import Path

from tests.house.layers import imports
from tests.house.tree import modules, parse


def faults(source: Path) -> list[str]:
    """Every import of a private name across rooms in a package folder."""
    known = modules(source)
    public = {name: exported(path) for name, path in known.items()}
    found = []
    for name, path in known.items():
        for line, target in imports(name, path, source.name):
            owner, _, taken = target.rpartition(".")
            if target in known or owner not in known or _room(owner) in ("", _room(name)) or _room(name) == "":
                continue
            if taken not in public[owner] or taken.startswith("_"):
                found.append(f"{name}, line {line}: {taken} is not in the __all__ of {owner}")
    return found


def exported(path: Path) -> set[str]:
    """The names in the ``__all__`` of a module; none where it has none."""
    for node in parse(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {c.value for c in ast.walk(node.value) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return set()


def _room(module: str) -> str:
    """The room that a module belongs to; the front of the package belongs to none."""
    return ".".join(module.split(".")[1:2])
