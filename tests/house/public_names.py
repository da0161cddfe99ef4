"""What a public name owes its reader: existence, a docstring with its parts, an example, a signature that tells all.

A public name is one in the ``__all__`` of a module of the package. A function's docstring has one opening sentence
and an example, and its cost if that is not trivial; where it states a numbered equation it, or its module, also gives hypotheses and a reference.
A class may keep its example in a method or in its module. Errors, interfaces, aliases and constants need no example.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType

from tests.house.tree import modules, parse

EQUATION = re.compile(r"\s\(\d+[a-z]?\)\s*$", re.MULTILINE)
EMPTY = re.compile(r"^\s*Cost: (none|nothing)\.\s*$", re.MULTILINE)
CHARTER = ("Contains", "May import")
CHARTER_LINES = 20


def faults(package: str) -> list[str]:
    """Every debt of a package that can be imported by this name."""
    front = importlib.import_module(package)
    names = [info.name for info in pkgutil.walk_packages(front.__path__, package + ".")]
    labeled = _labeled(Path(front.__file__).parent)
    found = []
    for name in [package, *names]:
        module = importlib.import_module(name)
        if hasattr(module, "__path__") and name.count(".") == 1:
            found += _charter(module)
        for public in getattr(module, "__all__", ()):
            if public.startswith("__"):
                continue
            if not hasattr(module, public):
                found.append(f"{name}.{public}: in __all__, and does not exist")
            else:
                value = getattr(module, public)
                found += [f"{name}.{public}: {debt}" for debt in _debts(value, public in labeled)]
    return found


def _charter(room: ModuleType) -> Iterator[str]:
    text = room.__doc__ or ""
    for words in CHARTER:
        if words not in text:
            yield f"{room.__name__}: the charter does not say '{words}'"
    if len(text.splitlines()) > CHARTER_LINES:
        yield f"{room.__name__}: the charter is over {CHARTER_LINES} lines"
    if not hasattr(room, "__all__"):
        yield f"{room.__name__}: a subpackage says in __all__ what is public"


def _debts(value: object, labeled: bool) -> Iterator[str]:
    plain = inspect.unwrap(value) if callable(value) else value
    if inspect.isfunction(plain):
        yield from _function(plain)
    elif inspect.isclass(plain) and not hasattr(plain, "dtypes"):  # jaxtyping aliases are classes that carry dtypes
        yield from _class(plain)
    elif isinstance(plain, ModuleType):
        if not plain.__doc__:
            yield "has no docstring"
    elif not labeled:
        yield "is a constant or an alias, and no string below its assignment says what it is"


def _function(function: object) -> Iterator[str]:
    text = function.__doc__ or ""
    if not text:
        yield "has no docstring"
        return
    if not text.split("\n\n")[0].rstrip().endswith("."):
        yield "its docstring does not open with a sentence"
    if EMPTY.search(text):
        yield "its docstring has a sentence that says nothing, such as 'Cost: none.'"
    if ">>>" not in text:
        yield "its docstring has no example"
    if EQUATION.search(text):
        around = text + (inspect.getmodule(function).__doc__ or "")
        yield from (f"states an equation without '{part}'" for part in ("Hypothes", "Reference") if part not in around)
    yield from _signature(function)


def _class(kind: type) -> Iterator[str]:
    own = [value for name, value in vars(kind).items() if inspect.isroutine(value) and _public(name)]
    methods = [inspect.unwrap(getattr(value, "__func__", value)) for value in own]
    # scikit-learn adds descriptors of its own, and typing an __init__ to protocols
    methods = [method for method in methods if inspect.isfunction(method) and _public(method.__name__)]
    if not kind.__doc__:
        yield "has no docstring"
    if not (issubclass(kind, BaseException) or inspect.isabstract(kind) or getattr(kind, "_is_protocol", False)):
        texts = [kind.__doc__, inspect.getmodule(kind).__doc__, *(method.__doc__ for method in methods)]
        if not any(">>>" in (text or "") for text in texts):
            yield "neither the class, nor a method, nor its module has an example"
    for method in methods:
        if not (method.__name__ == "__init__" and is_dataclass(kind)):
            yield from (f"{method.__name__}: {debt}" for debt in _signature(method))
        if method.__name__ != "__init__" and not method.__doc__ and not _inherits_docstring(kind, method.__name__):
            yield f"{method.__name__}: has no docstring"


def _public(name: str) -> bool:
    return name == "__init__" or not name.startswith("_")


def _inherits_docstring(kind: type, name: str) -> bool:
    return any(getattr(vars(base).get(name), "__doc__", None) for base in kind.__mro__[1:])


def _signature(function: object) -> Iterator[str]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            yield f"takes **{parameter.name}: name the options"
        by_place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if by_place and (parameter.annotation is bool or isinstance(parameter.default, bool)):
            yield f"takes the boolean {parameter.name} by position: make it keyword-only"


def _labeled(source: Path) -> set[str]:
    """Names of constants and aliases with a string below their assignment."""
    names = set()
    for path in modules(source).values():
        body = parse(path).body
        for statement, below in zip(body, body[1:], strict=False):
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                targets = getattr(statement, "targets", [getattr(statement, "target", None)])
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names
