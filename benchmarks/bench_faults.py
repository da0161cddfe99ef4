"""Healthy and faulty networks of realistic size under `gnomon.examine`: what is named, what is accused, what it takes.

    python benchmarks/bench_faults.py                         all cases, 30 seconds each
    python benchmarks/bench_faults.py --cases lstm --budget 20  those with a word in their name
    python benchmarks/bench_faults.py --processor               the same whatever else the machine does
    python benchmarks/bench_faults.py --more                    cases of other kinds, which no threshold was chosen on
    python benchmarks/bench_faults.py --family 200 --budget 4   healthy networks and data drawn at random, for false alarms
    python benchmarks/bench_faults.py --table                   the table of what has been run so far

Results are kept in ``--out`` (JSON lines) and a case that is there is not run again, so that a run can be stopped and
resumed. Healthy cases with classes also train a plain minibatch loop with as much processor time as the examination's own
training had; both networks are scored on all test examples.
"""

import argparse
import json
import time
import warnings
from collections import Counter
from pathlib import Path

import faults_cases
import faults_family
import faults_more
import torch
from faults_cases import Case
from measure import record
from torch import nn
from torch.utils.data import DataLoader

import gnomon
from gnomon.core.errors import InputError
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Level
from gnomon.training import Run

SLACK, MORE = 1.15, 5.0
"""An examination may take so many times its budget, and so many seconds more."""
TITLES = {"": "Faults of practice", "_more": "More faults of practice", "_family": "False alarms"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="words of which a case's name has one, separated by commas")
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--processor", action="store_true", help="count the budget in processor time, not by the wall")
    parser.add_argument("--seed", type=int, default=0, help="of the examples drawn, and of the examination")
    parser.add_argument("--more", action="store_true", help="the cases of faults_more.py")
    parser.add_argument("--family", type=int, default=0, help="so many healthy cases drawn at random")
    parser.add_argument("--out", help="by default build/bench_faults.jsonl, bench_faults_more.jsonl, ..._family.jsonl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", choices=("healthy", "faulty"), help="one half of the cases")
    parser.add_argument("--part", default="0/1", help="the first of three parts of the cases is 0/3")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so many seconds")
    options = parser.parse_args()
    kind = "_family" if options.family else "_more" if options.more else ""
    healthy, faulty = listed(options)
    out = Path(options.out or f"build/bench_faults{kind}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {r["name"]: r for r in map(json.loads, out.read_text().splitlines())} if out.exists() else {}
    words = [word for word in options.cases.split(",") if word]
    begin = time.perf_counter()
    chosen = {"healthy": healthy, "faulty": faulty, None: [*healthy, *faulty]}[options.only]
    part, parts = map(int, options.part.split("/"))
    for one in [] if options.table else chosen[part::parts]:
        late = time.perf_counter() - begin > options.seconds
        if one.name in done or late or (words and not any(word in one.name for word in words)):
            continue
        done[one.name] = result = examined(one, options, one in healthy)
        with out.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(line(result), flush=True)
    (alarms if options.family else summary)(done, TITLES[kind], write=options.table)


def listed(options: argparse.Namespace) -> tuple[list[Case], list[Case]]:
    """The healthy and the faulty cases."""
    if options.family:
        return faults_family.family(options.family), []
    cases = faults_more if options.more else faults_cases
    return cases.HEALTHY, cases.FAULTY


def examined(one: Case, options: argparse.Namespace, healthy: bool) -> dict:
    """One case: the findings in order, the time, and the accuracy of the run and of a plain loop."""
    warnings.filterwarnings("ignore", message="Using a target size")  # the fault of two of the cases
    budget, seed, clock = options.budget, options.seed, time.process_time if options.processor else time.perf_counter
    net, train, test, given = one.build(seed)
    start, began = clock(), time.process_time()
    base = {"name": one.name, "healthy": healthy, "kinds": list(one.kinds), "budget": budget, "seed": seed,
            "processor": options.processor}  # fmt: skip
    try:
        result = gnomon.examine(net, train, test, budget=budget, seed=seed, clock=clock, **given)
    except InputError as error:
        said = str(error)
        named = bool(one.words) and one.words.lower() in said.lower()
        return base | {"refused": said, "first": named, "named": named, "faults": [said], "seconds": 0.0, "found": []}
    seconds = clock() - start
    own = (time.process_time() - began) / seconds  # what a busy machine left of the time
    found = [f.kind for f in result.findings]
    failed = [s.answer for s in result.sections if s.state == "failed"]
    run = result.products.get(Run)
    reached = plain = None
    if healthy and not options.family and run is not None and run.test_accuracy is not None:
        plain = loop(net, train, test, own * run.seconds, given)
        reached = None if plain is None else right(run.model, *test)
    return base | {
        "found": found, "faults": [f.kind for f in result.faults], "first": bool(found) and found[0] in one.kinds,
        "named": any(kind in one.kinds for kind in found), "seconds": seconds, "failed": failed, "reached": reached,
        "plain": plain, "load": own, "steps": 0 if run is None else int(run.steps[-1]),
        "spent": {s.key: round(s.seconds, 2) for s in result.sections}, "whats": [f.what for f in result.findings][:3],
        "notes": [f.kind for f in result.findings if f.level is Level.NOTE],
    }  # fmt: skip


def loop(net, train, test, seconds: float, given: dict) -> float | None:
    """Test accuracy of a plain minibatch loop with Adam, or the case's own optimizer, for so much processor time."""
    x, y = train.dataset.tensors if isinstance(train, DataLoader) else train
    if y.is_floating_point():
        return None
    torch.manual_seed(0)
    model, x = net(), x if isinstance(x, tuple) else (x,)
    rule = given.get("optimizer", lambda p: torch.optim.Adam(p, 1e-3))(list(model.parameters()))
    start = time.process_time()
    while time.process_time() - start < seconds:
        for i in torch.randperm(len(y)).split(64):
            if len(i) < 2 or time.process_time() - start > seconds:
                continue
            rule.zero_grad()
            nn.functional.cross_entropy(model(*(t[i] for t in x)), y[i]).backward()
            rule.step()
    return right(model, *test)


def right(model, x, y) -> float:
    """The share of examples that a network gets right."""
    model.eval()
    x = x if isinstance(x, tuple) else (x,)
    with torch.no_grad():
        parts = torch.arange(len(y)).split(256)
        answers = torch.cat([model(*(t[i] for t in x)) for i in parts]).argmax(1)
    return float((answers == y).double().mean())


def line(r: dict) -> str:
    over = " OVER" if r["seconds"] > SLACK * r["budget"] + MORE else ""
    if r["healthy"]:
        state = f"ACCUSED {r['faults']}" if r["faults"] else "clean"
        score = "" if r.get("plain") is None else f", {r['reached']:.3f} (plain {r['plain']:.3f})"
        return f"{r['name']}: {state}{score}, {r['seconds']:.0f} s{over} {r.get('failed') or ''}"
    state = "first" if r["first"] else "named" if r["named"] else "MISSED"
    return f"{r['name']}: {state} {r['found'][:3] or r.get('refused', '')[:100]}, {r['seconds']:.0f} s{over} {r.get('failed') or ''}"


def spent(done: dict[str, dict]) -> str:
    """The budgets of the runs, and what clock they were read from."""
    kinds = Counter((r["budget"], "of processor time" if r.get("processor") else "by the wall") for r in done.values())
    each = "; ".join(f"{count} runs had {budget:g} s {clock}" for (budget, clock), count in kinds.items())
    load = sum(r["load"] for r in done.values() if "load" in r) / max(1, sum("load" in r for r in done.values()))
    one = "" if any(r.get("processor") for r in done.values()) else f", {load:.0%} of a core each"
    return f"{each}{one}. Seeds: {sorted({r.get('seed', 0) for r in done.values()})}."


def summary(done: dict[str, dict], title: str, *, write: bool) -> None:
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
        f"of the same time in {close} of {len(both)} healthy cases with test accuracy. {spent(done)}"
    )
    rows = [[r["name"], "healthy", ", ".join(r["faults"]) or "none", f"{r['seconds']:.0f} s"] for r in healthy]
    for r in faulty:
        state = "first" if r["first"] else "named" if r["named"] else "missed"
        rows.append(
            [
                r["name"],
                state,
                ", ".join(r["found"][:3]) or ("an error that says so" if r.get("refused") else "none"),
                f"{r['seconds']:.0f} s",
            ]
        )
    print(note)
    if write:
        record(title, ["case", "named", "findings", "time"], rows, note)


