"""What watching costs: steps of a CNN on images of MNIST's size, with and without `gnomon.watch` limited to 5 %."""

import time

import torch
from measure import record
from torch import nn

import gnomon

STEPS, BATCH, REPETITIONS = 400, 64, 3


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 10),
    )  # fmt: skip


def loop(x, y, watching):
    """Seconds of all steps, and how often the watch looked."""
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    start = time.perf_counter()
    w = gnomon.watch(net, probe=(x, y), overhead=0.05) if watching else None
    for i in range(STEPS):
        batch = slice((i * BATCH) % (len(x) - BATCH), (i * BATCH) % (len(x) - BATCH) + BATCH)
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if w is not None:
            w.step(loss)
    return time.perf_counter() - start, 0 if w is None else len(w.rows)


def main() -> None:
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(2048, 1, 28, 28, generator=g), torch.randint(10, (2048,), generator=g)
    loop(x, y, True)
    plain = watched = float("inf")
    for _ in range(REPETITIONS):
        plain = min(plain, loop(x, y, False)[0])
        seconds, looks = loop(x, y, True)
        watched = min(watched, seconds)
    rows = [
        [
            f"{1e3 * plain / STEPS:.2f} ms",
            f"{1e3 * watched / STEPS:.2f} ms",
            f"{watched / plain - 1:.1%}",
            "5 %",
            str(looks),
        ]
    ]
    note = f"{STEPS} steps in batches of {BATCH}; least of {REPETITIONS} runs in turn; making the watch is counted."
    record("Watching a CNN on 28x28 images", ["step", "step, watched", "overhead", "wanted", "looks"], rows, note)


if __name__ == "__main__":
    main()
