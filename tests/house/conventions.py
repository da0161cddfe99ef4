"""Small rules of the source: what a line may not say, and equations that lead somewhere."""

import ast
import io
import re
import tokenize
from pathlib import Path

from tests.house.tree import docstrings, modules, parse

ANCHOR = re.compile(r"#.*?(\(\d+[a-z]?\))")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")


def faults(source: Path) -> list[str]:
    """Every breach in a package folder, one sentence each."""
    found = []
    for name, path in modules(source).items():
        tree = parse(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                found.append(f"{name}: the __future__ import turns off the shape checks")
            if isinstance(node, ast.Global):
                found.append(f"{name}, line {node.lineno}: mutable module state")
        equations = " ".join(text for _, text in docstrings(tree))
        for line, comment in _comments(path):
            if UNFINISHED.search(comment):
                found.append(f"{name}, line {line}: unfinished work in a comment")
            if (anchor := ANCHOR.fullmatch(comment.strip())) and anchor[1] not in equations:
                found.append(f"{name}, line {line}: no docstring of this file has an equation {anchor[1]}")
    return found + repeated_class_names(source)


def repeated_class_names(source: Path) -> list[str]:
    """Class names that two places of a package folder define: a name alone says which class is meant."""
    places: dict[str, list[str]] = {}
    for name, path in modules(source).items():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{name}, line {node.lineno}")
    return [f"class {name} is defined {len(at)} times: {'; '.join(at)}" for name, at in places.items() if len(at) > 1]


def _comments(path: Path) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
