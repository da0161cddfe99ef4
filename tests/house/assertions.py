"""Assertions that cannot fail, and comparisons whose result is lost: read off the syntax tree."""

import ast
from pathlib import Path

from tests.house.tree import parse

ALWAYS_TRUE_ITERATORS = ("enumerate", "filter", "iter", "map", "range", "reversed", "zip")
"""Calls whose result is true, or whose truth says nothing about the elements."""


def faults(folder: Path) -> list[str]:
    """Every assertion below a folder that cannot fail, one sentence each."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Assert):
                found += [f"{name}, line {node.lineno}: {what}" for what in _faults_of_assert(node)]
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare | ast.BoolOp):
                cure = "write assert, or a statement for each"
                found.append(f"{name}, line {node.lineno}: the result of a comparison is lost; {cure}")
    return found


def _faults_of_assert(node: ast.Assert) -> list[str]:
    found = []
    parts = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    if any(_always_true(part) for part in parts):
        found.append("a part of the assertion is true whatever happens")
    if isinstance(node.msg, ast.Compare | ast.BoolOp) or _is_number(node.msg):
        found.append("the second part of the assertion is its message, and is never compared")
    for inner in ast.walk(node.test):
        if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.Or):
            mixed = any(isinstance(part, ast.BoolOp) for part in inner.values)
            if mixed and any(isinstance(part, ast.Name | ast.Attribute | ast.Subscript) for part in inner.values):
                found.append("'a and b or c' is true for every c that is not zero; write one assertion for each")
    return found


def _always_true(node: ast.expr) -> bool:
    """Whether the truth of an expression does not depend on what it computes."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(not isinstance(part, ast.Starred) for part in parts)
        case ast.Dict(keys=keys):
            return any(key is not None for key in keys)
        case ast.GeneratorExp() | ast.Lambda() | ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ALWAYS_TRUE_ITERATORS
    return False


def _is_number(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)
