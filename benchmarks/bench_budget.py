"""Budgets: how long examinations take against their budget, for models of 1,000 to 50 million parameters.

    python benchmarks/bench_budget.py --budgets 10,30           healthy models of `practice`, each with each budget
    python benchmarks/bench_budget.py --budgets 10,30 --busy    next to two processes that compute without end
    python benchmarks/bench_budget.py --table                   the table of what has been run so far

A run is over budget if it takes longer than 1.15 x budget + 5 s of wall time. Results are kept in ``--out`` (JSON lines),
and what is there is not run again.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path

from bench_watch import burn
from measure import record
from practice import SIZES

from gnomon.examination import examine

SLACK, MORE = 1.15, 5.0
"""An examination is over budget if it takes longer than SLACK x budget + MORE seconds."""


def measured(name: str, budget: float, *, busy: bool) -> dict:
    """One examination: its time, the share of a core that it had, and what it says of training."""
    build, data = SIZES[name]
    train, test = data()
    start, began = time.perf_counter(), time.process_time()
    result = examine(build, train, test, budget=budget, name=name)
    used, own = time.perf_counter() - start, time.process_time() - began
    slowest = sorted(result.sections, key=lambda section: -section.seconds)[:4]
    return {
        "name": name, "budget": budget, "busy": busy, "seconds": used, "cores": own / used,
        "parameters": sum(p.numel() for p in build().parameters()), "faults": [f.kind for f in result.problems],
        "training": result.section("training").answer, "failed": [s.key for s in result.sections if s.state == "failed"],
        "slowest": {section.key: round(section.seconds, 1) for section in slowest},
    }  # fmt: skip


def over(run: dict) -> bool:
    return run["seconds"] > SLACK * run["budget"] + MORE


def table(done: list[dict]) -> None:
    """A row for each model: the seconds of its runs, by budget, on the machine as it was and beside busy loops."""
    columns = sorted({(run["budget"], run["busy"]) for run in done})
    rows = []
    for name in SIZES:
        own = {(run["budget"], run["busy"]): run for run in done if run["name"] == name}
        if own:
            cells = [
                f"{own[c]['seconds']:.1f} s" + (" OVER" if over(own[c]) else "") if c in own else "-" for c in columns
            ]
            rows.append([name, f"{next(iter(own.values()))['parameters']:,}", *cells])
    heads = [f"{budget:g} s{', busy' if busy else ''}" for budget, busy in columns]
    late, accused = sum(map(over, done)), [run for run in done if run["faults"] or run["failed"]]
    loaded = [run for run in done if run["busy"]]
    least = min((run["cores"] for run in loaded), default=1.0)
    note = (
        f"{late} of {len(done)} runs took longer than {SLACK} x budget + {MORE:g} s of wall time. {len(loaded)} runs were next to two busy loops, where\n"
        f"an examination had {least:.2f} cores or more. {len(accused)} runs reported a fault or had a failed section."
    )
    record("budget", "Time of examinations", ["model", "parameters", *heads], rows, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budgets", default="10,30", help="seconds, separated by commas")
    parser.add_argument("--models", default="", help="words of which a name has one, separated by commas")
    parser.add_argument("--busy", action="store_true", help="next to two processes that compute without end")
    parser.add_argument("--out", type=Path, default=Path("build/bench_budget.jsonl"))
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no run that may end after so many seconds"
    )
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    known, begin = {(run["name"], run["budget"], run["busy"]) for run in done}, time.perf_counter()
    words = [word for word in options.models.split(",") if word]
    chosen = [name for name in SIZES if not words or any(word in name for word in words)]
    burning = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2 if options.busy else 0)]
    for process in burning:
        process.start()
    for name, budget in [] if options.table else [(n, float(b)) for b in options.budgets.split(",") for n in chosen]:
        late = time.perf_counter() - begin + SLACK * budget + MORE > options.seconds
        if late or (name, budget, options.busy) in known:
            continue
        done.append(measured(name, budget, busy=options.busy))
        with options.out.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
        one = done[-1]
        print(name, budget, f"{one['seconds']:.1f} s", "OVER" if over(one) else "", one["faults"], one["failed"],
              one["slowest"], one["training"][:100], flush=True)  # fmt: skip
    for process in burning:
        process.terminate()
    if options.table:
        table(done)


if __name__ == "__main__":
    main()
