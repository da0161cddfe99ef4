"""Claims at full scale on new seeds: how many runs give the stated verdict.

    python benchmarks/bench_atlas.py --seconds 270     a piece of the runs, cheapest first; again until none is left
    python benchmarks/bench_atlas.py --record          the table, of the claims as they are today

A run is kept as one line of JSON with a fingerprint of the claim's file; runs of a file that has changed do not count.
"""

import argparse
import json
import signal
import time
from collections import defaultdict
from hashlib import sha1
from pathlib import Path
from textwrap import fill

from measure import record

from gnomon.atlas import catalog
from gnomon.core.errors import GnomonError
from gnomon.lab import run_claim

SEEDS = (90101, 91301, 92501, 93701, 94901)
"""Apart by more than any claim counts its repetitions on from its seed."""
CAP = 40
"""Seconds of processor time after which a run is left out and named."""


class Stopped(BaseException):
    """A run took longer than CAP."""


def stop(*_):
    raise Stopped


def mark(entry) -> str:
    return sha1(entry.code.encode()).hexdigest()[:10]


def kept(out: Path) -> tuple[dict[str, dict[int, dict]], list[dict]]:
    """Runs of today's claims, for each id by seed; and those of claims as they were before."""
    found, before, entries = defaultdict(dict), [], catalog()
    for line in out.read_text().splitlines() if out.exists() else ():
        row = json.loads(line)
        if row["id"] in entries and row["sha"] == mark(entries[row["id"]]):
            found[row["id"]][row["seed"]] = row
        else:
            before.append(row)
    return found, before


def measured(entry, seed: int) -> dict:
    row = {"id": entry.claim.id, "seed": seed, "kind": entry.kind, "sha": mark(entry)}
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, CAP)
    try:
        outcome = run_claim(entry.claim, scale="full", seed=seed).to_dict()
        row |= {key: outcome[key] for key in ("as_stated", "verdict", "expected", "reason")}
        row |= {"control": outcome["control"]["verdict"]}
    except Stopped:
        row |= {"as_stated": None, "verdict": "capped", "expected": entry.claim.expected}
    except GnomonError as error:
        row |= {"as_stated": False, "verdict": "error", "expected": entry.claim.expected, "reason": str(error)}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return row | {"cpu": round(time.process_time() - start, 2)}


def pieces(out: Path, seconds: float, seeds: int) -> None:
    """Runs that are missing, the cheapest claims first, until the time is over."""
    signal.signal(signal.SIGPROF, stop)
    (done, _), end = kept(out), time.monotonic() + seconds
    cost = {name: max(row["cpu"] for row in rows.values()) for name, rows in done.items()}
    missing = [
        (cost.get(name, 1.0), seed, name)
        for name in catalog()
        for seed in SEEDS[: max(0, seeds - len(set(done[name]) - set(SEEDS)))]
        if seed not in done[name]
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    for count, (_, seed, name) in enumerate(sorted(missing)):
        if time.monotonic() > end:
            print(f"{len(missing) - count} of {len(missing)} runs are left; the same command goes on.")
            return
        row = measured(catalog()[name], seed)
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if not row["as_stated"]:
            print(row)
    print("all runs are done")


def listed(rows: list[dict]) -> str:
    odd = {f"{row['id']} ({row['verdict']}, seed {row['seed']})" for row in rows if row["as_stated"] is False}
    return ", ".join(sorted(odd)) or "none"


def table(out: Path) -> None:
    (done, before), kinds = kept(out), defaultdict(list)
    for name, entry in catalog().items():
        kinds[entry.kind].append([row for row in done[name].values() if row["as_stated"] is not None])
    rows, total = [], [0] * 5
    for kind, claims in sorted(kinds.items()):
        runs = [row for each in claims for row in each]
        flips = sum(row["verdict"] != row["expected"] and row["verdict"] == "refuted" for row in runs)
        numbers = [len(claims), sum(len(each) >= 5 for each in claims), len(runs)]
        numbers += [sum(row["as_stated"] for row in runs), flips]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        rows.append([kind, *map(str, numbers)])
    rows.append(["all", *map(str, total)])
    now = [row for runs in done.values() for row in runs.values()]
    waiting = sorted({row["id"] for row in before if row["as_stated"] is False and not done[row["id"]]})
    capped = sorted({row["id"] for row in now if row["as_stated"] is None})
    note = (
        "Seeds that were not used while the claims were written, each claim as it is today. As stated: the stated verdict, "
        f"and a control that does not hold. Not as stated: {listed(now)}. Not as stated before the claim was changed: "
        f"{listed(before)}; of these not run since: {', '.join(waiting) or 'none'}. No run at all: "
        f"{sum(not done[name] for name in catalog())} claims. Stopped after {CAP} s of processor time and not counted: "
        f"{', '.join(capped) or 'none'}."
    )
    columns = ["kind", "claims", "run on five seeds", "runs", "as stated", "holds stated, refuted"]
    record("atlas", "Claims at full scale on new seeds", columns, rows, fill(note, 118))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("build/atlas.jsonl"))
    parser.add_argument("--seconds", type=float, default=270)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    table(given.out) if given.record else pieces(given.out, given.seconds, given.seeds)
