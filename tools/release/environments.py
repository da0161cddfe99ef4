"""Creates fresh virtual environments, one for each version of Python that this machine has."""

import json
import shutil
import subprocess
from pathlib import Path

__all__ = ["create", "cuda_packages", "install", "interpreters", "try_installed"]

VERSIONS = ("3.11", "3.12", "3.13")
"""Versions of Python that the project supports."""
CUDA_PREFIXES = ("nvidia-", "cuda-", "triton")
"""How packages begin that only builds of torch for a GPU need."""


def interpreters() -> dict[str, Path | None]:
    """Returns the interpreter of each supported version of Python; None if one is missing or does not start."""
    found: dict[str, Path | None] = {}
    for version in VERSIONS:
        path = shutil.which(f"python{version}")
        starts = path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
        found[version] = Path(path) if path and starts else None
    return found


def create(interpreter: Path, folder: Path) -> Path:
    """Creates an empty environment with pip in ``folder``, and returns its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([interpreter, "-m", "venv", folder], capture_output=True, check=False)
    if made.returncode:  # The Python of Debian comes without ensurepip, so pip is installed separately.
        subprocess.run([interpreter, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        command: list[str | Path] = [
            interpreter,
            "-m",
            "pip",
            "--python",
            folder / "bin" / "python",
            "install",
            "--quiet",
            "pip",
        ]
        subprocess.run(command, check=True)
    return folder / "bin" / "python"


def cuda_packages(python: Path, constraints: Path, package: Path) -> list[str]:
    """Lists the GPU packages that an installation of ``package`` would download; installs nothing."""
    options: list[str | Path] = ["--quiet", "--dry-run", "--report", "-", "--constraint", constraints]
    command: list[str | Path] = [python, "-m", "pip", "install", *options, package]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = [item["metadata"]["name"].lower() for item in json.loads(text[text.index("{") :])["install"]]
    return sorted(name for name in names if name.startswith(CUDA_PREFIXES))


def install(python: Path, constraints: Path, package: Path) -> None:
    """Installs a package and its dependencies into an environment."""
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--constraint", constraints, package], check=True)


def try_installed(python: Path, folder: Path, script: Path) -> None:
    """Runs ``script`` in an empty folder in an environment with gnomon; raises CalledProcessError if the script
    fails.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([python, "-I", script], cwd=folder, check=True)
