"""Command line of a release: builds archives, checks them, tries them in fresh environments, builds documentation."""

import argparse
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tools.release.archives import Archives, build, problems
from tools.release.documentation import build_version
from tools.release.environments import create, cuda_packages, install, interpreters, try_installed

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
CONSTRAINTS = ROOT / "constraints.txt"
SMOKE = Path(__file__).with_name("smoke.py")
Result = TypeVar("Result")


def main() -> None:
    """Runs all stages of a release in order, prints one line for each, and stops at the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="Folder for archives and documentation.")
    parser.add_argument("--allow-cuda", action="store_true", help="Also try Pythons whose torch brings CUDA packages.")
    parser.add_argument("--skip-docs", action="store_true", help="Do not build the documentation.")
    options = parser.parse_args()
    out = options.out.resolve()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    archives = stage("build wheel and source archive", build, ROOT, out, Path(sys.executable))
    stage("compare archives with the repository", check, archives)
    stage("render README", render_readme, archives)
    try_everywhere(archives, allow_cuda=options.allow_cuda)
    if not options.skip_docs:
        stage("documentation", build_version, ROOT, out / "site", version, BIN / "mkdocs")
    print(f"gnomon {version} is ready in {out}")


def stage(name: str, run: Callable[..., Result], *arguments: Any) -> Result:
    """Runs one stage of the release; prints its name at once and its duration when it ends."""
    print(f"{name} ...", flush=True)
    start = time.perf_counter()
    try:
        result = run(*arguments)
    except (subprocess.CalledProcessError, ValueError) as error:
        sys.exit(f"{name}: failed: {error}")
    print(f"{name}: passed in {time.perf_counter() - start:.0f} s", flush=True)
    return result


def check(archives: Archives) -> None:
    """Raises ValueError with all problems of the release archives, if there are any."""
    if found := problems(ROOT, archives):
        raise ValueError("; ".join(found))


def render_readme(archives: Archives) -> None:
    """Checks that a package index such as PyPI can show the README and the metadata."""
    command = [sys.executable, "-m", "twine", "check", "--strict", str(archives.wheel), str(archives.source)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def try_everywhere(archives: Archives, *, allow_cuda: bool) -> None:
    """Installs each archive into a fresh environment of each Python version, and tries README and commands there."""
    with tempfile.TemporaryDirectory() as folder:
        for version, interpreter in interpreters().items():
            if interpreter is None:
                print(f"Python {version}: skipped, because this machine does not have it", flush=True)
                continue
            for archive in (archives.wheel, archives.source):
                python = create(interpreter, Path(folder) / f"{version}-{archive.suffix[1:]}")
                downloads = cuda_packages(python, CONSTRAINTS, archive)
                if downloads and not allow_cuda:
                    reason = f"pip would download {len(downloads)} packages for GPUs (--allow-cuda does it)"
                    print(f"Python {version}, {archive.name}: skipped, because {reason}", flush=True)
                    continue
                stage(f"Python {version}: install {archive.name}", install, python, CONSTRAINTS, archive)
                stage(f"Python {version}: try {archive.name}", try_installed, python, Path(folder) / "elsewhere", SMOKE)


if __name__ == "__main__":
    main()
