"""Healthy and faulty networks of realistic size under `gnomon.examine`: what is named, what is accused, what it takes.

    python benchmarks/bench_faults.py                         all cases, 30 seconds each
    python benchmarks/bench_faults.py --cases lstm --budget 20  those with a word in their name
    python benchmarks/bench_faults.py --processor               the same whatever else the machine does
    python benchmarks/bench_faults.py --more                    cases of other kinds, which no threshold was chosen on
    python benchmarks/bench_faults.py --unseen                  networks, data and mistakes that the checks were not made for
    python benchmarks/bench_faults.py --strangers               networks, data and mistakes of another hand, after the checks
    python benchmarks/bench_faults.py --family 200 --budget 4   healthy networks and data drawn at random, for false alarms
    python benchmarks/bench_faults.py --table                   the table of what has been run so far

Results are kept in ``--out`` (JSON lines) and a case that is there is not run again, so that a run can be stopped and
resumed. Healthy cases with classes also train a plain minibatch loop with as much processor time as the examination's own
training had; both networks are scored on all test examples.
"""

import argparse
import json
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import faults_cases
import faults_family
import faults_more
import faults_strangers
import faults_unseen
import torch
from faults_cases import Case
from measure import record
from torch import nn
from torch.utils.data import DataLoader

import gnomon
from gnomon.core.errors import GnomonError
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Level
from gnomon.training import Run

