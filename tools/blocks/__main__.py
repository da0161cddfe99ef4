"""Command line for the Python blocks of documentation pages: `run` executes changed pages, `list` names them."""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.blocks.page import ROOT, blocks, load, run, write

PARALLEL_RUNS = 2
"""Pages that run at the same time, each on one thread."""


def pages() -> list[Path]:
    """Returns every documentation page with Python blocks."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if blocks(page)]


def main() -> None:
    """Runs or lists documentation pages with Python blocks; without names, all pages whose code changed."""
    parser = argparse.ArgumentParser(prog="python -m tools.blocks", description=__doc__)
    parser.add_argument("command", choices=["run", "list"])
    parser.add_argument("pages", nargs="*", help="Paths of pages.")
    options = parser.parse_args()
    chosen = [Path(page).resolve() for page in options.pages] or [page for page in pages() if load(page) is None]
    if options.command == "list":
        print("\n".join(f"to run: {page.relative_to(ROOT)}" for page in chosen) or "all pages are current")
    elif len(chosen) == 1:
        write(chosen[0], run(chosen[0]))
        print(f"ran {chosen[0].relative_to(ROOT)}", flush=True)
    else:
        _run(chosen)


def _run(chosen: list[Path]) -> None:
    command = [sys.executable, "-m", "tools.blocks", "run"]
    with ThreadPoolExecutor(PARALLEL_RUNS) as pool:
        codes = pool.map(lambda page: subprocess.run([*command, str(page)], check=False).returncode, chosen)
        if failed := [page.name for page, code in zip(chosen, codes, strict=True) if code]:
            sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
