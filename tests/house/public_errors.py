"""Errors that reach a user: public functions name their call, and no code passes the call down or writes it by hand.

Read from the syntax tree, because a decorator leaves no trace in a function that tests wrap once more.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import modules, parse

DECORATOR = "add_call_to_errors"
WITHOUT_CALL = ("core", "cli")
"""Subpackages whose functions no user calls by their Python name."""


def faults(source: Path) -> list[str]:
    """Every breach in a package folder, one sentence each."""
    trees = {name: parse(path) for name, path in modules(source).items()}
    found = []
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "[H:" in node.value:
                found.append(f"{name}, line {node.lineno}: a message has a code in brackets, [H:")
            if isinstance(node, ast.arg) and node.arg == "call" and _is_text(node.annotation):
                found.append(f"{name}, line {node.lineno}: 'call' is passed down; errors get it from {DECORATOR}")
    return found + [f"{place}: is exported and has no @{DECORATOR}" for place in sorted(_undecorated(trees))]


def _is_text(annotation: ast.expr | None) -> bool:
    return annotation is not None and "str" in {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)}


def _undecorated(trees: dict[str, ast.Module]) -> set[str]:
    packages = {name.rpartition(".")[0] for name in trees}
    found = set()
    for package in packages & trees.keys():
        if package.split(".")[1:2] and package.split(".")[1] in WITHOUT_CALL:
            continue
        for public in _exported(trees[package]):
            if (place := _defined(trees, package, public)) and not _sound(place[1]):
                found.add(f"{place[0]}.{place[1].name}")
    return found


def _exported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (word.value for word in ast.walk(node.value) if isinstance(word, ast.Constant))


def _defined(trees: dict[str, ast.Module], module: str, name: str) -> tuple[str, ast.FunctionDef] | None:
    """The module and the definition of a function, found along the imports; None for anything else."""
    for node in trees[module].body if module in trees else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _defined(trees, node.module, alias.name)
    return None


def _sound(function: ast.FunctionDef) -> bool:
    """Whether a function has the decorator, or is a generator, whose errors come later."""
    names = {n.id for d in function.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}
    return DECORATOR in names or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(function))
