"""The peak of a process against the memory that a solver was given; each case runs in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell the peak")

PROGRAM = """
import sys, torch
from gnomon.linalg.solve import *

def bytes_of(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])

def kernel_of(x):
    return lambda rows, columns: torch.cdist(x[rows], x[columns]).square_().mul_(-0.1).exp_()

solver, form, n, size, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
x = torch.randn(n, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
y, kernel = torch.sin(x[:, :3]), kernel_of(x)
if form == "array":
    every = torch.arange(n)
    kernel = kernel(every, every).numpy()
memory, path = 2**30, folder + "/small"
eval(solver).solve(kernel_of(x[:300]), y[:300], ridge=1.0)  # imports, and the workspaces of libraries
memory, path = size, folder + "/large"
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = bytes_of("VmRSS")
eval(solver).solve(kernel, y, ridge=1.0)
print(bytes_of("VmHWM") - before)
"""


@pytest.mark.parametrize(
    "solver, form, n, size",
    [
        ("DirectSolver(memory=memory)", "array", 2850, 63 * 2**20),  # the kernel itself takes 62 MiB
        pytest.param("DirectSolver(memory=memory)", "function", 2850, 63 * 2**20, marks=pytest.mark.full),
        pytest.param("ConjugateGradient(memory=memory)", "function", 2850, 63 * 2**20, marks=pytest.mark.full),
        pytest.param(
            "ConjugateGradient(preconditioner=LandmarkPreconditioner(), memory=memory)",
            "function",
            3000,
            2**23,
            marks=pytest.mark.full,
        ),
        pytest.param("KernelTiles(path, memory=memory)", "function", 3000, 3 * 2**23, marks=pytest.mark.full),
        pytest.param(
            "KernelTiles(path, dtype=torch.float32, memory=memory)", "function", 4000, 5 * 2**23, marks=pytest.mark.full
        ),
    ],
)
@pytest.mark.full
def test_the_process_grows_by_the_memory_that_was_given(tmp_path, solver, form, n, size):
    if "KernelTiles" in solver:
        pytest.importorskip("zarr")
    environment = {**os.environ, "PYTHONPATH": str(Path(gnomon.__file__).parents[1])}
    command = [sys.executable, "-c", PROGRAM, solver, form, str(n), str(size), str(tmp_path)]
    peak = int(subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True).stdout)
    assert peak <= 1.15 * size + 2**25  # what base.py promises
