"""MNIST from few and many labels: scattering, raw pixels, and a convolutional network of equal training time.

    python benchmarks/bench_scattering_mnist.py                # goes on where it stopped; --seconds ends it earlier

Every result is a line of build/scattering_mnist.jsonl; features are kept beside it. Times are seconds of processor time
on one thread. Three draws of 300, 1,000 and 5,000 training images; 60,000 is all of them. Test images are always 10,000.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import torch
from measure import record
from mnist_classifiers import mnist
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC
from torch import nn

from gnomon.estimators import NTKClassifier
from gnomon.linalg.solve import NystromSolver
from gnomon.scattering import Scattering2d

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
KEPT = Path(__file__).parents[1] / "build" / "scattering_mnist.jsonl"
SIZES = {300: 3, 1_000: 3, 5_000: 3, 60_000: 1}
FEATURES = ("scattering", "pixels")
CLASSIFIERS = ("linear", "NTK", "SVM")
COMPONENTS = 150
"""Principal components for SVM and NTK."""


def features(kind: str, part: str, shared: Path) -> tuple[np.ndarray, float]:
    """All features of a part, computed once, and seconds for each image."""
    path = KEPT.with_name(f"scattering_mnist_{kind}_{part}.npy")
    if not path.exists():
        x, _ = mnist(shared, None, part)
        transform = Scattering2d(3, (28, 28))
        transform(x[:8])
        start = time.process_time()
        if kind == "scattering":
            rows = torch.cat([transform(block[:, 0]).flatten(1) for block in x.split(2000)]).numpy()
        else:
            rows = x.flatten(1).numpy()
        path.with_suffix(".time").write_text(str((time.process_time() - start) / len(x)))
        np.save(path, rows)
    return np.load(path, mmap_mode="r"), float(path.with_suffix(".time").read_text())


def scaled(x: np.ndarray, xt: np.ndarray, paths: int) -> tuple[np.ndarray, np.ndarray]:
    """Centered, and every path of one mean square over its places."""
    center = x.mean(0)
    spread = (x - center).reshape(len(x), paths, -1).std((0, 2)) + 1e-6
    scale = np.repeat(spread, x.shape[1] // paths).astype(np.float32)
    return (x - center) / scale, (xt - center) / scale


def fitted(classifier: str, x: np.ndarray, y: np.ndarray):
    """A function from features to classes."""
    if classifier == "linear":
        return RidgeClassifier(alpha=0.01 * x.shape[1] * len(x) ** 0.5).fit(x, y).predict
    if classifier == "SVM":
        return SVC(C=10.0, gamma="scale", cache_size=1000).fit(x, y).predict
    solver = NystromSolver(4000, dtype=torch.float32) if len(x) > 5_000 else "auto"
    return NTKClassifier(depth=1, scaling=None, ridge=1e-4, solver=solver).fit(x, y).predict


def principal(x: np.ndarray, xt: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Principal components of both, and the seconds they took; kept, since they take long for many images."""
    path = KEPT.with_name(f"scattering_mnist_components_{name}.npz")
    if not path.exists():
        start = time.process_time()
        found = PCA(min(COMPONENTS, len(x) - 1), svd_solver="covariance_eigh").fit(x)
        rows, seconds = found.transform(x), time.process_time() - start
        np.savez(path, rows=rows.astype(np.float32), test=found.transform(xt).astype(np.float32), seconds=seconds)
    with np.load(path) as kept:
        return kept["rows"], kept["test"], float(kept["seconds"])


def network_error(x: torch.Tensor, y: torch.Tensor, test: tuple[torch.Tensor, torch.Tensor], seconds: float, seed: int):
    """The test error of a convolutional network trained for so many seconds of processor time, and its epochs."""
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    start, epochs = time.process_time(), 0.0
    while (left := seconds - (time.process_time() - start)) > 0:
        for part in torch.randperm(len(x)).split(64):
            for group in optimizer.param_groups:
                group["lr"] = 1e-3 * min(1.0, 0.02 + left / (0.5 * seconds))  # falls over the second half
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[part]), y[part]).backward()
            optimizer.step()
            epochs += len(part) / len(x)
            left = seconds - (time.process_time() - start)
            if left <= 0:
                break
    net.eval()
    with torch.no_grad():
        wrong = torch.cat([net(block).argmax(1) for block in test[0].split(2000)]) != test[1]
    return float(wrong.double().mean()), epochs


