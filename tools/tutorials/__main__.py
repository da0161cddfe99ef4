"""Command line for tutorials: `run` executes them, `check` reports what one lacks, `list` shows which are current."""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tools.tutorials.check import problems
from tools.tutorials.execute import execute
from tools.tutorials.parse import FOLDER, Tutorial, read
from tools.tutorials.store import load, write

PARALLEL_RUNS = 2
"""Tutorials that run at the same time, each on one thread."""


def main() -> None:
    """Runs, checks or lists tutorials; without names, all tutorials whose code changed."""
    parser = argparse.ArgumentParser(prog="python -m tools.tutorials", description=__doc__)
    parser.add_argument("command", choices=["run", "check", "list"])
    parser.add_argument("slugs", nargs="*", help="Names (or beginnings of names) of tutorials.")
    parser.add_argument("--all", action="store_true", help="Run also those whose outputs are current.")
    options = parser.parse_args()
    chosen = [read(FOLDER / f"{slug}.py") for slug in _matching(options.slugs)]
    if options.command == "list":
        for tutorial in chosen:
            stored = load(tutorial)
            print(f"{tutorial.slug:32} {f'current, {stored.seconds:.1f} s' if stored else 'to run'}")
    elif options.command == "check":
        found = [f"{tutorial.slug}: {problem}" for tutorial in chosen for problem in problems(tutorial, load(tutorial))]
        sys.exit("\n".join(found) if found else 0)
    else:
        _run([t for t in chosen if options.all or options.slugs or load(t) is None])


def _matching(beginnings: list[str]) -> list[str]:
    slugs = [path.stem for path in sorted(FOLDER.glob("[0-9][0-9]-*.py"))]
    for beginning in beginnings:
        if not any(slug.startswith(beginning) for slug in slugs):
            sys.exit(f"No tutorial starts with '{beginning}'. There are: {', '.join(slugs)}")
    return [slug for slug in slugs if not beginnings or any(slug.startswith(b) for b in beginnings)]


def _run(tutorials: list[Tutorial]) -> None:
    if len(tutorials) == 1:
        return _execute(tutorials[0])
    command = [sys.executable, "-m", "tools.tutorials", "run"]
    with ThreadPoolExecutor(PARALLEL_RUNS) as pool:
        codes = pool.map(lambda t: subprocess.run([*command, t.slug], check=False).returncode, tutorials)
        if failed := [t.slug for t, code in zip(tutorials, codes, strict=True) if code]:
            sys.exit(f"Failed: {', '.join(failed)}")


def _execute(tutorial: Tutorial) -> None:
    start = time.process_time()
    outputs = execute([cell.text for cell in tutorial.cells if cell.kind == "code"], tutorial.slug)
    seconds = time.process_time() - start
    write(tutorial, outputs, seconds)
    print(f"{tutorial.slug}: {seconds:.1f} s, {sum(len(o.pictures) for o in outputs)} pictures", flush=True)
    for problem in problems(tutorial, load(tutorial)):
        print(f"  to do: {problem}", flush=True)


if __name__ == "__main__":
    main()
