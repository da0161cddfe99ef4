"""What watching costs: three models, with and without `gnomon.watch` limited to 5 %, on a quiet and on a busy machine.

python benchmarks/bench_watch.py           # quiet: run it alone
python benchmarks/bench_watch.py --busy    # beside two processes that compute without end
python benchmarks/bench_watch.py --processor   # in processor time, whatever else the machine does
python benchmarks/bench_watch.py --seconds 4 --repetitions 2
"""

import argparse
import multiprocessing
import os
import time

import torch
from measure import record
from practice import Transformer, perceptron
from torch import nn

import gnomon

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


def loop(build, x, y, steps, watching, clock):
    """Seconds of all steps, and how often the watch looked."""
    torch.manual_seed(0)
    net = build()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    start = clock()
    w = gnomon.watch(net, probe=(x, y), overhead=0.05, clock=clock) if watching else None
    for i in range(steps):
        batch = slice((i * BATCH) % (len(x) - BATCH), (i * BATCH) % (len(x) - BATCH) + BATCH)
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if w is not None:
            w.step(loss)
    return clock() - start, 0 if w is None else len(w.rows)


def burn() -> None:
    while True:
        sum(range(10**5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--processor", action="store_true", help="count processor time, not by the wall")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2 if options.busy else 0)]
    for process in busy:
        process.start()
    rows, clock = [], time.process_time if options.processor else time.perf_counter
    for name, (build, x, classes) in MODELS.items():
        y = torch.randint(classes, (len(x),), generator=torch.Generator().manual_seed(1))
        loop(build, x, y, 20, True, clock)
        steps = round(200 * options.seconds / max(loop(build, x, y, 200, False, clock)[0], 1e-3))
        plain = watched = float("inf")
        for _ in range(options.repetitions):
            plain = min(plain, loop(build, x, y, steps, False, clock)[0])
            seconds, looks = loop(build, x, y, steps, True, clock)
            watched = min(watched, seconds)
        each = f"{1e3 * plain / steps:.2f} ms", f"{1e3 * watched / steps:.2f} ms"
        rows.append([name, *each, f"{watched / plain - 1:.1%}", "5 %", str(looks)])
        print(rows[-1], flush=True)
    for process in busy:
        process.terminate()
    where = "two busy loops beside it" if busy else "beside other work" if options.processor else "quiet"
    note = (
        f"Steps for {options.seconds:g} s {'of processor time ' if options.processor else ''}in batches of {BATCH}; least of "
        f"{options.repetitions} runs in turn; making the watch is counted.\nThe load of the machine was {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores."
    )
    record(
        f"Watching three models, {where}", ["model", "step", "step, watched", "overhead", "wanted", "looks"], rows, note
    )


if __name__ == "__main__":
    main()
