"""Finds which functions of gnomon a tutorial, a documentation page or a theory claim uses."""

import ast
import importlib
import re
from functools import cache

from tools.tutorials.parse import FOLDER, Cell, read_all

DOCS = FOLDER.parent
GUIDES = ("guides", "topics", "start")
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`(gnomon(?:\.\w+)+)[`(]")
"""A function in backticks."""
PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)


@cache
def pages_by_name() -> dict[str, list[tuple[str, str]]]:
    """Lists for each function of gnomon the tutorials and guides that use it, with title and path."""
    sources = [(t.title, f"tutorials/{t.slug}.md", _code(t.cells), _text(t.cells)) for t in read_all()]
    for page in sorted(page for folder in GUIDES for page in (DOCS / folder).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        code = "\n".join(PROMPT.sub("", block) for block in BLOCK.findall(text) if ">>>" not in block)
        sources.append((text.partition("\n")[0].removeprefix("# "), page.relative_to(DOCS).as_posix(), code, text))
    found: dict[str, list[tuple[str, str]]] = {}
    for title, place, code, text in sources:
        for key in {identity(name) for name in names_in(code) | set(NAMED.findall(text))} - {""}:
            found.setdefault(key, []).append((title, place))
    return found


@cache
def identity(dotted: str) -> str:
    """Returns where a name is really defined, whichever module exports it; empty if it is not a function or class.

    >>> identity("gnomon.ntk") == identity("gnomon.tangent.ntk") != ""
    True
    """
    module, _, name = dotted.rpartition(".")
    try:
        value = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return ""
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else ""


def names_in(code: str) -> set[str]:
    """Returns the names of gnomon that some Python code uses, as dotted paths.

    >>> code = "import gnomon\\nfrom gnomon.landscape import edge_of_stability as edge\\ngnomon.ntk(net, x)\\nedge(run)"
    >>> sorted(names_in(code))
    ['gnomon.landscape.edge_of_stability', 'gnomon.ntk']
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gnomon":
            aliases |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            aliases |= {(a.asname or "gnomon"): (a.name if a.asname else "gnomon")
                        for a in node.names if a.name.split(".")[0] == "gnomon"}  # fmt: skip
    used = {aliases[node.id] for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in aliases}
    chains = {path for node in ast.walk(tree) if isinstance(node, ast.Attribute) and (path := _path(node, aliases))}
    return {path for path in used | chains if path != "gnomon" and not any(c.startswith(f"{path}.") for c in chains)}


def _path(node: ast.expr, aliases: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return aliases.get(node.id, "")
    if isinstance(node, ast.Attribute) and (inner := _path(node.value, aliases)):
        return f"{inner}.{node.attr}"
    return ""


def _code(cells: tuple[Cell, ...]) -> str:
    return "\n".join(cell.text for cell in cells if cell.kind == "code")


def _text(cells: tuple[Cell, ...]) -> str:
    return "\n".join(cell.text for cell in cells if cell.kind == "markdown")
