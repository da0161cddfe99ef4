"""Collects the numbers that functions and classes of the package take as defaults.

`python -m tests.house.default_arguments` writes them into `default_arguments.json`, with which a test compares them.
"""

import importlib
import inspect
import json
from math import isfinite
from pathlib import Path
from typing import Any

import gnomon

PACKAGE = Path(gnomon.__file__).parent
TABLE = Path(__file__).with_suffix(".json")
LEFT_OUT = ("atlas/claims/", "cli/")
"""Claims and commands: their settings are shown and tested with them."""


def collect(subpackage: str) -> dict[str, dict[str, Any]]:
    """Returns the numeric defaults of public functions, classes and methods of a subpackage, by their dotted names."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((PACKAGE / subpackage).rglob("*.py")):
        inner = path.relative_to(PACKAGE).as_posix()
        if inner.startswith(LEFT_OUT) or path.stem == "__main__":
            continue
        dotted = "gnomon." + inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = importlib.import_module(dotted)
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == dotted:
                found |= _of_object(f"{dotted}.{name}", value)
    return found


def subpackages() -> list[str]:
    """Returns the names of all subpackages."""
    return sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def _of_object(name: str, value: Any) -> dict[str, dict[str, Any]]:
    found = {}
    if inspect.isclass(value):
        for inner, method in vars(value).items():
            if inspect.isfunction(method) and (not inner.startswith("_") or inner == "__init__"):
                found |= _of_object(f"{name}.{inner}", method)
    elif inspect.isfunction(value):
        numbers = {key: _plain(p.default) for key, p in inspect.signature(value).parameters.items() if _is_numeric(p)}
        found = {name: numbers} if numbers else {}
    return found


def _is_numeric(parameter: inspect.Parameter) -> bool:
    values = parameter.default if isinstance(parameter.default, tuple) else (parameter.default,)
    return bool(values) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _plain(value: Any) -> Any:
    """Returns a value that JSON can store: infinity and NaN become text."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isfinite(value) else str(value)


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(collect(name))}" for name in subpackages()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
