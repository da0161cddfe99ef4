"""Kernels, an estimator and claims of the atlas on Dask: one single-thread worker compared with two, and a killed worker.

    PYTHONPATH=. python benchmarks/bench_dask.py [--rows 20000]

The workers are processes of this machine. Starting a cluster, sending gnomon's imports to it and loading compiled loops
are not timed: a small problem runs first. "Killed" solves the same system while one of two workers dies; its answer must
be the same to the last bit.
"""

import argparse
import os
import signal
import threading
import time

import numpy as np
import torch
from measure import record
from torch import nn

import gnomon
from gnomon.atlas.many import ClaimTask, run_claims
from gnomon.estimators import NTKRegressor
from gnomon.linalg.solve import DistributedSolver, IndexedKernel, NystromSolver

FEATURES, SUPPORT, ROWS_PER_PIECE = 20, 1500, 1000
CLAIMS, SEEDS = ("perceptron-novikoff", "ntk-constancy"), 8
WANTED = 1.8


def problem(n):
    draw = np.random.default_rng(0)
    x = draw.standard_normal((n, FEATURES))
    return x, np.sin(x[:, :1]) + 0.1 * draw.standard_normal((n, 1))


def network():
    torch.manual_seed(0)
    layers = [nn.Linear(FEATURES, 64), nn.ReLU()]
    for _ in range(9):
        layers += [nn.Linear(64, 64), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(64, 1))


def solve(client, x, y):
    """The coefficients of a Nystrom solution; workers compute the rows of the kernel and their products."""
    kernel = IndexedKernel(gnomon.Limit(network(), compiled=True).ntk, torch.tensor(x))
    solver = DistributedSolver(client, NystromSolver(min(SUPPORT, len(x) // 2)), rows=ROWS_PER_PIECE)
    return np.asarray(solver.solve(kernel, y, ridge=1e-3 * len(x)).coefficients)


def fit(client, x, y):
    """Predictions of an estimator that solves on the cluster."""
    solver = DistributedSolver(client, NystromSolver(min(SUPPORT, len(x) // 2)), rows=ROWS_PER_PIECE)
    model = NTKRegressor(network(), solver=solver, ridge=1e-3)
    return model.fit(x, y[:, 0]).predict(x[:50])


def claims(client, x, y):
    tasks = [ClaimTask(name, seed=seed) for name in CLAIMS for seed in range(SEEDS if len(x) > 2000 else 1)]
    rows = run_claims(tasks, scheduler=client.scheduler.address)
    return sorted((row["id"], row["seed"], row["verdict"]) for row in rows)


PARTS = {"kernel and Nystrom": solve, "estimator": fit, "claims of the atlas": claims}


def on_workers(count, run, x, y, kill_after=None):
    """The seconds and the result of a function with this number of workers."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        run(client, x[:1000], y[:1000])
        client.run(lambda: torch.set_num_threads(1))
        if kill_after is not None:
            pid = next(iter(client.run(os.getpid).values()))
            threading.Timer(kill_after, os.kill, (pid, signal.SIGKILL)).start()
        start = time.perf_counter()
        found = run(client, x, y)
        return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--part", nargs="*", default=list(PARTS))
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    (x, y), rows = problem(chosen.rows), []
    for name in chosen.part:
        one, first = on_workers(1, PARTS[name], x, y)
        two, second = on_workers(2, PARTS[name], x, y)
        _, killed = on_workers(2, PARTS[name], x, y, kill_after=two / 3)
        same = "yes" if np.array_equal(first, second) and np.array_equal(first, killed) else "no"
        rows.append([name, f"{one:.1f} s", f"{two:.1f} s", f"{one / two:.2f}x", f"{WANTED}x", same])
        print(" | ".join(rows[-1]), flush=True)
    columns = ["what", "one worker", "two workers", "speed-up", "wanted", "same answer, also if a worker is killed"]
    note = f"{chosen.rows} rows, {FEATURES} features, 10 hidden layers, {SUPPORT} points of support; single threads."
    record("solvers", "Two workers on Dask", columns, rows, note)


if __name__ == "__main__":
    main()
