"""Leaks and shift: false alarms on clean splits, and how many leaks and shifts are found, on digits and MNIST.

200 clean random splits of each and of tables of UCI; 5 % of the test examples replaced by copies of training examples, equal or slightly changed;
and shifts of the test examples whose strength is such that a classifier loses three points of accuracy, found by bisection
on splits that are not counted. The data lie beside the project: `--shared FOLDER`, GNOMON_SHARED, or ../shared by default.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from kept import Kept
from measure import record

import gnomon
from gnomon.checks import data_shift, find_leaks
from gnomon.checks.data.ridge import leave_one_out_ridge_predictions
from gnomon.checks.data.rows import random_features
from gnomon.core.metrics import binomial_interval

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CLEAN, TRIED, POINTS = 200, 60, 0.03
TABLES = ("abalone", "yeast", "waveform", "wine-quality-red", "statlog-image", "car")


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
    "mirrored share": lambda x, s, seed=0: torch.where(
        torch.rand(len(x), 1, 1, generator=torch.Generator().manual_seed(seed)) < s, x.flip(-1), x
    ),
    "noise": noise,
    "blur to one side": blended,
    "lower contrast": lambda x, s, _seed=0: x * (1 - s),
    "added light": lambda x, s, _seed=0: x + s,
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
        v = leave_one_out_ridge_predictions(
            features, torch.cat([table, torch.zeros(2 * test, 10).double()]), torch.arange(train)
        ).argmax(1)
        falls.append(float((v[train : train + test] == yb).double().mean() - (v[train + test :] == yb).double().mean()))
    return sum(falls) / 5


def strength_of(cost):
    """The strength that costs `POINTS` of accuracy."""
    low, high = 0.0, 1.0
    for _ in range(7):
        middle = (low + high) / 2
        low, high = (low, middle) if cost(middle) > POINTS else (middle, high)
    return high


def rate(kept, key, tried, one):
    """In how many tries something is found, with the interval of the rate."""
    found = kept.count(key, tried, one)
    print(key, found, "of", tried, flush=True)
    return f"{found} of {tried} ({binomial_interval(found, tried)})"


def copies_found(name, x, y, train, test, kept, rows):
    """Leaks: clean splits, and 5 % of test replaced by copies."""

    def clean(seed):
        a, _, b, _ = split(x, y, train, test, seed)
        return find_leaks(a, b, seed=seed).findings

    rows.append([name, "clean splits: leaks", "", rate(kept, f"{name}: clean, leaks", CLEAN, clean)])
    for kind, change in COPIES.items():

        def copied(seed, change=change):
            a, _, b, _ = split(x, y, train, test, 300 + seed)
            k = test // 20
            return find_leaks(a, torch.cat([b[k:], change(a[:k])]), seed=seed).findings

        rows.append([name, f"5 % copies: {kind}", "", rate(kept, f"{name}: copies, {kind}", TRIED, copied)])


def shifts_found(name, x, y, train, test, kept, rows):
    """Shift: clean splits, and changes that cost three points."""

    def clean(seed):
        a, ya, b, yb = split(x, y, train, test, seed)
        return data_shift((a, ya), (b, yb), seed=seed).findings

    rows.append([name, "clean splits: shift", "", rate(kept, f"{name}: clean, shift", CLEAN, clean)])
    for kind, change in SHIFTS.items():
        key = f"{name}: shift, {kind}"

        def cost(strength, key=key, change=change):
            return kept.once(f"{key}, {strength}", lambda: lost(x, y, train, test, change, strength))

        strength = kept.once(f"{key}, strength", lambda cost=cost: strength_of(cost))

        def changed(seed, change=change, strength=strength):
            a, ya, b, yb = split(x, y, train, test, 300 + seed)
            return data_shift((a, ya), (change(b, strength, seed), yb), seed=seed).shifted

        found = rate(kept, key, TRIED, changed)
        rows.append(
            [name, f"shift: {kind}", f"strength {strength:.3g}, costs {100 * cost(strength):.1f} points", found]
        )


def tables_found(file, kept, rows):
    """Clean splits of tables of UCI, 70 % to train."""
    for name in TABLES:
        x, y = torch.from_numpy(file[f"{name}/x"]).float(), torch.from_numpy(file[f"{name}/y"]).long()
        train = 7 * len(x) // 10

        def clean(seed, x=x, y=y, train=train):
            a, ya, b, yb = split(x, y, train, len(x) - train, seed)
            return data_shift((a, ya), (b, yb), seed=seed).findings

        found = rate(kept, f"uci {name}: clean, shift", CLEAN, clean)
        rows.append([f"uci {name}, {train} and {len(x) - train}", "clean splits: shift", "", found])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    Kept.options(options, "split")
    given = options.parse_args()
    rows: list[list[str]] = []
    kept = Kept(given.kept, given.seconds)
    part = gnomon.data.digits(1797, 0)
    digits = "digits, 900 and 897", part.x.reshape(-1, 8, 8).float(), part.y, 900, 897, kept, rows
    shifts_found(*digits)
    copies_found(*digits)
    if (given.shared / "data" / "mnist.npz").exists():
        with np.load(given.shared / "data" / "mnist.npz") as file:
            x = torch.from_numpy(file["x_train"][:20_000].astype(np.float32) / 255)
            y = torch.from_numpy(file["y_train"][:20_000].astype(np.int64))
        shifts_found("MNIST, 3000 and 3000", x, y, 3000, 3000, kept, rows)
        copies_found("MNIST, 1000 and 1000", x, y, 1000, 1000, kept, rows)
        with np.load(given.shared / "data" / "uci90.npz") as file:
            tables_found(file, kept, rows)
    note = (
        "Alarms or detections, with 95 % intervals of their rates. Clean splits are random. The strength of a shift is the one that costs ridge\n"
        "regression on random features three points of accuracy, found on other splits. Stated false-alarm rate of a shift: 0.001."
    )
    record("data-checks", "Leaks and shift", ["data", "what", "size", "found"], rows, note)


if __name__ == "__main__":
    main()
