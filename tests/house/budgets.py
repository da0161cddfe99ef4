"""How long files, functions and the whole package may be, how many types may be ignored, and which names say nothing."""

import ast
import io
import tokenize
from pathlib import Path
from statistics import median

from tests.house.tree import parse

FILE_LINES = 350
MEDIAN_LINES = 130
TYPES_IGNORED = 20
FUNCTION_LINES = 80
LINES_OF_CODE = 75_000
"""Limit for the package without claims, docstrings, comments and empty lines; it had 68,336 in November 2026."""
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}


def faults(folder: Path) -> list[str]:
    """Every file and function under a folder that is over its budget or has a name without meaning."""
    found = _median(folder)
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES:
            found.append(f"{place}: {lines} lines, the budget is {FILE_LINES}")
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES:
                    found.append(f"{place}: {node.name} has {length} lines, the budget is {FUNCTION_LINES}")
    return found + empty_names(folder)


def _median(folder: Path) -> list[str]:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py")]
    middle = median(lines) if lines else 0
    return [f"the median file has {middle:g} lines, the budget is {MEDIAN_LINES}"] if middle > MEDIAN_LINES else []


def lines_of_code(folder: Path) -> int:
    """Number of lines in a folder without claims, docstrings, comments and empty lines."""
    return sum(_code(path) for path in folder.rglob("*.py") if "claims" not in path.relative_to(folder).parts)


def _code(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    strings = [
        node for node in ast.walk(parse(path)) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    prose = {
        line
        for node in strings
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and i not in prose for i, line in lines)


def types_ignored(folder: Path) -> list[str]:
    """Every comment that tells the type checker to look away."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        for token in tokens:
            if token.type == tokenize.COMMENT and "type: ignore" in token.string:
                found.append(f"{path.relative_to(folder).as_posix()}, line {token.start[0]}: {token.string}")
    return found


def empty_names(folder: Path) -> list[str]:
    """Files and folders whose name could hold anything."""
    parts = {path.relative_to(folder) for path in folder.rglob("*.py")}
    parts |= {parent for path in parts for parent in path.parents}
    return [f"{path.as_posix()}: '{path.stem}' says nothing" for path in sorted(parts) if _bare(path) in EMPTY_NAMES]


def _bare(path: Path) -> str:
    return path.stem.removeprefix("test_").strip("_")
