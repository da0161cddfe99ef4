"""Wrong labels found: gnomon's ranking beside cleanlab's, on digits and MNIST with 10 % of labels flipped.

cleanlab runs in an environment of its own, whose Python is named by --peer; it gets out-of-fold probabilities of five fits:
logistic regression on the pixels, and on the same random features that gnomon's ranking uses. Both sides see as many
examples; gnomon's votes leave out one example at a time and are fitted to at most 2,500.
"""

import argparse
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
from gnomon.generalization import suspects
from gnomon.generalization.rows import random_features, rows

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def out_of_fold(x, y):
    """Probabilities of each row from the fit to the other four fifths."""
    made = np.zeros((len(y), int(y.max()) + 1))
    for fit, held in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
        made[held] = LogisticRegression(C=1.0, max_iter=200).fit(x[fit], y[fit]).predict_proba(x[held])
    return made


def peer(python, y, probabilities):
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(there, labels=y, probabilities=probabilities)
        script = Path(__file__).parent / "peers" / "cleanlab_scores.py"
        subprocess.run([python, str(script), str(there), str(back)], check=True)
        with np.load(back) as file:
            return {name: file[name] for name in file}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    options.add_argument("--peer", required=True, help="the Python of an environment that has cleanlab")
    options.add_argument("--rows", type=int, default=5000, help="of MNIST")
    given = options.parse_args()
    split = gnomon.data.digits(1797, 0)
    sets = {"digits": (split.x.flatten(1), split.y)}
    if (given.shared / "data" / "mnist.npz").exists():
        with np.load(given.shared / "data" / "mnist.npz") as file:
            x = torch.from_numpy(file["x_train"][: given.rows].reshape(-1, 784).astype(np.float32) / 255)
            sets["MNIST"] = (x, torch.from_numpy(file["y_train"][: given.rows].astype(np.int64)))
    table = []
    for name, (x, y) in sets.items():
        generator = torch.Generator().manual_seed(1)
        flipped = torch.rand(len(y), generator=generator) < 0.1
        other = (y + torch.randint(1, 10, y.shape, generator=generator)) % 10
        labels = torch.where(flipped, other, y)
        start = time.perf_counter()
        place = torch.tensor(suspects(x, labels).ranked).argsort()
        ours = average_precision_score(flipped, -place.double())
        seconds = time.perf_counter() - start
        line = [name, str(len(y)), f"{ours:.4f} ({seconds:.1f} s)"]
        for features in (x, random_features(rows(x, seed=0), width=400, seed=0)):
            start = time.perf_counter()
            scores = peer(given.peer, labels.numpy(), out_of_fold(features.numpy(), labels.numpy()))
            seconds = time.perf_counter() - start
            line += [f"{max(average_precision_score(flipped, -s) for s in scores.values()):.4f} ({seconds:.1f} s)"]
        table.append(line)
        print(line, flush=True)
    columns = ["data", "rows", "gnomon.suspects", "cleanlab, pixels", "cleanlab, random features"]
    note = "Average precision of the flipped labels, the better of two of cleanlab's scores; times include the fits."
    record("Wrong labels found, 10 % flipped", columns, table, note)


if __name__ == "__main__":
    main()
