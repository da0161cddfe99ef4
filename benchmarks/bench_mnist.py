"""MNIST, 60,000 rows: the NTK of an MLP by Nystrom on one machine and on two Dask workers, one of which is killed.

The data is mnist.npz (x_train, y_train, x_test, y_test) in the folder ``data`` of a folder named by --shared, by the
variable GNOMON_SHARED, or beside the checkout.
"""

import argparse
import logging
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import torch
from measure import record

import gnomon
from gnomon.linalg.solve import DistributedSolver, IndexedKernel, NystromSolver
from gnomon.models import mlp

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared"))
RIDGE = 0.1


def images(shared: Path):
    """Centered by the mean of the training images, every image of one length; labels as numbers."""
    with np.load(shared / "data" / "mnist.npz") as file:
        x, xt = (torch.from_numpy(file[k].reshape(-1, 784).astype(np.float32) / 255) for k in ("x_train", "x_test"))
        y, yt = (torch.from_numpy(file[k].astype(np.int64)) for k in ("y_train", "y_test"))
    center = x.mean(0)
    x, xt = (28 * torch.nn.functional.normalize(side - center) for side in (x, xt))
    return x, y, xt, yt


def kill_one(client, seconds: float) -> threading.Thread:
    """A thread that kills the first worker after some seconds."""
    victim = next(iter(client.run(os.getpid).values()))

    def kill():
        time.sleep(seconds)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shared", type=Path, default=SHARED)
    options.add_argument("--rows", type=int, default=60_000)
    options.add_argument("--centers", type=int, default=5000)
    given = options.parse_args()
    if not (given.shared / "data" / "mnist.npz").exists():
        print(f"skipped: {given.shared / 'data' / 'mnist.npz'} does not exist; name the folder by --shared")
        return
    from dask.distributed import Client, LocalCluster

    x, labels, xt, truth = images(given.shared)
    n, m = given.rows, given.centers
    ntk = gnomon.limit(
        mlp(784, depth=1), init=gnomon.InitializationLaw(2**0.5, 0.0), parametrization="ntk", dtype=torch.float32
    ).ntk
    ntk(x[:600], x[:600])  # compiled before the clock starts
    kernel, y = IndexedKernel(ntk, x[:n]), torch.nn.functional.one_hot(labels[:n], 10).double() - 0.1
    method, rows, answers = NystromSolver(m, dtype=torch.float32), [], []

    def run(name: str, solver) -> float:
        start = time.perf_counter()
        found = solver.solve(kernel, y, ridge=RIDGE)
        seconds = time.perf_counter() - start
        answers.append(found.predict(ntk(xt, x[found.support])))
        error = float((answers[-1].argmax(1) != truth).double().mean())
        same = int((answers[-1].argmax(1) == answers[0].argmax(1)).sum())
        gap = float((answers[-1] - answers[0]).abs().max())
        rows.append([name, f"{seconds:.1f} s", f"{100 * error:.2f} %", f"{same} of {len(truth)}", f"{gap:.1e}"])
        print(rows[-1], flush=True)
        return seconds

    run("one machine, Nystrom", method)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        client.run(lambda: __import__("gnomon").limit)  # imported before the clock starts
        calm = run("two workers", DistributedSolver(client, method))
        before = set(client.run(os.getpid).values())
        thread = kill_one(client, 0.5 * calm)
        run("two workers, one killed midway", DistributedSolver(client, method))
        thread.join()
        client.wait_for_workers(2)
        assert set(client.run(os.getpid).values()) != before, "nobody was killed"
    identical = torch.equal(answers[1], answers[2])
    note = (
        f"NTK of an MLP of depth 1, {m} centers in float32 tiles, ridge {RIDGE}, one-hot targets. Same: test images with the same label\n"
        f"as in the first row. Gap: the largest difference of an output from the first row. Outputs with and without a killed worker are "
        f"{'equal to the last bit' if identical else 'NOT equal'}.\n"
        "A worker has one thread, the single machine has two."
    )
    if (n, m) == (60_000, 5000):
        record("solvers", "MNIST, 60,000 rows", ["solver", "fit", "test error", "same", "gap"], rows, note)
    else:
        print(note)


if __name__ == "__main__":
    main()
