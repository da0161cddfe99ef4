"""Which functions both the prediction and the measurement of a claim reach, by reading its source.

Allowed on both sides: `problem` and whatever else makes the inputs (`problem`, `inputs`, `data`, `net`), and libraries
that are no part of gnomon.
"""

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

MADE = ("problem", "inputs", "data", "net")
"""Names of functions of a claim that make its inputs."""


ROLES = ("predicted", "observed", "control")
"""Names that a claim may assign instead of define."""


def shared(code: str, predicted: str = "predicted", observed: str = "observed") -> set[str]:
    """Names from gnomon, or defined in the file, that both sides reach and that make no inputs.

    A file with a table of claims has its own functions for each of them, whose names are given.
    """
    tree = ast.parse(code)
    defined: dict[str, ast.stmt] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    defined |= {
        node.targets[0].id: node
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in ROLES
    }
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gnomon")
        and not (node.module or "").startswith(("gnomon.lab", "gnomon.data", "gnomon.models"))
        for alias in node.names
        if alias.name not in ("data", "models", "InitializationLaw")
    }  # fmt: skip
    return _reached(predicted, defined, imported) & _reached(observed, defined, imported)


def name_of(function: Callable[..., Any], role: str) -> str:
    """The name under which a file defines a function of its claim: the role itself, or the function's own."""
    inner = function.func if isinstance(function, partial) else function
    return role if getattr(inner, "__name__", role) == role else str(inner.__name__)


def _reached(name: str, defined: dict[str, ast.stmt], imported: set[str]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for node in ast.walk(defined[todo.pop()]):
            if isinstance(node, ast.Name) and node.id not in seen and node.id not in MADE:
                if node.id in imported:
                    seen.add(node.id)
                elif node.id in defined and node.id != name:
                    seen.add(node.id)
                    todo.append(node.id)
    return seen
