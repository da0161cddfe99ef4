"""How the cost grows with the number of points, with depth, with the side of images: slopes in logarithms."""

from functools import partial

import numpy as np
import torch
from measure import best_of, inputs, record
from workloads import LAW, convolutional, dense

import gnomon


def limit(net):
    return gnomon.limit(net, init=LAW, parametrization="ntk", dtype=torch.float32)


def series(name, sizes, problem, expected):
    times = []
    for size in sizes:
        run = problem(size)
        run()
        times.append(best_of(run, 5))
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    steps = ", ".join(f"{s}: {t:.3g} s" for s, t in zip(sizes, times, strict=True))
    row = [name, steps, f"{slope:.2f}", expected]
    print(row, flush=True)
    return row


def points(n):
    return partial(limit(dense(10, 64)[0]).ntk, inputs((64,), n)[0])


def depth(layers):
    return partial(limit(dense(layers, 64)[0]).ntk, inputs((64,), 4000)[0])


def images(n):
    return partial(limit(convolutional("cccc", 8)[0]).ntk, inputs((8, 8, 3), n)[0])


def side(size):
    return partial(limit(convolutional("cc", size)[0]).ntk, *inputs((size, size, 3), 8, 8))


def main() -> None:
    rows = [
        series("points, 10 dense layers", (8000, 16000, 32000), points, "2 (linear in pairs)"),
        series("depth, n = 4000", (10, 30, 90), depth, "1"),
        series("images 8x8, 4 conv + GAP", (64, 128, 256), images, "2 (linear in pairs)"),
        series("side of images, 2 conv + GAP", (16, 32, 48), side, "4 (pairs of positions)"),
    ]
    note = "Least-squares slopes on logarithms. Small problems have fixed costs, which make slopes a little lower."
    record("kernels", "Growth with the size of the problem", ["size", "times", "slope", "theory"], rows, note)


if __name__ == "__main__":
    main()
