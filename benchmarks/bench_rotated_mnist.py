"""Rotated MNIST, 1,000 training images: scattering over rotations beside plain, a C8 group CNN beside a plain CNN.

    python benchmarks/bench_rotated_mnist.py

Every image is turned by an angle of its own, of the whole circle. Results go to build/rotated_mnist.jsonl, and a second
run goes on where the first stopped. Both networks have equally many parameters and epochs, and one recipe.
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
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torch import nn

from gnomon.scattering import Scattering2d, roto_translation_scattering
from gnomon.symmetry import GroupBatchNorm2d, GroupConv2d, GroupPool, cyclic

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
KEPT = Path(__file__).parents[1] / "build" / "rotated_mnist.jsonl"
TRAIN, TEST, DRAWS, EPOCHS, RINGS = 1_000, 2_000, 3, 30, 4
KINDS = {
    "plain scattering": "plain",
    "roto-translation scattering, one mean": "one",
    f"roto-translation scattering, {RINGS} rings": "rings",
}
NETWORKS = ("plain CNN", "C8 group CNN")


def rotated(x: torch.Tensor, seed: int) -> torch.Tensor:
    """Each image turned by a random angle, by bilinear interpolation."""
    angle = 2 * torch.pi * torch.rand(len(x), generator=torch.Generator().manual_seed(seed))
    zero = torch.zeros(len(x))
    matrix = torch.stack([angle.cos(), -angle.sin(), zero, angle.sin(), angle.cos(), zero], 1).reshape(-1, 2, 3)
    grid = nn.functional.affine_grid(matrix, list(x.shape), align_corners=False)
    return nn.functional.grid_sample(x, grid, align_corners=False)


def data(shared: Path, draw: int):
    x, y = mnist(shared, None, "train")
    xt, yt = mnist(shared, TEST, "test")
    rows = torch.from_numpy(np.random.default_rng(draw).permutation(60_000)[:TRAIN])
    return rotated(x[rows], draw), y[rows], rotated(xt, 1000), yt


def kept(x: torch.Tensor, kind: str, name: str) -> np.ndarray:
    """Coefficients of images with a border of zeros; kept on disk, since all draws share the test images."""
    path = KEPT.with_name(f"rotated_mnist_{kind}_{name}.npy")
    if not path.exists():
        padded = nn.functional.pad(x[:, 0], (2, 2, 2, 2))
        rings = kind == "rings"
        rows = (
            roto_translation_scattering(padded, J=3, L=8, rings=RINGS) if rings else Scattering2d(3, (32, 32))(padded)
        )
        np.save(path, rows.flatten(1).numpy())
    return np.load(path)


def coefficients(x: torch.Tensor, kind: str, name: str) -> np.ndarray:
    """Logarithms of the coefficients."""
    blocks = [kept(b, "plain" if kind == "plain" else "rings", f"{name}_{k}") for k, b in enumerate(x.split(250))]
    rows = np.abs(np.concatenate(blocks))
    if kind == "one":  # the mean over the image is that of the rings, weighted by their places
        place = np.arange(32) - 15.5
        ring = np.minimum(np.sqrt(place[:, None] ** 2 + place**2) / 16 * RINGS, RINGS - 1).astype(int)
        rows = rows.reshape(len(rows), -1, RINGS) @ (np.bincount(ring.ravel()) / ring.size)
    return np.log(rows + 1e-3 * rows.mean(0))


def fitted(x: np.ndarray, y: np.ndarray) -> GridSearchCV:
    """A support vector machine, its width chosen by cross-validation on the training images."""
    spread = 1 / x.shape[1]  # of standardized features
    widths = {"svc__gamma": [0.03 * spread, 0.1 * spread, 0.3 * spread, spread]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC(C=10.0)), widths, cv=3).fit(x, y)


def plain_cnn(width: int = 22) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 5, padding=2, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.AvgPool2d(2),
        nn.Conv2d(width, width, 5, padding=2, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.AvgPool2d(2),
        nn.Conv2d(width, width, 5, padding=2, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10),
    )  # fmt: skip


def group_cnn(width: int = 8) -> nn.Module:
    options = {"group": cyclic(8), "padding": 2, "bias": False}
    return nn.Sequential(
        GroupConv2d(1, width, 5, lifting=True, **options), GroupBatchNorm2d(width, group=cyclic(8)), nn.ReLU(),
        nn.AvgPool2d(2),
        GroupConv2d(width, width, 5, **options), GroupBatchNorm2d(width, group=cyclic(8)), nn.ReLU(),
        nn.AvgPool2d(2),
        GroupConv2d(width, width, 5, **options), GroupBatchNorm2d(width, group=cyclic(8)), nn.ReLU(),
        GroupPool(group=cyclic(8)), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10),
    )  # fmt: skip


def trained_error(net: nn.Module, x, y, xt, yt, seed: int) -> float:
    torch.manual_seed(seed)
    steps = EPOCHS * -(-len(x) // 50)
    optimizer = torch.optim.Adam(net.parameters(), 5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=steps)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[part]), y[part]).backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with torch.no_grad():
        return float((torch.cat([net(b).argmax(1) for b in xt.split(500)]) != yt).double().mean())


def measured(name: str, shared: Path, draw: int) -> dict:
    x, y, xt, yt = data(shared, draw)
    start = time.process_time()
    if name in KINDS:
        rows, test = (coefficients(z, KINDS[name], part) for z, part in ((x, str(draw)), (xt, "test")))
        error, numbers = float((fitted(rows, y.numpy()).predict(test) != yt.numpy()).mean()), 0
    else:
        torch.manual_seed(draw)
        net = group_cnn() if name[0] == "C" else plain_cnn()
        numbers = sum(p.numel() for p in net.parameters())
        error = trained_error(net, x, y, xt, yt, draw)
    return {"name": name, "draw": draw, "error": error, "parameters": numbers, "seconds": time.process_time() - start}


def main(shared: Path, until: float, only: str) -> None:
    KEPT.parent.mkdir(exist_ok=True)
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    found = {(r["name"], r["draw"]): r for r in map(json.loads, lines)}
    names = (*KINDS, *NETWORKS)
    for name in names:
        for draw in range(DRAWS):
            if (name, draw) in found or only not in name:
                continue
            if time.time() > until:
                break
            found[name, draw] = measured(name, shared, draw)
            print(found[name, draw], flush=True)
            with KEPT.open("a") as file:
                file.write(json.dumps(found[name, draw]) + "\n")
    rows = []
    for name in names:
        some = [found[name, d] for d in range(DRAWS) if (name, d) in found]
        if not some:
            continue
        errors = [100 * r["error"] for r in some]
        count = f"{some[0]['parameters']:,}" if some[0]["parameters"] else "-"
        spread = f"{np.mean(errors):.2f} % ({min(errors):.2f} to {max(errors):.2f})"
        rows.append([name, spread, count, f"{np.mean([r['seconds'] for r in some]):.0f} s"])
    note = (
        f"Mean test error (smallest to largest of up to {DRAWS} draws) on {TEST:,} turned images; seconds of processor time, without\n"
        "those of coefficients that an earlier row or run had kept. "
        "Scattering: J = 3, L = 8, and a support vector machine on standardized logarithms of the coefficients, its width\n"
        "chosen by cross-validation; means over the whole image, or over rings around its center. Networks: three\n"
        f"convolutions of 5 x 5, {EPOCHS} epochs of Adam, the same recipe for both; the group's kernels turn by interpolation."
    )
    record("scattering", "Rotated MNIST, 1,000 images", ["features", "test error", "parameters", "time"], rows, note)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    options.add_argument("--seconds", type=float, default=1e9)
    options.add_argument("--only", default="", help="a part of a name: run no others")
    given = options.parse_args()
    if not (given.shared / "data" / "mnist.npz").exists():
        raise SystemExit(f"skipped: {given.shared / 'data' / 'mnist.npz'} does not exist; name the folder by --shared")
    torch.set_num_threads(1)
    main(given.shared, time.time() + given.seconds, given.only)
