"""The command `python -m evaluation.published`.

    python -m evaluation.published --list                    ids, kinds and sources
    python -m evaluation.published --verify                  scores of plain loops, without gnomon
    python -m evaluation.published --budget 15               examines all cases
    python -m evaluation.published --case softmax            cases with "softmax" in their id
    python -m evaluation.published --draw "issue 34" --first 30   30 cases drawn at random from each kind

An examination writes build/published/<kind>/<id>.txt with the complete answer. Files that exist are kept, so that a run can
be stopped and continued. `--verify` writes build/published/verify.jsonl, leaves out cases that are there and as stated, and
exits with code 1 if a case is not as stated.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from evaluation.published.registry import select
from evaluation.published.verify import verify


def main() -> None:
    """Runs what the options select."""
    options = _parser().parse_args()
    cases = _first_drawn(select(options.only, options.case), options.draw, options.first)
    if options.list:
        for case in cases:
            print(f"{case.id}\t{case.kind}\t{case.source}")
        print(f"{sum(c.kind == 'faulty' for c in cases)} faulty, {sum(c.kind == 'healthy' for c in cases)} healthy")
    elif options.verify:
        sys.exit(_verify(cases, options.out, options.seeds))
    else:
        from evaluation.published.examine import write_answer

        given = {"budget": options.budget, "seed": options.seed, "cpu_time": options.cpu_time}
        for case in cases:
            print(write_answer(case, options.out, **given), flush=True)


def _first_drawn(cases, draw: str, first: int | None):
    """The first cases of each kind in a random order, mixed, so that an interrupted run is a fair sample."""
    drawn = sorted(cases, key=lambda case: hashlib.sha256((draw + case.id).encode()).hexdigest())
    kept = {kind: [case.id for case in drawn if case.kind == kind][:first] for kind in ("faulty", "healthy")}
    return [case for case in drawn if case.id in kept[case.kind]]


def _verify(cases, folder: Path, seeds: int) -> int:
    path = folder / "verify.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    done = {record["id"] for record in map(json.loads, lines) if record.get("ok", True)}
    failed = 0
    for case in cases:
        if case.id in done:
            continue
        record = verify(case, seeds=seeds)
        failed += not record.get("ok", True)
        print(("ok   " if record.get("ok", True) else "FAIL ") + json.dumps(record), flush=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    print(f"{failed} of {len(cases)} cases are not as stated")
    return int(failed > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.published", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", choices=("faulty", "healthy"), help="one kind of case")
    add("--case", action="append", metavar="TEXT", help="part of an id; may be repeated")
    add("--draw", default="", metavar="TEXT", help="seed of the random order of the cases")
    add("--first", type=int, metavar="N", help="only the first N cases of each kind in that order")
    add("--list", action="store_true", help="list the selected cases and stop")
    add("--verify", action="store_true", help="train with plain loops instead of examining")
    add("--seeds", type=int, default=2, help="number of plain loops per recipe, with --verify")
    add("--budget", type=float, default=30.0, help="seconds for each examination")
    add("--cpu-time", action="store_true", help="measure the budget in processor time, on a busy machine")
    add("--seed", type=int, default=0, help="random seed of the examination")
    add("--out", type=Path, default=Path("build/published"), help="folder for the results")
    return parser


if __name__ == "__main__":
    main()