def alarms(done: dict[str, dict], title: str, *, write: bool) -> None:
    """The faults that healthy networks were given, and how many were given any."""
    accused = [r for r in done.values() if r["faults"]]
    over = sum(r["seconds"] > SLACK * r["budget"] + MORE for r in done.values())
    lesser = [
        (kind, kind in r.get("notes", ())) for r in done.values() for kind in r["found"] if kind not in r["faults"]
    ]
    warned, noted = (Counter(kind for kind, note in lesser if note is side) for side in (False, True))
    high = binomial_interval(len(accused), len(done)).high
    note = (
        f"{len(done)} healthy runs, {len(accused)} given a fault ({len(accused) / len(done):.1%}; at most {high:.1%} at 95 %\n"
        f"confidence). {over} took longer than {SLACK} x budget + {MORE:g} s. Warnings, which are no faults:\n"
        f"{_times(warned)}. Notes: {_times(noted)}. {spent(done)}"
    )
    print(note)
    if write:
        rows = [[r["name"], ", ".join(r["faults"]), (r.get("whats") or r["faults"])[0]] for r in accused]
        record(title, ["case", "fault", "what was said"], rows, note)


def _times(counted: Counter) -> str:
    return ", ".join(f"{kind} {times}" for kind, times in counted.most_common()) or "none"


if __name__ == "__main__":
    main()
