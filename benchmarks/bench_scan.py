"""A linear recurrence by the prefix scan of gnomon.models beside a loop over times in PyTorch, in one run.

    python benchmarks/bench_scan.py [--batch 8] [--channels 64]

One thread. Medians of seven runs, forward alone and with the backward pass.
"""

import argparse
import statistics
import time

import torch
from measure import record

from gnomon.models.scan import linear_scan


def loop(a, b):
    state, states = torch.zeros_like(b[:, 0]), []
    for t in range(a.shape[1]):
        state = a[:, t] * state + b[:, t]
        states.append(state)
    return torch.stack(states, 1)


def seconds(function, a, b, backward):
    found = []
    for _ in range(7):
        start = time.perf_counter()
        out = function(a, b)
        if backward:
            out.sum().backward()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--channels", type=int, default=64)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for times in (256, 1024, 4096):
        a = torch.rand(given.batch, times, given.channels).requires_grad_()
        b = torch.randn(given.batch, times, given.channels).requires_grad_()
        error = float((linear_scan(a.double(), b.double()) - loop(a.double(), b.double())).abs().max().detach())
        cells = [str(times), f"{error:.1e}"]
        for backward in (False, True):
            mine, theirs = (seconds(f, a, b, backward) for f in (linear_scan, loop))
            cells += [f"{1e3 * mine:.1f} ms", f"{1e3 * theirs:.1f} ms", f"{mine / theirs:.2f}"]
        print(*cells, flush=True)
        rows.append(cells)
    head = ["times", "error", "scan", "loop", "ratio", "scan, backward", "loop, backward", "ratio"]
    record(
        "sequences",
        "Linear recurrences: prefix scan compared with a loop",
        head,
        rows,
        "Medians of seven runs, one thread.",
    )


if __name__ == "__main__":
    main()
