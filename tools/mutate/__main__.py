"""Command line of the mutation tester: `python -m tools.mutate`."""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.mutate import scope
from tools.mutate.mutants import Mutant, choose, find, shares
from tools.mutate.page import Run, write_page
from tools.mutate.reach import Reach
from tools.mutate.results import Results, equivalents, is_equivalent, table
from tools.mutate.server import Server
from tools.mutate.shadow import Shadow
from tools.mutate.stages import MOST_SECONDS, Stages

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Runs the mutation tester and returns its exit status."""
    options = _options(arguments)
    root = options.root.resolve()
    package = next(path.parent for path in sorted((root / "src").glob("*/__init__.py")))
    work = root / "build" / "mutate"
    name = f"no-op-{options.seed}" if options.no_op else str(options.seed)
    results = Results.load(work / f"{name}.jsonl")
    mutants = _select_mutants(options, root, package, results)
    known = equivalents(root / "tools" / "mutate" / "equivalent.toml")
    if options.list:
        print("\n".join(f"{m.diff()}\n      {results.outcome(m)}" for m in mutants))
        print(f"{len(mutants)} mutants")
        return 0
    again = bool(options.only or options.id or options.recheck_survivors)
    todo = [m for m in mutants if not is_equivalent(m, known)]
    todo = [m for m in todo if again or results.outcome(m) in ("not run", "broken")]
    try:
        if todo:
            reach = Reach.load(root, work, workers=options.workers, only=tuple(options.tests))
            stages = Stages(root, package.name, reach, results, Shadow(root, work / "copy"), options.seconds)
            _serve(root, lambda server: stages.run(server, todo), options.workers, options.tests)
    except KeyboardInterrupt:
        print("\nInterrupted; the same command continues.")
    print(table(mutants, results, known))
    if options.write:
        runs = [Run(options.seed, mutants, results), *_other_runs(options, root, package)]
        write_page(options.write, sorted(runs, key=lambda run: run.seed), known, _command(options))
    return 0


def _other_runs(options: argparse.Namespace, root: Path, package: Path) -> list[Run]:
    """Returns the mutants (planted errors) and results of earlier runs with the same options and other random seeds."""
    runs = []
    for seed in options.with_seed:
        results = Results.load(root / "build" / "mutate" / f"{seed}.jsonl")
        other = argparse.Namespace(**{**vars(options), "seed": seed})
        runs.append(Run(seed, _select_mutants(other, root, package, results), results))
    return runs


def _command(options: argparse.Namespace) -> str:
    """Returns the command line that repeats a run of the mutation tester, without its seed."""
    names = [f"--package {name}" for name in options.package] + [f"--tests {name}" for name in options.tests]
    by_lines = ["--by-lines"] if options.by_lines else []
    return " ".join(["python -m tools.mutate", f"--count {options.count}", *by_lines, *names])


def _serve(root: Path, serve: Callable[[Server], None], workers: int, tests: list[str]) -> None:
    """Collects the tests with pytest in this process, and calls ``serve`` with them."""
    os.chdir(root)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(root)])
    sys.path[:0] = [str(root / "src"), str(root)]
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:terminal", "--capture=no", f"--rootdir={root}"]
    pytest.main([*options, *tests], plugins=[Server(root, serve, workers)])


def _select_mutants(options: argparse.Namespace, root: Path, package: Path, results: Results) -> list[Mutant]:
    """Returns the mutants (planted errors) that the command-line options select."""
    files = [(root / file).resolve() for file in options.file]
    candidates = [
        mutant
        for file in files or scope.sources(package)
        for mutant in find(file, root, scope.subpackage(file, package))
        if not options.package or mutant.package in options.package
    ]
    if options.id or options.only:
        places = {tuple(place.rsplit(":", 1)) for place in options.only}
        return [m for m in candidates if m.id in options.id or (m.file, str(m.line)) in places]
    chosen = choose(candidates, shares(candidates, options.count, by_lines=options.by_lines), options.seed, root)
    if options.recheck_survivors:
        return [m for m in chosen if results.outcome(m) == "survived"]
    if options.no_op:
        return [replace(m, after=m.before, kind="no-op") for m in chosen]
    return chosen


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tools.mutate", description="Plants errors and runs the nearest tests.")
    parser.add_argument("--package", action="append", default=[], help="subpackage to mutate; may be repeated")
    parser.add_argument("--file", action="append", default=[], help="file to mutate; may be repeated")
    parser.add_argument(
        "--tests", action="append", default=[], help="use only the tests in this file or folder; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the places")
    parser.add_argument("--count", type=int, default=300, help="number of mutants")
    parser.add_argument("--by-lines", action="store_true", help="share mutants by eligible lines, not equally")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument(
        "--seconds",
        type=float,
        default=MOST_SECONDS,
        help="clean seconds of tests for each mutant; fewer may miss some",
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--only", action="append", default=[], metavar="FILE:LINE", help="run all mutants of one line")
    parser.add_argument("--id", action="append", default=[], help="run one mutant again")
    parser.add_argument("--recheck-survivors", action="store_true", help="run the survivors again")
    parser.add_argument(
        "--no-op", action="store_true", help="plant changes that change nothing: every one must survive"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the scores into a page of the documentation")
    parser.add_argument(
        "--with-seed", type=int, action="append", default=[], help="other seeds on that page, whose runs are finished"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of the project")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
