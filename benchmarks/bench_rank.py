"""Ranking before training against accuracy after it: thirty architectures on each of three data sets.

Digits of scikit-learn (8 x 8), MNIST at half its resolution (14 x 14), and a table of UCI (waveform). Needs the folder
``shared`` beside the clone for the last two.

    python benchmarks/bench_rank.py [--sets digits,mnist,waveform] [--seconds 200]

Every network is trained with two seeds: how well one training orders the networks as the other does is what any
prediction of a single training can reach. Results are kept in ``--out`` (JSON lines), and what is there is not run again.
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from measure import record
from practice import DATA, mnist
from scipy.stats import spearmanr
from torch import nn

from gnomon.data import digits
from gnomon.examination import rank
from gnomon.training import Adam, train

STEPS, BATCH, SEEDS = 300, 64, (0, 1)
RULE = Adam(2e-3)


def perceptron(inputs, classes, depth, act=nn.ReLU, width=128, norm=False, dropout=0.0, gain=None):
    """Dense layers; ``gain`` draws weights of variance gain^2 / fan_in, and otherwise torch's own."""
    layers, last = [nn.Flatten()], inputs
    for _ in range(depth):
        layers += [nn.Linear(last, width), *([nn.LayerNorm(width)] if norm else []), act()]
        layers += [nn.Dropout(dropout)] if dropout else []
        last = width
    net = nn.Sequential(*layers, nn.Linear(last, classes))
    for part in net if gain is not None else ():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=gain / part.in_features**0.5)
            nn.init.zeros_(part.bias)
    return net


def convolutional(channels, classes, side, *, stride=1, pool=True, act=nn.ReLU, norm=False, top=1):
    layers, last = [], 1
    for c in channels:
        layers += [nn.Conv2d(last, c, 3, padding=1, stride=stride), *([nn.BatchNorm2d(c)] if norm else []), act()]
        last, side = c, -(-side // stride)
    if pool:
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(top), nn.Flatten(), nn.Linear(last * top * top, classes))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(last * side * side, classes))


def dense(inputs, classes):
    """Perceptrons that differ in depth, activation, width, normalization and the scale of their weights."""
    make = partial(partial, perceptron, inputs, classes)
    return {
        "line": make(0), "relu 1": make(1), "relu 3": make(3), "relu 8": make(8), "relu 20": make(20),
        "tanh 2": make(2, nn.Tanh), "tanh 12": make(12, nn.Tanh), "gelu 3": make(3, nn.GELU),
        "sigmoid 3": make(3, nn.Sigmoid), "relu 3, width 8": make(3, width=8), "relu 8, norm": make(8, norm=True),
        "relu 20, norm": make(20, norm=True), "relu 2, weights / 10": make(2, gain=0.1),
        "tanh 3, weights x 5": make(3, nn.Tanh, gain=5.0), "relu 3, dropout": make(3, dropout=0.5),
    }  # fmt: skip


def tables(inputs, classes):
    make = partial(partial, perceptron, inputs, classes)
    return dense(inputs, classes) | {
        "relu 1, width 4": make(1, width=4), "relu 1, width 512": make(1, width=512), "relu 2": make(2),
        "relu 5": make(5), "relu 12": make(12), "selu 4": make(4, nn.SELU), "silu 3": make(3, nn.SiLU),
        "sigmoid 1": make(1, nn.Sigmoid), "sigmoid 6": make(6, nn.Sigmoid), "tanh 5": make(5, nn.Tanh),
        "tanh 20": make(20, nn.Tanh), "relu 2, width 3": make(2, width=3), "relu 3, weights x 3": make(3, gain=3.0),
        "relu 6, dropout": make(6, dropout=0.3), "hard tanh 4": make(4, nn.Hardtanh),
    }  # fmt: skip


def images(side, classes):
    make = partial(partial, convolutional)
    return dense(side * side, classes) | {
        "conv 1, pooled": make((16,), classes, side), "conv 3, pooled": make((16, 16, 16), classes, side),
        "conv 2, flat": make((16, 16), classes, side, pool=False),
        "conv 3, strided": make((16, 32, 32), classes, side, stride=2),
        "conv 2, tanh, flat": make((16, 16), classes, side, pool=False, act=nn.Tanh),
        "conv 3, pooled, norm": make((16, 16, 16), classes, side, norm=True),
        "conv 2, pooled to 2": make((16, 16), classes, side, top=2),
        "conv 4, pooled to 2": make((16, 16, 16, 16), classes, side, top=2),
        "conv 3, strided, norm": make((16, 32, 32), classes, side, stride=2, norm=True),
        "conv 1, flat, narrow": make((2,), classes, side, pool=False),
        "conv 2, sigmoid, flat": make((16, 16), classes, side, pool=False, act=nn.Sigmoid),
        "conv 6, flat": make((8,) * 6, classes, side, pool=False), "conv 2, wide, pooled": make((48, 48), classes, side),
        "conv 2, gelu, strided": make((16, 32), classes, side, stride=2, act=nn.GELU),
        "conv 8, pooled": make((8,) * 8, classes, side),
    }  # fmt: skip


