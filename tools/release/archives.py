"""Builds the wheel and the source archive, and compares their files and metadata with the repository."""

import subprocess
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

__all__ = ["Archives", "build", "problems"]

FORBIDDEN_PARTS = ("__pycache__", ".venv", "node_modules", ".git", "build")
"""Folders that never belong into an archive."""
MAX_WHEEL_BYTES = 20_000_000
"""Largest size of the wheel; the stored results of the claims are most of it."""
NOT_IN_WHEEL = "src/gnomon/playground/web/"
"""The sources of the playground; the wheel has the page that is built from them."""


@dataclass(frozen=True, slots=True)
class Archives:
    """The two files of a release: wheel and source archive."""

    wheel: Path
    source: Path


def build(root: Path, folder: Path, python: Path) -> Archives:
    """Builds the wheel and the source archive of the project in ``root`` with the Python module ``build``."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("gnomon-*.whl"), *folder.glob("gnomon-*.tar.gz")):
        old.unlink()
    subprocess.run([python, "-m", "build", "--outdir", folder, root], check=True, stdout=subprocess.DEVNULL)
    return Archives(next(folder.glob("gnomon-*.whl")), next(folder.glob("gnomon-*.tar.gz")))


def problems(root: Path, archives: Archives) -> list[str]:
    """Lists what is wrong with the files or the metadata of the release archives; empty if nothing is."""
    tracked = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/gnomon/")}
    package -= {name for name in package if f"src/{name}".startswith(NOT_IN_WHEEL)}
    with zipfile.ZipFile(archives.wheel) as wheel:
        inside = set(wheel.namelist())
        metadata = wheel.read(next(name for name in inside if name.endswith("/METADATA"))).decode()
    with tarfile.open(archives.source) as source:
        shipped = {name.partition("/")[2] for name in source.getnames()}
    modules = {name for name in inside if name.startswith("gnomon/")}
    found = [f"the wheel lacks {name}" for name in sorted(package - modules)]
    found += [f"the wheel has {name}, which git does not track" for name in sorted(modules - package)]
    found += [f"the source archive lacks src/{name}" for name in sorted(package) if f"src/{name}" not in shipped]
    found += [
        f"an archive has {name}" for name in sorted(inside | shipped) if set(name.split("/")) & set(FORBIDDEN_PARTS)
    ]
    if archives.wheel.stat().st_size > MAX_WHEEL_BYTES:
        found.append(f"the wheel has {archives.wheel.stat().st_size:,} bytes, more than {MAX_WHEEL_BYTES:,}")
    return found + metadata_problems(root, metadata)


def metadata_problems(root: Path, metadata: str) -> list[str]:
    """Lists fields of the wheel's metadata that are missing or differ from pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    fields = Parser().parsestr(metadata)
    wanted = {
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "Requires-Python": project["requires-python"],
        "License-Expression": project["license"],
        "Description-Content-Type": "text/markdown",
    }
    wrong = {name: value for name, value in wanted.items() if fields[name] != value}
    found = [f"metadata: {name} is {fields[name]!r} (expected {value!r})" for name, value in wrong.items()]
    if not str(fields.get_payload()).strip():
        found.append("metadata: the description is empty")
    return found
