"""Learning curves that were predicted from one kernel matrix, beside errors of refits on test rows.

Five tables of UCI and MNIST, classes as one-hot rows, mean squared error: kernel regression with a fixed ridge. The kernel
matrix has at most 1,500 rows (MNIST 3,000), and the error at 10,000 rows of MNIST is predicted from it. Test rows are drawn
at random from the same rows, as the theory has it; for MNIST the official test rows stand beside them. The data lie beside the
project: `--shared FOLDER`, or the variable GNOMON_SHARED, or ../shared by default, holds data/uci90.npz and data/mnist.npz.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from measure import record

import gnomon
from gnomon.bounds import learning_curve
from gnomon.checks import data_shift
from gnomon.training import Adam, Squared

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
RIDGE = 0.1
TABLES = ("abalone", "waveform", "waveform-noise", "wine-quality-red", "wine-quality-white")


def laplace(a, b):
    """exp(-|x - z| / typical distance), for standardized rows."""
    return torch.exp(-torch.cdist(a, b) / a.shape[1] ** 0.5)


def arccosine(a, b):
    """The kernel of a wide ReLU network on rows of length one."""
    cosine = (torch.nn.functional.normalize(a) @ torch.nn.functional.normalize(b).T).clamp(-1, 1)
    return (torch.sqrt(1 - cosine**2) + (np.pi - cosine.arccos()) * cosine) / np.pi


def measured(kernel, x, y, tests, size, draws, generator):
    """Mean errors on each set of test rows, over fits to random rows."""
    errors = []
    for _ in range(draws):
        rows = torch.randperm(len(x), generator=generator)[:size]
        k = kernel(x[rows], x[rows])
        k.diagonal().add_(RIDGE)
        center = y[rows].mean(0)
        weights = torch.cholesky_solve(y[rows] - center, torch.linalg.cholesky(k))
        made = [kernel(z, x[rows]) @ weights + center - t for z, t in tests.values()]
        errors.append([float(left.square().sum(1).mean()) for left in made])
    return np.mean(errors, axis=0)


def compare(kernel, x, y, tests, pool, sizes, rows):
    """A row of the table for each size; sizes may be beyond the pool."""
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(x), generator=generator)
    x, y = x[order], y[order]
    curve = learning_curve(kernel(x[:pool], x[:pool]), y[:pool], sizes=sizes, ridge=RIDGE)
    for size, predicted in zip(curve.sizes, curve.predicted, strict=True):
        found = measured(kernel, x, y, tests, size, 5 if size <= 1000 else 1, generator)
        for name, seen in zip(tests, found, strict=True):
            rows.append([name, str(size), f"{predicted:.4f}", f"{seen:.4f}", f"{100 * (predicted / seen - 1):+.1f} %"])
            print(rows[-1], flush=True)


def network_row(rows):
    """A trained network on digits beside the curve of its limit's kernel."""
    split = gnomon.data.digits(1400, 397)
    x, z = split.x.flatten(1).double(), split.x_test.flatten(1).double()
    y, t = (torch.nn.functional.one_hot(v, 10).double() for v in (split.y, split.y_test))
    curve = learning_curve(arccosine(x, x), y, sizes=[100, 200, 400, 800], ridge=RIDGE)
    for size, told in zip(curve.sizes, curve.predicted, strict=True):
        net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).double()
        run = gnomon.train(net, (x[:size], y[:size]), loss=Squared(), optimizer=Adam(3e-3), steps=300, record=300)
        with torch.no_grad():
            seen = float((run.model(z) - t).square().sum(1).mean())
        rows.append(
            ["digits, trained network", str(size), f"{told:.4f}", f"{seen:.4f}", f"{100 * (told / seen - 1):+.1f} %"]
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    options.add_argument("--pool", type=int, default=3000, help="rows of MNIST in the kernel matrix")
    options.add_argument("--most", type=int, default=10_000, help="rows of MNIST that are fitted")
    given = options.parse_args()
    if not (given.shared / "data" / "mnist.npz").exists():
        print(f"skipped: {given.shared / 'data'} does not exist; name the folder by --shared")
        return
    rows: list[list[str]] = []
    with np.load(given.shared / "data" / "uci90.npz") as file:
        for name in TABLES:
            x, y = (torch.from_numpy(np.asarray(file[f"{name}/{part}"])) for part in ("x", "y"))
            x = x.double()
            x = (x - x.mean(0)) / x.std(0).clamp_min(1e-9)
            y = torch.nn.functional.one_hot(y.long()).double()
            order = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))
            pool = min(1500, 2 * len(x) // 3)
            a, b = order[:pool], order[pool:]
            compare(laplace, x[a], y[a], {name: (x[b], y[b])}, pool, [100, 200, 400, 800, pool], rows)
    network_row(rows)
    with np.load(given.shared / "data" / "mnist.npz") as file:
        x, z = (torch.from_numpy(file[k].reshape(-1, 784).astype(np.float64) / 255) for k in ("x_train", "x_test"))
        y, t = (
            torch.nn.functional.one_hot(torch.from_numpy(file[k].astype(np.int64))).double()
            for k in ("y_train", "y_test")
        )
    sizes = [s for s in (100, 300, 1000, 3000, 10_000) if s <= given.most]
    order = torch.randperm(60_000, generator=torch.Generator().manual_seed(2))
    kept, apart = order[:20_000], order[20_000:24_000]
    tests = {
        "MNIST": (x[apart], y[apart]),
        "MNIST, official test rows": (z, t),
        "MNIST, first 2,000 test rows": (z[:2000], t[:2000]),
    }
    compare(arccosine, x[kept], y[kept], tests, given.pool, sizes, rows)
    train = x.reshape(-1, 28, 28).float(), y.argmax(1)
    alike = [data_shift(train, (z[:k].reshape(-1, 28, 28).float(), t[:k].argmax(1))) for k in (2000, 10_000)]
    told = [f"{found.auc:.0%} of pairs (p = {found.p_value:.1g})" for found in alike]
    far = [abs(float(row[-1].split()[0])) for row in rows if not row[0].endswith(("network", "test rows"))]
    note = (
        f"Kernel regression with ridge {RIDGE}; errors are sums over one-hot outputs on test rows, means over 5 draws up to 1,000 rows.\n"
        f"{sum(f <= 15 for f in far)} of {len(far)} predictions of kernel regression are within 15 %; the largest deviation is {max(far):.1f} %.\n"
        "These have test rows drawn at random from the same rows as the training rows. The official test rows of MNIST come from other writers,\n"
        f"which violates the assumption; `data_shift` distinguishes the first 2,000 of them from training rows in {told[0]}, all of them in {told[1]}.\n"
        "Beyond the 3,000 rows of the kernel matrix the prediction is corrected by how well subsets of these rows predict all of them.\n"
        "The trained network is compared with the curve of a kernel that is not its own."
    )
    record(
        "learning-curves",
        "Predicted and measured errors",
        ["data", "rows", "predicted", "measured", "error"],
        rows,
        note,
    )


if __name__ == "__main__":
    main()
