"""One version and one name, wherever they are written."""

import ast
import re
import tomllib
from pathlib import Path

from tests.house.tree import parse

CITATION_FIELDS = ("cff-version", "message", "title", "authors", "version", "license")


def faults(root: Path) -> list[str]:
    """Places of a project folder that disagree with the version in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    citation = dict(re.findall(r"^([a-z-]+):[ ]*(.*)$", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    found = [f"CITATION.cff has no {field}" for field in CITATION_FIELDS if field not in citation]
    told = {"src/gnomon/__init__.py": _literal(root), "CITATION.cff": citation.get("version", "").strip("\"'")}
    found += [
        f"{place} says {version}, pyproject.toml says {project['version']}"
        for place, version in told.items()
        if version != project["version"]
    ]
    if citation.get("license") != project["license"]:
        found.append("CITATION.cff and pyproject.toml name different licenses")
    return found


def _literal(root: Path) -> str | None:
    """The string that the front door assigns to ``__version__``."""
    for node in parse(root / "src" / "gnomon" / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return ast.literal_eval(node.value)
    return None
