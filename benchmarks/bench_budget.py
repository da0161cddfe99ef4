"""Budgets and training: how long examinations take against their budget, and how well they train in their time.

    python benchmarks/bench_budget.py [--busy] [--budget 60] [names]

Each healthy model of `practice` is examined; its training is compared with a plain loop of the same optimizer and batch
for the same time. A run is over where it takes more than 1.15 of its budget and 5 s.
"""

import multiprocessing
import sys
import time

import torch
from bench_watch import burn
from measure import record
from practice import HEALTHY
from torch import nn

from gnomon.examination import examine
from gnomon.training import Run


def plain(build, train, test, batch, seconds, steps):
    """The score of a plain loop of Adam: accuracy, or explained variance."""
    torch.manual_seed(0)
    net, (x, y) = build(), train
    optimizer, end, taken = torch.optim.Adam(net.parameters()), time.perf_counter() + seconds, 0
    classes = y.dtype == torch.long
    while time.perf_counter() < end and taken < steps:
        for index in torch.randperm(len(x)).split(batch):
            f = net(x[index])
            loss = nn.functional.cross_entropy(f, y[index]) if classes else (f - y[index]).square().sum(1).mean() / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            taken += 1
            if time.perf_counter() > end or taken >= steps:
                break
    net.eval()
    with torch.no_grad():
        f, y = torch.cat([net(part) for part in test[0].split(256)]), test[1]
    if classes:
        return float((f.argmax(1) == y).double().mean())
    return float(1 - (f - y).square().mean() / y.var(0).mean())


def measured(name, budget):
    build, data = HEALTHY[name]
    train, test = data()
    start = time.perf_counter()
    result = examine(build, train, test, budget=budget, name=name)
    used = time.perf_counter() - start
    run, ours, theirs = result.products.get(Run), None, None
    if run is not None:
        values = {v.name: v for s in result.sections if s.key in ("training", "margins") for v in s.content.values}
        shown = values.get("accuracy") or values.get("explained variance")
        ours = None if shown is None else shown.value
        batch = int(values["steps taken"].meaning.rpartition(" ")[2])
        most = int(run.steps[-1]) if run.stopped == "finished" else 10**9
        theirs = plain(build, train, test, batch, run.seconds, most)
    over = "over" if used > 1.15 * budget + 5 else "kept"
    faults = ", ".join(f.kind for f in result.faults) or "none"
    numbers = ["-" if v is None else f"{v:.3f}" for v in (ours, theirs)]
    return [name, f"{used:.1f} s", over, *numbers, result.section("training").status, faults]


def main() -> None:
    words = sys.argv[1:]
    budget = float(words[words.index("--budget") + 1]) if "--budget" in words else 60.0
    chosen = [n for n in HEALTHY if any(w in n for w in words if not w.startswith("--"))] or list(HEALTHY)
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2 if "--busy" in words else 0)]
    for process in busy:
        process.start()
    rows = []
    for name in chosen:
        rows.append(measured(name, budget))
        print(rows[-1], flush=True)
    for process in busy:
        process.terminate()
    where = ", two busy loops beside it" if busy else ""
    columns = ["model", "time", "budget", "score", "score of the plain loop", "training", "faults"]
    record(f"Examinations of healthy models, budget {budget:g} s{where}", columns, rows, "")


if __name__ == "__main__":
    main()
