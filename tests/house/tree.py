"""Where the project is, and its Python sources as data."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "gnomon"


def modules(source: Path) -> dict[str, Path]:
    """Every module under a package folder, by dotted name; a package goes by its folder's name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = (source.name, *path.relative_to(source).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def expect_none(faults: list[str]) -> None:
    """Fail with every fault on a line of its own."""
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


def expect_at_most(allowed: int, faults: list[str]) -> None:
    """Fail, with every fault on a line of its own, where there are more of them than are allowed."""
    if len(faults) > allowed:
        pytest.fail("\n".join([f"{len(faults)} breaches, {allowed} are allowed:", *faults]), pytrace=False)


def parse(path: Path) -> ast.Module:
    """The syntax tree of a file; files of the project are parsed once per process, because many rules read them."""
    return _parse_once(path) if path.is_relative_to(ROOT) else _parse(path)


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


_parse_once = cache(_parse)


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Qualified name (empty for the module itself) and docstring of everything that has one."""
    yield from _docstrings(tree, "")


def _docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
        text := ast.get_docstring(node)
    ):
        yield name, text
    for child in ast.iter_child_nodes(node):
        inner = getattr(child, "name", None) if isinstance(child, ast.stmt) else None
        yield from _docstrings(child, f"{name}.{inner}".lstrip(".") if inner else name)
