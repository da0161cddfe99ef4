"""Leaks and shift: false alarms on clean splits, and how many leaks and shifts are found, on digits and MNIST.

200 clean random splits of each; 5 % of the test examples replaced by copies of training examples, equal or slightly changed;
and shifts of the test examples whose strength is such that a classifier loses three points of accuracy, found by bisection
on splits that are not counted. The data lie beside the project: `--shared FOLDER`, GNOMON_SHARED, or ../shared by default.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from measure import record

import gnomon
from gnomon.core.metrics import binomial_interval
from gnomon.generalization import leaks, shift
from gnomon.generalization.ridge import votes
from gnomon.generalization.rows import random_features

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CLEAN, TRIED, POINTS = 200, 60, 0.03


def noise(x, strength, seed=0):
    return x + strength * torch.randn(x.shape, generator=torch.Generator().manual_seed(seed))


def blended(x, strength, _seed=0):
    """Part of each image moved by one pixel: a blur to one side."""
    return (1 - strength) * x + strength * x.roll(1, -1)


COPIES = {
    "equal": lambda x: x,
    "noise": lambda x: noise(x, 0.02),
    "brighter": lambda x: 0.97 * x,
    "8 grays": lambda x: (8 * x).round() / 8,
    "a tenth of a pixel": lambda x: blended(x, 0.1),
}
SHIFTS = {
    "noise": noise,
    "blur to one side": blended,
    "lower contrast": lambda x, s, _seed=0: x * (1 - s),
    "added light": lambda x, s, _seed=0: x + s,
    "mirrored share": lambda x, s, seed=0: torch.where(
        torch.rand(len(x), 1, 1, generator=torch.Generator().manual_seed(seed)) < s, x.flip(-1), x
    ),
}


def split(x, y, train, test, seed):
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    a, b = order[:train], order[train : train + test]
    return x[a], y[a], x[b], y[b]


def lost(x, y, train, test, change, strength):
    """Mean loss of accuracy over five splits, of ridge regression on random features."""
    falls = []
    for seed in range(5):
        a, ya, b, yb = split(x, y, train, test, 900 + seed)
        together = torch.cat([a, b, change(b, strength, seed)]).flatten(1)
        features = random_features(together, width=400, seed=seed).double()
        table = torch.nn.functional.one_hot(ya, 10).double()
        v = votes(features, torch.cat([table, torch.zeros(2 * test, 10).double()]), torch.arange(train)).argmax(1)
        falls.append(float((v[train : train + test] == yb).double().mean() - (v[train + test :] == yb).double().mean()))
    return sum(falls) / 5


def strength_of(x, y, train, test, change):
    """The strength that costs `POINTS` of accuracy."""
    low, high = 0.0, 1.0
    for _ in range(7):
        middle = (low + high) / 2
        low, high = (low, middle) if lost(x, y, train, test, change, middle) > POINTS else (middle, high)
    return high


def rate(found, tried):
    return f"{found} of {tried} ({binomial_interval(found, tried)})"


def measure(name, x, y, train, test, rows):
    alarms = [0, 0]
    for seed in range(CLEAN):
        a, ya, b, yb = split(x, y, train, test, seed)
        alarms[0] += bool(leaks(a, b, seed=seed).findings)
        alarms[1] += bool(shift((a, ya), (b, yb), seed=seed).findings)
    rows += [
        [name, "clean splits: leaks", "", rate(alarms[0], CLEAN)],
        [name, "clean splits: shift", "", rate(alarms[1], CLEAN)],
    ]
    print(rows[-2:], flush=True)
    for kind, change in COPIES.items():
        found = 0
        for seed in range(TRIED):
            a, _, b, _ = split(x, y, train, test, 300 + seed)
            k = test // 20
            found += bool(leaks(a, torch.cat([b[k:], change(a[:k])]), seed=seed).findings)
        rows.append([name, f"5 % copies: {kind}", "", rate(found, TRIED)])
        print(rows[-1], flush=True)
    for kind, change in SHIFTS.items():
        strength = strength_of(x, y, train, test, change)
        found = 0
        for seed in range(TRIED):
            a, ya, b, yb = split(x, y, train, test, 300 + seed)
            found += shift((a, ya), (change(b, strength, seed), yb), seed=seed).shifted
        cost = f"strength {strength:.3g}, costs {100 * lost(x, y, train, test, change, strength):.1f} points"
        rows.append([name, f"shift: {kind}", cost, rate(found, TRIED)])
        print(rows[-1], flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    given = options.parse_args()
    rows: list[list[str]] = []
    part = gnomon.data.digits(1797, 0)
    measure("digits, 900 and 897", part.x.reshape(-1, 8, 8).float(), part.y, 900, 897, rows)
    if (given.shared / "data" / "mnist.npz").exists():
        with np.load(given.shared / "data" / "mnist.npz") as file:
            x = torch.from_numpy(file["x_train"][:20_000].astype(np.float32) / 255)
            y = torch.from_numpy(file["y_train"][:20_000].astype(np.int64))
        measure("MNIST, 1000 and 1000", x, y, 1000, 1000, rows)
    note = (
        "Alarms or detections, with 95 % intervals of their rates. Splits of images by chance; a shift's strength is the one that\n"
        "costs ridge regression on random features three points of accuracy, found on other splits."
    )
    record("Leaks and shift", ["data", "what", "size", "found"], rows, note)


if __name__ == "__main__":
    main()
