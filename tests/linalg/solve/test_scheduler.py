"""A scheduler that is killed in the middle of the work: an error in words."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

import gnomon
from gnomon.core import WorkersLostError
from gnomon.linalg.solve import (
    ConjugateGradient,
    DistributedSolver,
    NystromSolver,
    PivotedCholeskyPreconditioner,
    cluster,
)

distributed = pytest.importorskip("dask.distributed")

PATIENCE = 120  # seconds before anything here gives up waiting
CALM = 3  # tiles that workers compute before one of them blocks


@dataclass
class Blocking:
    """Gaussians of points: another process notes every tile that it begins, and never ends the fourth one."""

    x: np.ndarray
    notes: str
    home: int

    def __call__(self, rows, columns):
        if os.getpid() != self.home:
            (Path(self.notes) / f"{int(rows[0])}").touch()
            end = time.monotonic() + PATIENCE
            while len(os.listdir(self.notes)) > CALM and time.monotonic() < end:
                time.sleep(0.05)
        a, b = self.x[rows.numpy()], self.x[columns.numpy()]
        return torch.from_numpy(np.exp(-((a[:, None] - b) ** 2).sum(-1) / 2))


def wait(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


@contextmanager
def started(module, *words):
    root, source = Path(__file__).parents[3], Path(gnomon.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{source}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *words]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


GRADIENT = ConjugateGradient(preconditioner=PivotedCholeskyPreconditioner(5))


@pytest.mark.parametrize("method", [NystromSolver(20), pytest.param(GRADIENT, marks=pytest.mark.full)])
def test_a_killed_scheduler_is_told_with_what_was_lost_and_how_to_go_on(tmp_path, monkeypatch, method):
    monkeypatch.setattr(cluster, "RECONNECT_SECONDS", 0.5)
    contact, notes = tmp_path / "contact.json", tmp_path / "notes"
    notes.mkdir()
    x = np.random.default_rng(0).normal(size=(120, 3))
    kernel = Blocking(x, str(notes), os.getpid())

    def kill():
        wait(lambda: len(os.listdir(notes)) > CALM)
        scheduler.send_signal(signal.SIGKILL)

    with started("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", str(contact)) as scheduler:
        wait(lambda: contact.exists() and contact.read_text().endswith("}"))
        with (
            started("dask_worker", "--scheduler-file", str(contact), "--no-nanny", "--nthreads", "1"),
            distributed.Client(scheduler_file=str(contact), set_as_default=False, timeout=PATIENCE) as client,
        ):
            client.wait_for_workers(1, timeout=PATIENCE)
            killer = threading.Thread(target=kill, daemon=True)
            killer.start()
            with pytest.raises(WorkersLostError, match="the scheduler is gone") as caught:
                DistributedSolver(client, method, rows=10).solve(kernel, x[:, 0], ridge=0.1)
            killer.join()
    assert "nothing is saved on disk" in str(caught.value) and "starts over" in str(caught.value)
    assert scheduler.returncode == -signal.SIGKILL


def test_no_scheduler_at_an_address_is_told():
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(WorkersLostError, match="no scheduler answers at tcp://127.0.0.1:9"),
    ):
        DistributedSolver("tcp://127.0.0.1:9", NystromSolver(2)).solve(lambda r, c: torch.eye(3)[r][:, c], np.ones(3))