SLACK, MORE = 1.15, 5.0
"""An examination may take so many times its budget, and so many seconds more."""
TITLES = {
    "": "Faults of practice", "_more": "More faults of practice", "_unseen": "Unseen faults of practice",
    "_strangers": "Faults that strangers bring", "_family": "False alarms",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="words of which a case's name has one, separated by commas")
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--processor", action="store_true", help="count the budget in processor time, not by the wall")
    parser.add_argument("--seed", type=int, default=0, help="of the examples drawn, and of the examination")
    parser.add_argument("--more", action="store_true", help="the cases of faults_more.py")
    parser.add_argument("--unseen", action="store_true", help="the cases of faults_unseen.py")
    parser.add_argument("--strangers", action="store_true", help="the cases of faults_strangers.py")
    parser.add_argument("--family", type=int, default=0, help="so many healthy cases drawn at random")
    parser.add_argument("--out", help="by default build/bench_faults.jsonl, bench_faults_more.jsonl, ..._family.jsonl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--before", help="results of an earlier run, shown beside")
    parser.add_argument("--only", choices=("healthy", "faulty"), help="one half of the cases")
    parser.add_argument("--part", default="0/1", help="i/k: every k-th case from the i-th, to share the work")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so many seconds")
    options = parser.parse_args()
    asked = ("family", "more", "unseen", "strangers")
    kind = next((f"_{name}" for name in asked if getattr(options, name)), "")
    healthy, faulty = listed(options)
    out = Path(options.out or f"build/bench_faults{kind}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    done = kept_in(out)
    words = [word for word in options.cases.split(",") if word]
    begin = time.perf_counter()
    chosen = {"healthy": healthy, "faulty": faulty, None: [*healthy, *faulty]}[options.only]
    first, step = map(int, options.part.split("/"))
    chosen = chosen[first::step]
    for one in [] if options.table else chosen:
        late = time.perf_counter() - begin > options.seconds
        if one.name in done or late or (words and not any(word in one.name for word in words)):
            continue
        done[one.name] = result = examined(one, options, one in healthy)
        with out.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(line(result), flush=True)
    if options.family:
        alarms(done, TITLES[kind], write=options.table)
    else:
        summary(done, TITLES[kind], write=options.table, before=kept_in(options.before))


def kept_in(path: str | Path | None) -> dict[str, dict]:
    """The results in a file, by the name of the case; the last one of each."""
    if path is None or not Path(path).exists():
        return {}
    return {r["name"]: r for r in map(json.loads, Path(path).read_text().splitlines())}


def listed(options: argparse.Namespace) -> tuple[list[Case], list[Case]]:
    """The healthy and the faulty cases."""
    if options.family:
        return faults_family.family(options.family), []
    tables = {"more": faults_more, "unseen": faults_unseen, "strangers": faults_strangers}
    cases = next((made for name, made in tables.items() if getattr(options, name)), faults_cases)
    return cases.HEALTHY, cases.FAULTY


def examined(one: Case, options: argparse.Namespace, healthy: bool) -> dict:
    """One case: the findings in order, the time, and the accuracy of the run and of a plain loop."""
    warnings.filterwarnings("ignore", message="Using a target size")  # the fault of two of the cases
    budget, seed, clock = options.budget, options.seed, time.process_time if options.processor else time.perf_counter
    net, train, test, given = one.build(seed)
    before = kept(net)
    start, began = clock(), time.process_time()
    base = {"name": one.name, "healthy": healthy, "kinds": list(one.kinds), "budget": budget, "seed": seed,
            "processor": options.processor}  # fmt: skip
    try:
        result = gnomon.examine(net, train, test, budget=budget, seed=seed, clock=clock, **given)
    except Exception as error:
        said = str(error)
        named = isinstance(error, GnomonError) and bool(one.words) and one.words.lower() in said.lower()
        crash = {} if isinstance(error, GnomonError) else {"crashed": "".join(traceback.format_exception(error))}
        return base | crash | {"refused": said, "first": named, "named": named, "faults": [said],
                               "seconds": clock() - start, "found": []}  # fmt: skip
    seconds = clock() - start
    own = (time.process_time() - began) / seconds  # what a busy machine left of the time
    found = [f.kind for f in result.findings]
    failed = [s.answer for s in result.sections if s.state == "failed"]
    run = result.products.get(Run)
    reached = plain = None
    if (
        healthy
        and not (options.family or options.unseen or options.strangers)
        and run is not None
        and run.test_accuracy is not None
    ):
        plain = loop(net, train, test, own * run.seconds, given)
        reached = None if plain is None else right(run.model, *test)
    return base | {
        "found": found, "faults": [f.kind for f in result.faults], "first": bool(found) and found[0] in one.kinds,
        "named": any(kind in one.kinds for kind in found), "seconds": seconds, "failed": failed, "reached": reached,
        "plain": plain, "load": own, "steps": 0 if run is None else int(run.steps[-1]),
        "spent": {s.key: round(s.seconds, 2) for s in result.sections}, "whats": [f.what for f in result.findings][:3],
        "notes": [f.kind for f in result.findings if f.level is Level.NOTE],
        "kept": kept(net) == before, "levels": [f.level.name.lower() for f in result.findings], "report": str(result),
    }  # fmt: skip


def kept(net) -> list:
    """All that an examination must leave as it was: numbers, modes, gradients, hooks."""
    if not isinstance(net, nn.Module):
        return []
    numbers = [
        (name, float(t.double().sum()), float(t.double().square().sum())) for name, t in net.state_dict().items()
    ]
    state = [(p.requires_grad, p.grad is None) for p in net.parameters()]
    modes = [(m.training, len(m._forward_hooks), len(m._forward_pre_hooks)) for m in net.modules()]
    return [numbers, state, modes]


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


def counted(done: dict[str, dict]) -> str:
    """How many were accused, named first and named at all."""
    healthy, faulty = ([r for r in done.values() if r["healthy"] is side] for side in (True, False))
    accused, first, named = (sum(map(bool, some)) for some in (
        (r["faults"] for r in healthy), (r["first"] for r in faulty), (r["named"] for r in faulty)))  # fmt: skip
    return f"{len(healthy)} healthy cases, {accused} given a fault; {len(faulty)} faulty ones, {first} named first and {named} named\nat all"


def state(r: dict) -> str:
    """In a word."""
    if r["healthy"]:
        return "accused" if r["faults"] else "clean"
    return "first" if r["first"] else "named" if r["named"] else "missed"


def summary(done: dict[str, dict], title: str, *, write: bool, before: dict[str, dict]) -> None:
    """The table, and the shares of each outcome; ``before`` is an earlier run, shown beside."""
    healthy, faulty = ([r for r in done.values() if r["healthy"] is side] for side in (True, False))
    if not done:
        return
    over = [r for r in done.values() if r["seconds"] > SLACK * r["budget"] + MORE]
    both = [r for r in healthy if r.get("plain") is not None]
    close = sum(r["reached"] >= r["plain"] - 0.03 for r in both)
    trained = f"Training came within 3 points of a plain loop\nof the same time in {close} of {len(both)} healthy cases with test accuracy. "
    earlier = f"The first run, before anything was mended: {counted(before)}. {spent(before)}" if before else ""
    note = (
        f"{counted(done)}. {len(over)} of {len(done)} runs took longer than {SLACK} x budget + {MORE:g} s. "
        f"{trained if both else ''}{spent(done)} {earlier}"
    ).rstrip()
    rows = []
    for r in (*healthy, *faulty):
        said = ", ".join(r["faults"] if r["healthy"] else r["found"][:3])
        said = "an error that says so" if r.get("refused") and r["named"] else said or "none"
        now = "healthy" if r["healthy"] and not before else state(r)
        old = [state(before[r["name"]]) if r["name"] in before else "not run"] if before else []
        rows.append([r["name"], *old, now, said, f"{r['seconds']:.0f} s"])
    for r in (r for name, r in before.items() if name not in done):
        said = "an error that says so" if r.get("refused") and r["named"] else ", ".join(r["found"][:3]) or "none"
        rows.append([r["name"], state(r), "not run again", said, f"{r['seconds']:.0f} s"])
    print(note)
    if write:
        record(title, ["case", *(["first run"] if before else []), "named", "findings", "time"], rows, note)


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
