"""What users read is in plain words: no words of the house's own, and no riddles.

Users read the README and the pages (code blocks and the targets of links aside), docstrings, and the texts of messages
and reports, which are the strings of the source. Contributors' pages may speak of the house: docs/design,
docs/contributing, CONTRIBUTING.md, and what the ``__init__.py`` of a folder says of itself.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.tree import docstrings, modules, parse

HOUSE = r"rooms?(?! (?:for|of|left))|cellar|(?:ground|first|second|third) floor|upstairs|doors?|the house|house's|roof"
RIDDLES = (
    r"how an error dies|errors? dies|change[sd]? its mind|to know\b(?! (?:whether|how|what|which|that|it))|company"
    r"|clean bill|asks? the network|casts a shadow|come what may|the person"
)
WORDS = re.compile(rf"\b(?:{HOUSE}|{RIDDLES})\b", re.IGNORECASE)
CONTRIBUTORS = ("docs/design/", "docs/contributing/")
CODE = re.compile(r"^```.*?^```|^ {4,}[^\n]*$|^(?:>>>|\.\.\.)[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"\]\([^)]*\)")


def faults(read: Iterable[tuple[str, str]]) -> list[str]:
    """Every such word in the `texts` of a project folder, with its place."""
    return [f"{place}: '{match[0]}'" for place, text in read for match in WORDS.finditer(text)]


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Place and text of everything that users read."""
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        place = page.relative_to(root).as_posix()
        if page.exists() and not place.startswith(CONTRIBUTORS):
            yield place, TARGET.sub("]", CODE.sub("", page.read_text(encoding="utf-8")))
    for name, path in modules(root / "src" / "gnomon").items():
        tree = parse(path)
        charter = path.name == "__init__.py" and "." in name
        written = dict(docstrings(tree))
        known = {text.strip() for text in written.values()}
        for inner, text in written.items():
            if (inner or not charter) and not any(part.startswith("_") for part in inner.split(".")):
                yield f"{name}.{inner}".rstrip("."), CODE.sub("", text)
        for line, text in strings(tree):
            if "\n" not in text or text.strip() not in known:
                yield f"{name}, line {line}", text


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings of more than one word that are not docstrings, which are texts of messages and reports."""
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
        if text and " " in node.value.strip():
            yield node.lineno, node.value
