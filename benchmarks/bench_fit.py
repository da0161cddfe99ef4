"""How `fit` grows with the rows, and what it adds to the two things that must happen: the kernel and its factor."""

import numpy as np
import torch
from measure import ours, record
from scipy.linalg import lapack

from gnomon.estimators import NTKRegressor
from gnomon.linalg.solve import DirectSolver, NystromSolver

SIZES = (1250, 2500, 5000, 10_000)
FEATURES, CENTERS, WANTED = 20, 500, 1.3


def table(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, FEATURES))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def model(solver):
    return NTKRegressor(depth=3, ridge=1e-3, solver=solver)


def factor(gram):
    """LAPACK's factorization in place, as the direct solver calls it."""
    buffer = gram.numpy()
    np.fill_diagonal(buffer, buffer.diagonal() + 1.0)
    _, info = lapack.dpotrf(buffer.T, lower=1, clean=0, overwrite_a=1)
    assert info == 0


def measured(n, times):
    """Smallest seconds of the kernel, the factor, a direct fit and a fit on centers, in turn; other work shifts all."""
    X, y = table(n)
    kernel = model(DirectSolver()).fit(X[:100], y[:100]).kernel_
    points = torch.from_numpy(X)
    best = [float("inf")] * 4
    for _ in range(times):
        made = {}
        runs = (
            ours(lambda: made.setdefault("gram", kernel(points))),
            ours(lambda: factor(made.pop("gram"))),
            ours(lambda: model(DirectSolver()).fit(X, y)),
            ours(lambda: model(NystromSolver(CENTERS)).fit(X, y)),
        )
        best = [min(pair) for pair in zip(best, runs, strict=True)]
    return best


def main() -> None:
    rows, times = [], []
    for n in SIZES:
        kernel, cholesky, direct, nystrom = measured(n, 5 if n < 5000 else 3)
        times.append((direct, nystrom))
        ratio = f"{direct / (kernel + cholesky):.2f}"
        rows.append([str(n), *(f"{s:.3f} s" for s in (kernel, cholesky, direct)), ratio, f"{nystrom:.3f} s"])
        print(rows[-1], flush=True)
    slopes = np.polyfit(np.log(SIZES), np.log(np.array(times)), 1)[0]
    columns = ["rows", "kernel", "Cholesky", "fit, Direct", "over kernel + Cholesky", f"fit, NystromSolver({CENTERS})"]
    note = (
        f"NTKRegressor(depth=3, ridge=1e-3), {FEATURES} features. Target at 10,000 rows: a direct fit takes at most {WANTED} times\n"
        f"the kernel and its factorization by LAPACK. Slopes in logarithms: Direct {slopes[0]:.2f} (3 for large problems),\n"
        f"Nystrom {slopes[1]:.2f} (1 in theory; small problems have fixed costs)."
    )
    record("estimators", "Growth of `fit` with the number of rows", columns, rows, note)


if __name__ == "__main__":
    main()
