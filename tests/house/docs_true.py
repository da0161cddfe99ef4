"""What the pages say is executed: their Python runs, their commands and files exist.

The ``python`` blocks of one page run one after another in one namespace; a block of ``>>>`` lines is compared with
the output it shows. A block marked otherwise (``text``, ``bash``) is not run.
"""

import ast
import doctest
import re
from pathlib import Path

from tests.house.tree import parse

BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMANDS = ("demo", "test")


def blocks(page: Path) -> list[tuple[int, str]]:
    """Line and text of every Python block of a page."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in BLOCK.finditer(text)]


def run(page: Path) -> None:
    """Execute a page; what a block raises, or what its output contradicts, is raised."""
    names: dict[str, object] = {"__name__": "__main__"}
    for line, block in blocks(page):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), line - 1)
            options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            doctest.DebugRunner(optionflags=options).run(test, clear_globs=False)
            names |= test.globs
        else:
            exec(compile("\n" * (line - 1) + block, str(page), "exec"), names)  # keeps the page's line numbers


def faults(root: Path) -> list[str]:
    """Commands and links of the README that do not exist, rooms without a page, symbols with two meanings."""
    readme, makefile = (root / "README.md").read_text("utf-8"), (root / "Makefile").read_text("utf-8")
    found = []
    for command in COMMANDS:
        if f"make {command}" not in readme:
            found.append(f"README.md does not name `make {command}`")
    for command in sorted(set(re.findall(r"\bmake ([a-z][a-z-]*)`", readme)) | set(COMMANDS)):
        if not re.search(rf"^{command}:", makefile, re.MULTILINE):
            found.append(f"the Makefile has no target '{command}'")
    for link in LINK.findall(readme):
        if "://" not in link and not link.startswith("mailto:") and not (root / link).exists():
            found.append(f"README.md links to {link}, which does not exist")
    return found + _reference(root) + _notation(root)


def _reference(root: Path) -> list[str]:
    rooms = {path.parent.name for path in (root / "src" / "gnomon").glob("*/__init__.py")}
    pages = {path.stem for path in (root / "docs" / "reference").glob("*.md")}
    found = [f"docs/reference has no page for the room '{room}'" for room in sorted(rooms - pages)]
    return found + [f"docs/reference/{page}.md has no room" for page in sorted(pages - rooms)]


def _notation(root: Path) -> list[str]:
    """The alphabet of sizes stands in the docstring of core/typing.py and in the first table of docs/notation.md."""
    alphabet = ast.get_docstring(parse(root / "src" / "gnomon" / "core" / "typing.py")) or ""
    written = {
        name for names in re.findall(r"(?:^|\s{2})(\w(?:, \w)*)\s{2,}\w", alphabet) for name in names.split(", ")
    }
    table = (root / "docs" / "notation.md").read_text("utf-8").split("## Sizes")[-1].split("##")[0]
    told = set(re.findall(r"^\| `(\w)` \|", table, re.MULTILINE))
    return [f"docs/notation.md and core/typing.py disagree on '{name}'" for name in sorted(written ^ told)]
