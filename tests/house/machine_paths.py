"""No file of the project names a place that exists on one machine only."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

PLACES = ("work", "root", "home", "tmp")
MACHINE_PATH = re.compile(rf"(?<![\w.)\]}}/])/({'|'.join(PLACES)})\b(/|$)|\.libr[a]ry\b", re.MULTILINE)
REGISTRY = re.compile(r"\b(pypi|pythonhosted|download\.pytorch)\.org\b")


def faults(root: Path) -> list[str]:
    """File, line and text of every machine path or registry host under a project folder."""
    found = []
    for path in files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not a text
        for pattern, what in ((MACHINE_PATH, "machine path"), (REGISTRY, "registry host")):
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{path.relative_to(root).as_posix()}, line {line}: {what} '{match[0].strip()}'")
    return found


def files(root: Path) -> Iterator[Path]:
    """Every file that belongs to the project: not the history, and not what .gitignore leaves out by folder."""
    ignored = [".git"]
    if (root / ".gitignore").exists():
        ignored += [line.strip("/") for line in (root / ".gitignore").read_text().splitlines() if line.endswith("/")]
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if not any(fnmatch(name, pattern) for pattern in ignored))
        yield from (Path(folder, name) for name in sorted(names) if name != ".git")
