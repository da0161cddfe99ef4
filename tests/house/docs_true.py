"""What the pages say is executed: their Python runs, their commands and files exist.

The ``python`` blocks of one page run one after another in one namespace. Their outputs are compared with those that the
page shows, numbers up to rounding. A block marked otherwise (``text``, ``bash``) is not run.
"""

import ast
import re
from pathlib import Path

from tests.house.tree import parse
from tools.blocks import page as block_pages
from tools.tutorials import compare

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMANDS = ("demo", "test")


def run(page: Path) -> None:
    """Execute a page; what a block raises, or what an output that the page shows contradicts, is raised."""
    outputs = block_pages.run(page, quiet=False)
    stored = block_pages.load(page) if page.is_relative_to(block_pages.ROOT) else None
    for block, output, kept in zip(block_pages.blocks(page), outputs, stored or [], strict=stored is not None):
        if not block.varies and (difference := compare.difference(output.text, kept.text)):
            raise AssertionError(f"{page.name}, line {block.line} prints other text than the page shows: {difference}")


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
