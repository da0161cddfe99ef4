"""What `gnomon.watch` costs: three models, as it comes, on a quiet and on a busy machine.

python benchmarks/bench_watch.py           # quiet: run it alone
python benchmarks/bench_watch.py --busy    # beside two processes that compute without end
python benchmarks/bench_watch.py --seconds 4 --repetitions 2

The overhead is the time inside of the calls of gnomon over the time of the loop without them, both in one run: two runs,
one watched and one not, differ by up to 30 % on a shared machine whatever is done in them.
"""

import argparse
import multiprocessing
import os
from time import perf_counter

import torch
from measure import record
from practice import Transformer, perceptron
from torch import nn

from gnomon import watch  # importing it takes seconds, before any training

BATCH = 64


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 10),
    )  # fmt: skip


G = torch.Generator().manual_seed(0)
MODELS = {
    "CNN on 28x28": (cnn, torch.randn(2048, 1, 28, 28, generator=G), 10),
    "transformer on tokens": (Transformer, torch.randint(32, (2048, 24), generator=G), 4),
    "perceptron of 1.3 million": (lambda: perceptron(784, 10, 800, 2), torch.randn(2048, 784, generator=G), 10),
}


def step(net, optimizer, x, y):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def run(build, x, y, seconds):
    """Steps for so many seconds: seconds of the loop, seconds inside of the watch, steps, steps measured, with curvature."""
    torch.manual_seed(0)
    net = build()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    start, count = perf_counter(), 0
    w = watch(net, data=(x, y))
    inside = perf_counter() - start
    while perf_counter() - start < seconds:
        first = (count * BATCH) % (len(x) - BATCH)
        loss = step(net, optimizer, x[first : first + BATCH], y[first : first + BATCH])
        before = perf_counter()
        w.step(loss)
        inside += perf_counter() - before
        count += 1
    return perf_counter() - start - inside, inside, count, len(w.rows), sum("sharpness" in row for row in w.rows)


def burn() -> None:
    while True:
        sum(range(10**5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2 if options.busy else 0)]
    for process in busy:
        process.start()
    rows = []
    for name, (build, x, classes) in MODELS.items():
        y = torch.randint(classes, (len(x),), generator=torch.Generator().manual_seed(1))
        runs = [run(build, x, y, options.seconds) for _ in range(options.repetitions)]
        shares = sorted(inside / loop for loop, inside, *_ in runs)
        loop, _, steps, looks, curved = runs[-1]
        rows.append([name, f"{1e3 * loop / steps:.1f} ms", *(f"{100 * s:.1f} %" for s in (shares[0], shares[-1])), "5 %",
                     str(looks), str(curved)])  # fmt: skip
        print(rows[-1], flush=True)
    for process in busy:
        process.terminate()
    note = (
        f"{options.repetitions} runs of {options.seconds:g} s in batches of {BATCH}. The overhead includes creating the watch, "
        f"but not importing gnomon. Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    )
    where = "next to two busy loops" if busy else "on an idle machine"
    head = ["model", "step", "least overhead", "largest", "target", "measured", "with curvature"]
    record("watching", f"Watching three models {where}", head, rows, note)


if __name__ == "__main__":
    main()
