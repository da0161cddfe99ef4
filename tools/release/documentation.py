"""Builds the documentation of one version into its own folder, next to the versions built before."""

import json
import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["build_version", "list_versions"]

REDIRECT = """<!doctype html>
<meta charset="utf-8"><title>gnomon</title>
<meta http-equiv="refresh" content="0; url={0}/index.html">
<a href="{0}/index.html">gnomon {0}</a>
"""


def build_version(root: Path, site: Path, version: str, mkdocs: Path) -> None:
    """Builds the pages into ``site/version``, and makes ``site/index.html`` lead to the newest version."""
    target = site / version
    shutil.rmtree(target, ignore_errors=True)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command: list[str | Path] = [mkdocs, "build", "--strict", "--quiet", "--site-dir", target]
    subprocess.run(command, cwd=root, check=True, env=environment)
    versions = list_versions(site)
    (site / "versions.json").write_text(json.dumps([{"version": name, "title": name} for name in versions]) + "\n")
    (site / "index.html").write_text(REDIRECT.format(versions[0]))


def list_versions(site: Path) -> list[str]:
    """Lists the versions with a folder in ``site``, the newest first.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("0.2.0", "0.10.0", "assets"):
    ...         (Path(folder) / name).mkdir()
    ...     list_versions(Path(folder))
    ['0.10.0', '0.2.0']
    """
    names = [path.name for path in site.iterdir() if path.is_dir() and path.name.replace(".", "").isdigit()]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
