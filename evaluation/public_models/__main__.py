"""The command `python -m evaluation.public_models`.

    python -m evaluation.public_models --list                       ids of all cases
    python -m evaluation.public_models --readings                   how each network is read, without examining it
    python -m evaluation.public_models --case gpt2 --budget 30      one case
    python -m evaluation.public_models --json build/public.jsonl    all cases; each result is appended to the file
    python -m evaluation.public_models --json FILE --table          runs nothing, prints the table of the file

    python -m evaluation.public_models --curves --plain build/plain.jsonl     plain loops alone
    python -m evaluation.public_models --plain build/plain.jsonl              compares with them

A case that is in the file is not run again, so that a run can be stopped and continued.
"""

import argparse
import json
import os
import warnings
from pathlib import Path
from typing import Any

import torch

from evaluation.public_models.case import Case
from evaluation.public_models.checkouts import with_checkout
from evaluation.public_models.plain import PlainPoint
from evaluation.public_models.registry import select
from evaluation.public_models.report import compact, row, summary, table
from evaluation.public_models.run import plain_curve, read_only, run_case


def main() -> None:
    """Runs the cases that the options select."""
    options = _parser().parse_args()
    cases = [with_checkout(case, options.checkouts) for case in select(options.case)]
    if not cases:
        raise SystemExit("No case matches these options. `python -m evaluation.public_models --list` lists all ids.")
    if options.list:
        for case in cases:
            print(f"{case.id}\t{case.kind}\t{case.source}\t{case.license}")
        return
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if options.readings:
        for case in cases:
            print(read_only(case, seed=options.seed), flush=True)
        return
    if options.curves:
        return _run_curves(cases, options)
    done, curves = _read(options.json), _read(options.plain)
    for case in [] if options.table else cases:
        if case.id in done:
            continue
        curve = [PlainPoint(**point) for point in curves.get(case.id, {}).get("curve", ())] or None
        result = run_case(
            case,
            budget=options.budget,
            seed=options.seed,
            curve=curve,
            compare=not options.no_comparison,
            cpu_time=options.cpu_time,
        )
        done[case.id] = result
        _append(options.json, result)
        print(" | ".join(row(result)), flush=True)
        if options.report:
            print(result.get("report") or result.get("crash") or result.get("refused"), flush=True)
    chosen = [done[case.id] for case in cases if case.id in done]
    if options.record is not None:
        options.record.write_text("".join(json.dumps(compact(result)) + "\n" for result in chosen))
    print("\n" + table(chosen) + "\n\n" + summary(chosen))


def _run_curves(cases: list[Case], options: argparse.Namespace) -> None:
    done = _read(options.plain)
    for case in cases:
        if case.id not in done:
            result = plain_curve(case, budget=options.budget, seed=options.seed)
            _append(options.plain, result)
            print(result, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.public_models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--case", action="append", metavar="ID", help="an id, or a part of ids; may be repeated")
    add("--list", action="store_true", help="list the selected cases and stop")
    add("--readings", action="store_true", help="print only how each case is read")
    add("--budget", type=float, default=30.0, help="seconds for each examination")
    add("--cpu-time", action="store_true", help="count the budget in processor time instead of wall time")
    add("--seed", type=int, default=0, help="random seed of data and examination")
    add("--json", type=Path, metavar="FILE", help="append each result to this file, one JSON object in a line")
    add(
        "--plain", type=Path, metavar="FILE", help="results of earlier plain loops, to compare with instead of new ones"
    )
    add(
        "--curves", action="store_true", help="run only the plain loops and append their results to the file of --plain"
    )
    add("--no-comparison", action="store_true", help="skip the plain loop")
    add(
        "--checkouts",
        type=Path,
        metavar="FOLDER",
        help="use published code from this folder instead of rewritten networks",
    )
    add("--report", action="store_true", help="print the whole report of each case")
    add("--record", type=Path, metavar="FILE", help="write short results of all selected cases to this file")
    add("--table", action="store_true", help="run nothing; print the table of the results in --json")
    return parser


def _read(path: Path | None) -> dict[str, dict[str, Any]]:
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return {result["id"]: result for result in map(json.loads, lines)}


def _append(path: Path | None, result: dict[str, Any]) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
