"""Healthy and faulty networks of realistic size under `gnomon.examine`: what is named, what is accused, what it takes.

    python benchmarks/bench_faults.py                         all cases, 30 seconds each
    python benchmarks/bench_faults.py --cases lstm --budget 20  those with a word in their name
    python benchmarks/bench_faults.py --table                   the table of what has been run so far

Results are kept in ``--out`` (JSON lines) and a case that is there is not run again, so that a run can be stopped and
resumed. Healthy cases with classes also train a plain minibatch loop for the same time as the examination did.
"""

import argparse
import json
import time
import warnings
from collections import Counter
from pathlib import Path

import torch
from faults_cases import FAULTY, HEALTHY, Case
from measure import record
from torch import nn

import gnomon
from gnomon.core.errors import InputError
from gnomon.training import Run

SLACK, MORE = 1.15, 5.0
"""An examination may take so many times its budget, and so many seconds more."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="words of which a case's name has one, separated by commas")
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--out", default="build/bench_faults.jsonl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", choices=("healthy", "faulty"), help="one half of the cases")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so many seconds")
    options = parser.parse_args()
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {r["name"]: r for r in map(json.loads, out.read_text().splitlines())} if out.exists() else {}
    words = [word for word in options.cases.split(",") if word]
    begin = time.perf_counter()
    chosen = {"healthy": HEALTHY, "faulty": FAULTY, None: [*HEALTHY, *FAULTY]}[options.only]
    for one in [] if options.table else chosen:
        late = time.perf_counter() - begin > options.seconds
        if one.name in done or late or (words and not any(word in one.name for word in words)):
            continue
        done[one.name] = result = examined(one, options.budget, one in HEALTHY)
        with out.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(line(result), flush=True)
    summary(done, write=options.table)


def examined(one: Case, budget: float, healthy: bool) -> dict:
    """One case: the findings in order, the time, and the accuracy of the run and of a plain loop."""
    warnings.filterwarnings("ignore", message="Using a target size")  # the fault of two of the cases
    net, train, test, options = one.build()
    start = time.perf_counter()
    base = {"name": one.name, "healthy": healthy, "kinds": list(one.kinds), "budget": budget}
    try:
        result = gnomon.examine(net, train, test, budget=budget, **options)
    except InputError as error:
        said = str(error)
        named = bool(one.words) and one.words.lower() in said.lower()
        return base | {"refused": said, "first": named, "named": named, "faults": [said], "seconds": 0.0, "found": []}
    seconds = time.perf_counter() - start
    found = [f.kind for f in result.findings]
    failed = [s.answer for s in result.sections if s.state == "failed"]
    run = result.products.get(Run)
    reached = plain = None
    if healthy and run is not None and run.test_accuracy is not None:
        reached = float(run.test_accuracy[-1])
        plain = loop(net, train, test, run.seconds, options)
    return base | {
        "found": found, "faults": [f.kind for f in result.faults], "first": bool(found) and found[0] in one.kinds,
        "named": any(kind in one.kinds for kind in found), "seconds": seconds, "failed": failed, "reached": reached,
        "plain": plain, "whats": [f.what for f in result.findings][:3],
    }  # fmt: skip


def loop(net, train, test, seconds: float, options: dict) -> float | None:
    """Test accuracy of a plain minibatch loop with Adam, or the case's own optimizer, for so many seconds."""
    if not isinstance(train, tuple) or isinstance(train[0], tuple) or train[1].is_floating_point():
        return None
    torch.manual_seed(0)
    model = net()
    rule = options.get("optimizer", lambda p: torch.optim.Adam(p, 1e-3))(list(model.parameters()))
    (x, y), (xt, yt) = train, test
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for i in torch.randperm(len(x)).split(64):
            if len(i) < 2 or time.perf_counter() - start > seconds:
                continue
            rule.zero_grad()
            nn.functional.cross_entropy(model(x[i]), y[i]).backward()
            rule.step()
    model.eval()
    with torch.no_grad():
        right = torch.cat([model(part) for part in xt.split(256)]).argmax(1) == yt
    return float(right.double().mean())


def line(r: dict) -> str:
    over = " OVER" if r["seconds"] > SLACK * r["budget"] + MORE else ""
    if r["healthy"]:
        state = f"ACCUSED {r['faults']}" if r["faults"] else "clean"
        score = "" if r.get("plain") is None else f", {r['reached']:.3f} (plain {r['plain']:.3f})"
        return f"{r['name']}: {state}{score}, {r['seconds']:.0f} s{over} {r.get('failed') or ''}"
    state = "first" if r["first"] else "named" if r["named"] else "MISSED"
    return f"{r['name']}: {state} {r['found'][:3] or r.get('refused', '')[:100]}, {r['seconds']:.0f} s{over} {r.get('failed') or ''}"


def summary(done: dict[str, dict], *, write: bool) -> None:
    """The table, and the shares of each outcome."""
    healthy, faulty = ([r for r in done.values() if r["healthy"] is side] for side in (True, False))
    if not done:
        return
    first, named = sum(r["first"] for r in faulty), sum(r["named"] for r in faulty)
    accused = [r for r in healthy if r["faults"]]
    over = [r for r in done.values() if r["seconds"] > SLACK * r["budget"] + MORE]
    both = [r for r in healthy if r.get("plain") is not None]
    close = sum(r["reached"] >= r["plain"] - 0.03 for r in both)
    note = (
        f"{len(healthy)} healthy cases, {len(accused)} given a fault; {len(faulty)} faulty ones, {first} named first and {named} named\n"
        f"at all. {len(over)} of {len(done)} runs took longer than {SLACK} x budget + {MORE:g} s. Training came within 3 points of a plain loop\n"
        f"of the same time in {close} of {len(both)} healthy cases with test accuracy. Budgets: {dict(Counter(r['budget'] for r in done.values()))}."
    )
    rows = [[r["name"], "healthy", ", ".join(r["faults"]) or "none", f"{r['seconds']:.0f} s"] for r in healthy]
    for r in faulty:
        state = "first" if r["first"] else "named" if r["named"] else "missed"
        rows.append([r["name"], state, ", ".join(r["found"][:3]) or "an error that says so", f"{r['seconds']:.0f} s"])
    print(note)
    if write:
        record("Faults of practice", ["case", "named", "findings", "time"], rows, note)


if __name__ == "__main__":
    main()
