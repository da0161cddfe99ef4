"""Finds the line of the user's code that creates a layer, for error messages and problem reports.

The path of a layer, such as "body.2.fc1", is followed from the network: the line that assigns ``self.body`` in its
class, the third argument if that line calls ``nn.Sequential``, then the line that assigns ``self.fc1`` in the class of
that block. Files of installed packages and of gnomon are not the user's.

>>> find_source_line(nn.Sequential(nn.Linear(1, 1)), "0") is None           # its code is not known
True
"""

import ast
import inspect
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.core.results.record import Record

__all__ = ["SourceLine", "find_source_line"]

LISTED = ("Sequential", "ModuleList")
"""Names of containers whose arguments are their layers, in order."""
CACHED_FILES = 64
"""Files whose syntax tree is kept."""


@dataclass(frozen=True, slots=True)
class SourceLine(Record):
    """A line in one of the user's files, given by file and line number.

    >>> str(SourceLine("models/net.py", 12))
    'models/net.py:12'
    """

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class _Place(Record):
    """A line in a file, with the expression on that line that creates a layer, if there is one."""

    file: str
    line: int
    made: ast.expr | None = None


def find_source_line(module: nn.Module, where: str, build: Callable[[], Any] | None = None) -> SourceLine | None:
    """Returns the line of the user's code that creates the layer or parameter named ``where``; None if it is not found.

    ``build`` is the function that builds the module, if there is one. If the line cannot be found, the result is the
    line of the class that owns the layer, or of the function.

    Cost: reading and parsing the files of the classes on the way, once.

    >>> find_source_line(nn.Linear(1, 1), "inputs") is None
    True
    """
    place, current = _of_function(build), module
    reached = False
    for part in where.split("."):
        inside = current._modules.get(part)
        if inside is None and part not in current._parameters:
            break
        reached = True
        # Skips gnomon's own wrapper modules, which do not appear in the user's code.
        if not type(current).__module__.startswith("gnomon."):
            line_only = place and _Place(place.file, place.line)
            place = _place_of_attribute(type(current), part) or _argument(place, part) or line_only
        if inside is None:
            break
        current = inside
    return SourceLine(_short(place.file), place.line) if reached and place is not None else None


def _of_function(build: Callable[[], Any] | None) -> _Place | None:
    """Returns the line and the expression that a function or lambda returns."""
    code = getattr(build, "__code__", None)
    if code is None or not _is_users(code.co_filename) or (tree := _tree(code.co_filename)) is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            return _Place(code.co_filename, node.lineno, node.body)
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name and _starts_at(node, code.co_firstlineno):
            return _Place(code.co_filename, node.lineno, _returned_value(node))
    return None


def _returned_value(function: ast.FunctionDef) -> ast.expr | None:
    """Returns the expression that a function returns; if that is a variable, the last value assigned to it."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    value = values[-1] if values else None
    if isinstance(value, ast.Name):
        assigned = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == value.id for t in node.targets)
        ]
        return assigned[-1] if assigned else None
    return value


def _place_of_attribute(kind: type, name: str) -> _Place | None:
    """Finds the line that assigns ``self.name`` in a class or its base classes; otherwise the line of the class."""
    classes = [(base, file) for base in kind.__mro__ if (file := _file(base)) is not None]
    for base, file in classes:
        for node in ast.walk(_class_node(base, file) or ast.Module([], [])):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                value = _value_for(targets, node.value, name)
                if value is not None:
                    return _Place(file, value.lineno, value)
    for base, file in classes[:1]:
        found = _class_node(base, file)
        return None if found is None else _Place(file, found.lineno)
    return None


def _value_for(targets: list[Any], value: ast.expr, name: str) -> ast.expr | None:
    """Returns the expression that an assignment gives to ``self.name``; also handles several targets, as in ``a, b = 1,
    2``.
    """
    for target in targets:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for to, given in pairs:
            if isinstance(to, ast.Attribute) and to.attr == name and getattr(to.value, "id", "") == "self":
                return given
    return None


def _argument(place: _Place | None, part: str) -> _Place | None:
    """Finds the line that creates the i-th layer in ``nn.Sequential(...)`` or ``nn.ModuleList([...])``."""
    call = None if place is None else place.made
    if place is None or not isinstance(call, ast.Call) or not part.isdigit():
        return None
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    given = call.args
    if name in LISTED and len(given) == 1 and isinstance(given[0], ast.List):
        given = given[0].elts
    number = int(part)
    if name not in LISTED or number >= len(given) or any(isinstance(one, ast.Starred) for one in given[: number + 1]):
        return None
    return _Place(place.file, given[number].lineno, given[number])


def _class_node(kind: type, file: str) -> ast.ClassDef | None:
    """Returns the syntax node that defines a class in its file."""
    tree = _tree(file)
    found: Iterator[ast.AST] = iter(()) if tree is None else ast.walk(tree)
    classes = [node for node in found if isinstance(node, ast.ClassDef) and node.name == kind.__name__]
    if len(classes) > 1:
        try:
            first = inspect.getsourcelines(kind)[1]
        except (OSError, TypeError):
            return None
        return next((node for node in classes if _starts_at(node, first)), None)
    return classes[0] if classes else None


def _starts_at(node: ast.ClassDef | ast.FunctionDef, line: int) -> bool:
    return line in (node.lineno, *(one.lineno for one in node.decorator_list))


def _file(kind: type) -> str | None:
    """Returns the user's file that defines a class; None for classes of torch, installed packages and gnomon."""
    try:
        file = inspect.getsourcefile(kind)
    except (OSError, TypeError):  # The class comes from an interactive session, or it is built in.
        return None
    return file if file is not None and _is_users(file) else None


def _is_users(file: str) -> bool:
    folders = [Path(torch.__file__).parent, Path(__file__).parents[2]]
    folders += [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")]
    return Path(file).is_file() and not any(Path(file).is_relative_to(folder) for folder in folders)


@lru_cache(CACHED_FILES)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse(Path(file).read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):  # The file has changed, is missing, or is not Python source code.
        return None


def _short(file: str) -> str:
    """Shortens a file's path: relative to the current folder, or only the file's name if it is elsewhere."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name
