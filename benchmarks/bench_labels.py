"""Wrong labels found: gnomon's ranking beside cleanlab's, with 10 % of labels flipped.

cleanlab runs in an environment of its own, whose Python is named by --peer. It ranks by out-of-fold probabilities of five
fits, on as many examples as gnomon sees: of logistic regression on the inputs, of logistic regression on random features,
and, for the ranking alone, by the votes that gnomon itself ranks by, made probabilities by the best temperature.
The flips and the tables of UCI were not looked at while the ranking was developed. One piece at a time: --only NAME.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from measure import record
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

import gnomon
from gnomon.checks import suspect_labels
from gnomon.checks.data.kernel_votes import leave_one_out_kernel_predictions
from gnomon.checks.data.rows import example_rows, random_features
from gnomon.decisions import best_temperature

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TABLES = ("statlog-image", "semeion")
SEEDS = (101, 102)


def out_of_fold(x, y):
    """Probabilities of each row from the fit to the other four fifths."""
    made = np.zeros((len(y), int(y.max()) + 1))
    for fit, held in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
        made[held] = LogisticRegression(C=1.0, max_iter=200).fit(x[fit], y[fit]).predict_proba(x[held])
    return made


def of_votes(x, y):
    """The votes that gnomon ranks by, as probabilities of the best temperature."""
    votes = leave_one_out_kernel_predictions(
        example_rows(x).clamp(-4, 4) if x.dim() == 2 else example_rows(x), torch.nn.functional.one_hot(y).double()
    )
    return (votes / best_temperature(votes, y).value).softmax(1).numpy()


def peer(python, y, probabilities, flipped):
    """The better average precision of cleanlab's two scores."""
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(there, labels=y, probabilities=probabilities)
        script = Path(__file__).parent / "peers" / "cleanlab_scores.py"
        subprocess.run([python, str(script), str(there), str(back)], check=True)
        with np.load(back) as file:
            return max(average_precision_score(flipped, -file[name]) for name in file)


def data(name, shared, count):
    if name == "digits":
        split = gnomon.data.digits(1797, 0)
        return split.x, split.y
    if name == "MNIST":
        with np.load(shared / "data" / "mnist.npz") as file:
            x = torch.from_numpy(file["x_train"][:count].astype(np.float32) / 255)
            return x, torch.from_numpy(file["y_train"][:count].astype(np.int64))
    with np.load(shared / "data" / "uci90.npz") as file:
        return torch.from_numpy(file[f"{name}/x"]).float(), torch.from_numpy(file[f"{name}/y"]).long()


def compare(x, y, seed, python):
    """Average precisions by name of the ranking, with seconds."""
    generator = torch.Generator().manual_seed(seed)
    flipped, classes = torch.rand(len(y), generator=generator) < 0.1, int(y.max()) + 1
    labels = torch.where(flipped, (y + torch.randint(1, classes, y.shape, generator=generator)) % classes, y)
    found = {}

    def timed(name, make):
        start = time.perf_counter()
        value = make()
        found[name] = (value, time.perf_counter() - start)

    def ours():
        place = torch.tensor(suspect_labels((x, labels)).ranked).argsort()
        return average_precision_score(flipped, -place.double())

    timed("gnomon", ours)
    flat, random = x.flatten(1).numpy(), random_features(example_rows(x, seed=0), width=400, seed=0).numpy()
    for name, made in (
        ("inputs", lambda: out_of_fold(flat, labels.numpy())),
        ("random features", lambda: out_of_fold(random, labels.numpy())),
        ("votes", lambda: of_votes(x, labels)),
    ):
        timed(name, lambda made=made: peer(python, labels.numpy(), made(), flipped))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    options.add_argument("--peer", required=True, help="the Python of an environment that has cleanlab")
    options.add_argument("--rows", type=int, default=5000, help="of MNIST")
    options.add_argument("--only", help="one set of data")
    options.add_argument(
        "--kept", type=Path, default=Path(tempfile.gettempdir()) / "labels.json", help="finished pieces"
    )
    given = options.parse_args()
    kept = json.loads(given.kept.read_text()) if given.kept.exists() else {}
    names = [given.only] if given.only else ["digits", "MNIST", *TABLES]
    for name in names:
        if name != "digits" and not (given.shared / "data").exists():
            print(f"skipped {name}: {given.shared / 'data'} does not exist; name the folder by --shared")
            continue
        x, y = data(name, given.shared, given.rows)
        for seed in SEEDS:
            if f"{name} {seed}" not in kept:
                kept[f"{name} {seed}"] = [len(y), compare(x, y, seed, given.peer)]
                given.kept.write_text(json.dumps(kept))
                print(name, seed, kept[f"{name} {seed}"], flush=True)
    table = []
    for key, (count, found) in kept.items():
        name, seed = key.rsplit(" ", 1)
        table.append([name, str(count), seed, *(f"{value:.4f} ({seconds:.1f} s)" for value, seconds in found.values())])
    columns = ["data", "rows", "seed of the flips", "gnomon.checks.suspect_labels"]
    columns += ["cleanlab, inputs", "cleanlab, random features", "cleanlab, gnomon's votes"]
    note = (
        "Average precision of finding the flipped labels; for cleanlab the better of two scores. Times include the fits.\n"
        "Logistic regression gives cleanlab its out-of-fold probabilities; in the last column cleanlab ranks by gnomon's votes."
    )
    record("data-checks", "Wrong labels found, 10 % flipped", columns, table, note)


if __name__ == "__main__":
    main()
