"""No example goes unexecuted: what doctest finds is what the docstrings hold."""

import doctest
import importlib
from pathlib import Path

from tests.house.tree import docstrings, modules, parse


def faults(package: str) -> list[str]:
    """Docstrings with an example that the doctest run of an importable package would pass over."""
    source = Path(importlib.import_module(package).__file__).parent
    found = []
    for name, path in modules(source).items():
        written = {f"{name}.{inner}".rstrip(".") for inner, text in docstrings(parse(path)) if ">>>" in text}
        tests = doctest.DocTestFinder().find(importlib.import_module(name), name)
        executed = {test.name for test in tests if test.examples}
        found += [f"{missed}: its example is never executed" for missed in sorted(written - executed)]
    return found