def waveform():
    with np.load(DATA / "uci90.npz") as file:
        x, y = (torch.from_numpy(file[f"waveform/{part}"]) for part in "xy")
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = x[order].float(), y[order].long()
    return (x[:1500], y[:1500]), (x[1500:], y[1500:])


def halved():
    train, test = mnist(2000, 2000)
    return tuple((nn.functional.avg_pool2d(x, 2), y) for x, y in (train, test))


def small():
    split = digits(1000, 797)
    return (split.x, split.y), (split.x_test, split.y_test)


SETS = {"digits": (small, lambda: images(8, 10)), "mnist": (halved, lambda: images(14, 10)),
        "waveform": (waveform, lambda: tables(21, 3))}  # fmt: skip


def trained(build, data, seed):
    (x, y), (x_test, y_test) = data
    torch.manual_seed(seed)
    run = train(build(), (x, y), test=(x_test, y_test), optimizer=RULE, steps=STEPS, batch=BATCH, record=STEPS,
                seed=seed)  # fmt: skip
    return float(run.test_accuracy[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--out", default="build/bench_rank.jsonl")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no network after so many seconds")
    options = parser.parse_args()
    out, begin = Path(options.out), time.perf_counter()
    out.parent.mkdir(parents=True, exist_ok=True)
    kept = {}
    for line in out.read_text().splitlines() if out.exists() else ():
        one = json.loads(line)
        kept[one["set"], one["network"], one["seed"]] = one
    for name in options.sets.split(","):
        load, make = SETS[name]
        data, networks = load(), make()
        for (key, build), seed in ((n, s) for n in networks.items() for s in ("rank", *SEEDS)):
            if (name, key, seed) in kept:
                continue
            if time.perf_counter() - begin > options.seconds:
                sys.exit("The time is spent: run it again to go on.")
            found = predicted(key, build, data) if seed == "rank" else {"accuracy": trained(build, data, seed)}
            kept[name, key, seed] = {"set": name, "network": key, "seed": seed, **found}
            with out.open("a") as file:
                file.write(json.dumps(kept[name, key, seed]) + "\n")
        report(name, {key: [kept[name, key, seed] for seed in ("rank", *SEEDS)] for key in networks})


def predicted(name, build, data) -> dict:
    """A candidate's place does not depend on the others, so that each is judged alone."""
    one = rank({name: build}, data[0], optimizer=RULE, steps=STEPS, batch=BATCH).candidates[0]
    return {"score": one.score, "order": [not one.trainable, -one.score, one.short_run.loss], "why": one.reason}


def report(name, results) -> None:
    """The correlation with one training and with the mean of both, and that of the trainings with each other."""
    order = sorted(results, key=lambda key: results[key][0]["order"])
    first, second = ([results[key][k]["accuracy"] for key in order] for k in (1, 2))
    reached, place = [(a + b) / 2 for a, b in zip(first, second, strict=True)], [-i for i in range(len(order))]
    mean, ceiling = spearmanr(place, reached).statistic, spearmanr(first, second).statistic
    each = [spearmanr(place, one).statistic for one in (first, second)]
    reliable = 2 * ceiling / (1 + ceiling)  # of the mean of two
    rows = [
        [key, f"{results[key][0]['score']:.3f}", f"{a:.3f}", f"{b:.3f}", results[key][0]["why"]]
        for key, a, b in zip(order, first, second, strict=True)
    ]
    note = (
        f"{len(order)} architectures, in the order of the ranking, which trains for half of the steps. Spearman's rank correlation "
        f"{mean:.2f} with the mean of two\ntrainings, {each[0]:.2f} and {each[1]:.2f} with each. The two trainings have {ceiling:.2f} "
        f"with each other, so that the mean is reliable to {reliable:.2f};\ncorrected for that, {mean / reliable**0.5:.2f}. "
        f"Trained: test accuracy after {STEPS} steps of Adam(0.002) in batches of {BATCH}."
    )
    print(name, f"{mean:.3f}", flush=True)
    columns = ["network", "predicted", "trained", "with another seed", "why"]
    record("ranking", f"Ranking before training, {name}", columns, rows, note)


if __name__ == "__main__":
    main()