def known() -> dict[tuple, dict]:
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    return {(r["n"], r["draw"], r["features"], r["classifier"]): r for r in map(json.loads, lines)}


def write(**result) -> None:
    print(result, flush=True)
    with KEPT.open("a") as file:
        file.write(json.dumps(result) + "\n")


def run(shared: Path, until: float, sizes: dict[int, int]) -> bool:
    """All that is missing; whether nothing is left."""
    (images, y), (test, yt) = mnist(shared, None, "train"), mnist(shared, None, "test")
    fitted("NTK", np.eye(20, 5), np.arange(20) % 2)(np.eye(5))  # compiled before the clock starts
    for n, draws in sizes.items():
        for draw in range(draws):
            rows = np.sort(np.random.default_rng([n, draw]).permutation(60_000)[:n])
            for kind in FEATURES:
                if all((n, draw, kind, c) in known() for c in CLASSIFIERS):
                    continue
                if time.time() > until:
                    return False
                (a, each), (b, _) = (features(kind, part, shared) for part in ("train", "test"))
                x, xt = scaled(np.asarray(a[rows]), np.asarray(b), 217 if kind == "scattering" else 1)
                few, fewt, before = principal(x, xt, f"{kind}_{n}_{draw}")
                for classifier in CLASSIFIERS:
                    if (n, draw, kind, classifier) in known():
                        continue
                    if time.time() > until:
                        return False
                    linear = classifier == "linear"
                    start = time.process_time()
                    predict = fitted(classifier, x if linear else few, y[rows].numpy())
                    seconds = time.process_time() - start + each * n + (0.0 if linear else before)
                    error = float((predict(xt if linear else fewt) != yt.numpy()).mean())
                    write(n=n, draw=draw, features=kind, classifier=classifier, error=error, seconds=seconds)
            if (n, draw, "images", "CNN") not in known():
                if time.time() > until:
                    return False
                seconds = known()[n, draw, "scattering", "NTK"]["seconds"]
                error, epochs = network_error(images[rows], y[rows], (test, yt), seconds, draw)
                write(n=n, draw=draw, features="images", classifier="CNN", error=error, seconds=seconds, epochs=epochs)
    return True


def table() -> None:
    found = known()
    rows = []
    for kind, classifier in [(f, c) for f in FEATURES for c in CLASSIFIERS] + [("images", "CNN")]:
        row = [f"{kind}, {classifier}"]
        for n, draws in SIZES.items():
            some = [found[n, d, kind, classifier] for d in range(draws) if (n, d, kind, classifier) in found]
            errors, seconds = [100 * r["error"] for r in some], [r["seconds"] for r in some]
            spread = f" ({min(errors):.2f} to {max(errors):.2f})" if len(errors) > 1 else ""
            row.append(f"{np.mean(errors):.2f} %{spread}, {np.mean(seconds):.1f} s" if errors else "not run")
        rows.append(row)
    note = (
        "Mean test error on 10,000 images (smallest to largest of three draws), and seconds of processor time of features\n"
        "and fit on one thread. Scattering2d(3, (28, 28)), every path scaled to one variance; SVM (Gaussian kernel, C = 10)\n"
        "and NTK (depth 1) on 150 principal components; NTK of 60,000 by Nystrom with 4,000 centers. The CNN (two\n"
        "convolutions, Adam) trains as long as scattering and NTK take together."
    )
    record("scattering", "Scattering on MNIST", ["features, classifier", *(f"{n:,} images" for n in SIZES)], rows, note)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    options.add_argument("--seconds", type=float, default=1e9)
    options.add_argument("--images", type=int, choices=list(SIZES), help="only so many training images")
    given = options.parse_args()
    if not (given.shared / "data" / "mnist.npz").exists():
        raise SystemExit(f"skipped: {given.shared / 'data' / 'mnist.npz'} does not exist; name the folder by --shared")
    KEPT.parent.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    run(given.shared, time.time() + given.seconds, {given.images: SIZES[given.images]} if given.images else SIZES)
    table()
