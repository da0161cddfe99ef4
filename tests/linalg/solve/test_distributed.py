"""Distributed: the answers of one machine, to the last bit whoever dies, and nothing left running."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import gnomon
from gnomon.core import InputError, MissingExtraError, NotFiniteError, WorkersLostError
from gnomon.linalg.solve import (
    ConjugateGradient,
    DirectSolver,
    DistributedSolver,
    IndexedKernel,
    NystromSolver,
    PivotedCholeskyPreconditioner,
)

distributed = pytest.importorskip("dask.distributed")
dask, psutil = pytest.importorskip("dask"), pytest.importorskip("psutil")

RIDGE = 0.1
METHODS = {
    "nystrom": NystromSolver(20),
    "gradient": ConjugateGradient(tolerance=1e-12, preconditioner=PivotedCholeskyPreconditioner(60)),
}


@dataclass
class Slow:
    """Gaussians of points, which leave a note of every tile that another process began.

    From tile number ``last`` on, tiles are not finished before somebody puts a file "go" beside the notes.
    """

    x: np.ndarray
    notes: str
    home: int
    last: int = 10**9
    deadly: bool = False

    def __call__(self, rows, columns):
        if os.getpid() != self.home:
            if self.deadly:
                os._exit(1)
            (Path(self.notes) / f"{time.monotonic_ns()}-{int(rows[0])}-{os.getpid()}").touch()
            while len(self.tiles) >= self.last and not (Path(self.notes) / "go").exists():
                time.sleep(0.005)
        a, b = self.x[rows.numpy()], self.x[columns.numpy()]
        return torch.from_numpy(np.exp(-((a[:, None] - b) ** 2).sum(-1) / 2))

    @property
    def tiles(self):
        return sorted(set(os.listdir(self.notes)) - {"go"})


def problem(folder, **options):
    x = np.random.default_rng(0).normal(size=(120, 3))
    return Slow(x, str(folder), os.getpid(), **options), np.stack([np.sin(x[:, 0]), x[:, 1]], 1)


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options, silence_logs=50) as cluster,  # deaths are expected, and loud
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


@pytest.fixture
def client(cluster):
    cluster.wait_for_workers(2)  # those that an earlier test killed come back
    return cluster


def children():
    return {child.pid for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())}


def killer(client, kernel, *, victims=1):
    """A thread that kills workers in the middle of the last tile; returns it, started, and a list of the dead."""
    pids, dead = list(client.run(os.getpid).values()), []

    def watch():
        while len(kernel.tiles) < kernel.last:
            time.sleep(0.005)
        holder = int(kernel.tiles[-1].rpartition("-")[2])
        for pid in sorted(pids, key=lambda pid: pid != holder)[:victims]:
            os.kill(pid, signal.SIGKILL)
            dead.append(pid)
        (Path(kernel.notes) / "go").touch()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread, dead


@pytest.mark.parametrize(
    "name", ["nystrom", *(pytest.param(m, marks=pytest.mark.full) for m in METHODS if m != "nystrom")]
)
@pytest.mark.full
def test_the_answer_is_that_of_one_machine_to_the_last_bit_after_a_death(client, tmp_path, name):
    kernel, y = problem(tmp_path)
    method = METHODS[name]
    calm = DistributedSolver(client, method, rows=10).solve(kernel, y, ridge=RIDGE)
    assert len(kernel.tiles) == 12  # every strip once, all of them on workers
    alone = method.solve(kernel, y, ridge=RIDGE)
    # a sum of n terms in another order differs by n eps of its size, and the system amplifies it by |A| / ridge < n / r
    rounding = np.finfo(float).eps * 120 * (120 / RIDGE) * float(alone.coefficients.norm())
    tolerance = rounding if name == "nystrom" else 2e-12 * np.linalg.norm(y) / RIDGE
    assert_allclose(calm.coefficients, alone.coefficients, rtol=0, atol=tolerance)
    assert torch.equal(calm.support, alone.support) and "on 2 workers" in calm.verdict
    kernel.last = 12 + 5
    thread, dead = killer(client, kernel)
    after = DistributedSolver(client, method, rows=10).solve(kernel, y, ridge=RIDGE)
    thread.join()
    assert dead and torch.equal(after.coefficients, calm.coefficients)
    assert len(kernel.tiles) > 24  # something was lost, and computed again


@pytest.mark.full
def test_when_all_workers_die_the_data_is_sent_again(client, tmp_path):
    kernel, y = problem(tmp_path, last=3)
    thread, dead = killer(client, kernel, victims=2)
    found = DistributedSolver(client, METHODS["nystrom"], rows=10).solve(kernel, y, ridge=RIDGE)
    thread.join()
    assert len(dead) == 2
    calm = DistributedSolver(client, METHODS["nystrom"], rows=10).solve(kernel, y, ridge=RIDGE)
    assert torch.equal(found.coefficients, calm.coefficients)


@pytest.mark.full
def test_an_address_does_and_the_kernel_of_a_limit_travels(client):
    x = torch.randn(40, 3, dtype=torch.float64)
    kernel = IndexedKernel(gnomon.limit(gnomon.models.mlp(3, width=8, depth=1)).ntk, x)
    method = ConjugateGradient(tolerance=1e-11)
    found = DistributedSolver(client.scheduler.address, method).solve(kernel, x[:, 0], ridge=RIDGE)
    exact = DirectSolver().solve(kernel, x[:, 0], ridge=RIDGE)
    assert_allclose(found.coefficients, exact.coefficients, atol=1e-11 * float(x[:, 0].norm()) / RIDGE)
    assert client.status == "running"  # only what was opened is closed


def test_an_error_in_the_kernel_comes_home(client, tmp_path):
    kernel, y = problem(tmp_path)
    bad = np.array(kernel.x)
    bad[77] = np.nan
    with pytest.raises(NotFiniteError, match="kernel of point 77"):
        centers = NystromSolver(2, centers=(0, 1))
        DistributedSolver(client, centers, rows=10).solve(Slow(bad, str(tmp_path), os.getpid()), y, ridge=RIDGE)


@pytest.mark.full
def test_processes_of_its_own_are_gone_afterwards_and_a_deadly_piece_is_an_error(tmp_path):
    before = children()
    kernel, y = problem(tmp_path)
    found = DistributedSolver(2, METHODS["nystrom"], rows=50).solve(kernel, y, ridge=RIDGE)
    assert_allclose(found.coefficients, METHODS["nystrom"].solve(kernel, y, ridge=RIDGE).coefficients, rtol=1e-6)
    kernel.deadly = True
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(WorkersLostError, match="every worker died"),
    ):
        DistributedSolver(1, METHODS["nystrom"]).solve(kernel, y, ridge=RIDGE)
    assert children() <= before


def test_bad_input_is_a_lesson(monkeypatch):
    with pytest.raises(InputError, match="rows must be a whole number of at least 1, but it is 0"):
        DistributedSolver(2, rows=0)
    with pytest.raises(InputError, match=r"the kernel is a matrix of shape \(3, 3\)"):
        DistributedSolver(2).solve(np.eye(3), np.ones(3))
    with pytest.raises(InputError, match="cluster must be .* but it is 0"):
        DistributedSolver(0).solve(lambda r, c: torch.ones(len(r), len(c)), np.ones(3))
    monkeypatch.setitem(__import__("sys").modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r"gnomon\[dask\]"):
        DistributedSolver(2).solve(lambda r, c: torch.ones(len(r), len(c)), np.ones(3))
