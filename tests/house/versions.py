"""One version and one name, wherever they are written; and the lowest versions of what the project needs."""

import ast
import re
import tomllib
from pathlib import Path

from tests.house.tree import parse

TOOLS = ("ruff", "mypy")
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


def lowest(root: Path) -> list[str]:
    """Bounds of pyproject.toml that are not the lowest versions that are tested, except for tools that tests never run."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name != "docs"}
    tested = dict(re.findall(r"^([\w-]+)==(\S+)$", (root / "constraints-lowest.txt").read_text("utf-8"), re.MULTILINE))
    bounds = [line.partition(">=") for line in sum(extras.values(), project["dependencies"])]
    return [
        f"pyproject.toml allows {name}>={bound}, constraints-lowest.txt tests {tested.get(name)}"
        for name, _, bound in bounds
        if name not in TOOLS and _release(tested.get(name)) != _release(bound)
    ]


def _release(version: str | None) -> tuple[int, ...]:
    """Numbers of a version, without zeros at the end."""
    return tuple(int(part) for part in re.sub(r"(\.0)+$", "", version).split(".")) if version else ()


def _literal(root: Path) -> str | None:
    """The string that the front door assigns to ``__version__``."""
    for node in parse(root / "src" / "gnomon" / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return ast.literal_eval(node.value)
    return None
