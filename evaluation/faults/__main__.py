"""The command `python -m evaluation.faults`.

    python -m evaluation.faults --list                              ids of all cases
    python -m evaluation.faults --collection tuning --budget 6      one collection
    python -m evaluation.faults --only faulty --case softmax        faulty cases with "softmax" in their id
    python -m evaluation.faults --collection random-healthy --count 200 --budget 4     false alarms
    python -m evaluation.faults --collection tuning --table         writes the results so far to benchmarks/results

Results are appended to build/faults-<collection>.jsonl, and a case that is there is not run again, so that a run can be
stopped and continued.
"""

import argparse
import json
import time
from pathlib import Path

from evaluation.faults.case import Case
from evaluation.faults.random_healthy import random_healthy_case
from evaluation.faults.registry import RANDOM_HEALTHY, SOURCES, select
from evaluation.faults.report import Results, one_line, summarize
from evaluation.faults.run import examine_case


def main() -> None:
    """Runs the cases that the options select."""
    options = _parser().parse_args()
    cases = _selected(options)
    if options.list:
        for case in cases:
            print(f"{case.id}\t{case.kind}\t{case.source}\t{', '.join(case.expected)}")
        return
    done = {source: _read(_results_file(source, options), source) for source in (*SOURCES, RANDOM_HEALTHY)}
    start = time.perf_counter()
    for case in [] if options.table else cases:
        if case.id in done[case.source] or time.perf_counter() - start > options.stop_after:
            continue
        compare = case.kind == "healthy" and case.source in ("tuning", "held-out")
        result = examine_case(
            case, budget=options.budget, seed=options.seed, cpu_time=options.cpu_time, compare_training=compare
        )
        done[case.source][case.id] = result
        _append(_results_file(case.source, options), result)
        print(one_line(result), flush=True)
    for source in {case.source: None for case in cases}:
        earlier = _read(options.compare_with, source) if options.compare_with else {}
        summarize(source, done[source], earlier, write=options.table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--collection", choices=(*SOURCES, RANDOM_HEALTHY), help="one collection; by default all fixed collections")
    add("--only", choices=("faulty", "healthy"), help="one kind of case")
    add("--case", action="append", metavar="ID", help="an id, or a part of ids; may be repeated")
    add("--list", action="store_true", help="list the selected cases and stop")
    add("--seed", type=int, default=0, help="random seed of examples and examination")
    add("--budget", type=float, default=30.0, help="seconds for each examination")
    add("--cpu-time", action="store_true", help="count the budget in processor time instead of wall time")
    add("--count", type=int, default=100, help=f"number of cases of {RANDOM_HEALTHY}")
    add("--part", default="0/1", metavar="I/K", help="every K-th selected case, starting with the I-th")
    add("--stop-after", type=float, default=float("inf"), metavar="SECONDS", help="start no case after this time")
    add("--out", type=Path, help="results file, instead of build/faults-<collection>.jsonl")
    add("--table", action="store_true", help="run nothing; write the table of earlier results")
    add("--compare-with", type=Path, metavar="FILE", help="results of an earlier run, shown in a column of the table")
    return parser


def _selected(options: argparse.Namespace) -> list[Case]:
    if options.collection == RANDOM_HEALTHY:
        cases = [random_healthy_case(number) for number in range(options.count) if options.only != "faulty"]
    else:
        cases = select(options.collection, options.only, options.case)
    if not cases:
        raise SystemExit("No case matches these options. `python -m evaluation.faults --list` lists all ids.")
    first, step = map(int, options.part.split("/"))
    return cases[first::step]


def _results_file(source: str, options: argparse.Namespace) -> Path:
    return options.out or Path(f"build/faults-{source}.jsonl")


def _read(path: Path, source: str) -> Results:
    """The results of one collection by id; the last one of each case."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {result["id"]: result for result in map(json.loads, lines) if result["source"] == source}


def _append(path: Path, result: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
