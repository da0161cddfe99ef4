"""Tiles: the answer of a dense solve from a kernel on disk, computed once, continued after a kill, refused for others."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import gnomon
from gnomon.core import BudgetError, InputError, MissingExtraError, NotConvergedError, NotFiniteError
from gnomon.linalg.solve import ConjugateGradient, KernelTiles, LandmarkPreconditioner
from tests.linalg.solve.points import Counted

zarr = pytest.importorskip("zarr")

PROGRAM = """
import sys, torch
from gnomon.linalg.solve import Tiles
x = torch.linspace(0, 3, 24, dtype=torch.float64)
def kernel(rows, columns):
    if len(rows) == len(columns) == 4:
        print("tile", flush=True)
        sys.stdin.readline()  # a tile is finished when it is allowed to be; at the end of the input, at once
    return torch.exp(-(x[rows, None] - x[columns]).square())
found = KernelTiles(sys.argv[1], side=4).solve(kernel, x.sin(), ridge=0.1)
print(found.coefficients.tolist())
"""


def off_diagonal(kernel, side):
    return [shape for shape in kernel.asked if shape == (side, side)]


@pytest.mark.parametrize("form", ["matrix", "function"])
@pytest.mark.parametrize("side", [7, 16, 200])
def test_the_coefficients_are_those_of_a_dense_solve(tmp_path, form, side):
    kernel = Counted(n=64)
    y, A = kernel.targets(), kernel.matrix + 0.1 * np.eye(64)
    solver = KernelTiles(tmp_path / "k", ConjugateGradient(tolerance=1e-12), side=side)
    found = solver.solve(kernel.matrix if form == "matrix" else kernel, y, ridge=0.1)
    # |c - exact| <= |residual| / smallest eigenvalue of A
    assert_allclose(found.coefficients, np.linalg.solve(A, y), atol=1e-12 * np.linalg.norm(y) / 0.1)
    assert found.residual <= 1e-12 and "Tiles on disk" in found.verdict


def test_the_kernel_is_computed_once_and_only_below_the_diagonal(tmp_path):
    kernel = Counted(n=64)
    method = ConjugateGradient(preconditioner=LandmarkPreconditioner(5))
    first = KernelTiles(tmp_path / "k", method, side=16).solve(kernel, kernel.targets(), ridge=0.1)
    assert len(off_diagonal(kernel, 16)) == 10  # 4 tiles on the diagonal and 6 below it
    kernel.asked.clear()
    again = KernelTiles(tmp_path / "k", method).solve(kernel, kernel.targets(), ridge=0.1)
    assert not off_diagonal(kernel, 16) and torch.equal(first.coefficients, again.coefficients)
    other = KernelTiles(tmp_path / "k", method).solve(
        kernel, np.ones(64), ridge=2.0
    )  # other targets, other ridge, same store
    assert not off_diagonal(kernel, 16)
    assert_allclose((kernel.matrix + 2 * np.eye(64)) @ other.coefficients.numpy(), 1.0, atol=1e-6)
    assert sum(r * c for r, c in kernel.asked) < 2 * 64 * (64 + 8 + 5 + 5)


def test_float32_on_disk_is_the_rounded_kernel(tmp_path):
    kernel = Counted(n=40)
    method, y = ConjugateGradient(tolerance=1e-12), kernel.targets()
    found = KernelTiles(tmp_path / "k", method, side=16, dtype=torch.float32).solve(kernel, y, ridge=0.1)
    rounded = kernel.matrix.astype(np.float32).astype(float) + 0.1 * np.eye(40)
    assert_allclose(found.coefficients, np.linalg.solve(rounded, y), atol=1e-12 * np.linalg.norm(y) / 0.1)
    assert zarr.open_group(tmp_path / "k", mode="r")["kernel"].dtype == np.float32


@pytest.mark.full  # as for kernels on disk, tests/kernels/test_store.py
def test_a_killed_run_is_continued(tmp_path):
    path, script = tmp_path / "k", tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(gnomon.__file__).parents[1])}
    command = [sys.executable, str(script), str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        for _ in range(5):
            assert process.stdout.readline() == "tile\n"
            print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "tile\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert int(zarr.open_group(path, mode="r")["finished"][:].sum()) == 5  # only the tile in flight is lost
    again = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=True
    )
    *tiles, answer = again.stdout.splitlines()
    assert len(tiles) == 21 - 5
    x = np.linspace(0, 3, 24)
    A = np.exp(-((x[:, None] - x) ** 2)) + 0.1 * np.eye(24)
    assert_allclose(eval(answer), np.linalg.solve(A, np.sin(x)), atol=1e-8 * np.linalg.norm(np.sin(x)) / 0.1)


@pytest.mark.parametrize("change", ["one point", "kernel", "number", "dtype"])
def test_a_store_of_another_kernel_is_refused(tmp_path, change):
    kernel = Counted(n=40)
    KernelTiles(tmp_path / "k", side=16).solve(kernel, kernel.targets(), ridge=0.1)
    other = Counted(n=41 if change == "number" else 40, width=1.001 if change == "kernel" else 1.0)
    if change == "one point":
        other.x[17, 1] += 1e-6  # none of the probes is this point
    dtype = torch.float32 if change == "dtype" else torch.float64
    with pytest.raises(InputError, match="the store of the same computation"):
        KernelTiles(tmp_path / "k", dtype=dtype).solve(other, other.targets(), ridge=0.1)
    again = KernelTiles(tmp_path / "k").solve(kernel, kernel.targets(), ridge=0.1)  # the right one is still welcome
    assert again.residual <= 1e-8


def test_memory_bounds_the_tiles(tmp_path):
    kernel = Counted(n=40)
    memory = 5 * 8 * 10**2 + 10 * 8 * 40 * 2  # five tiles of side 10 and ten tables like y
    KernelTiles(tmp_path / "k", memory=memory).solve(kernel, kernel.targets(), ridge=0.1)
    assert int(zarr.open_group(tmp_path / "k", mode="r").attrs["tile"]) == 10
    with pytest.raises(BudgetError, match="Pass side=10 or less"):
        KernelTiles(tmp_path / "other", side=11, memory=memory).solve(kernel, kernel.targets(), ridge=0.1)


def test_bad_input_is_a_lesson(tmp_path, monkeypatch):
    kernel = Counted(n=40)
    with pytest.raises(InputError, match="side must be a whole number of at least 1, but it is 0"):
        KernelTiles(tmp_path / "k", side=0)
    with pytest.raises(InputError, match="dtype must be .* but it is torch.int64"):
        KernelTiles(tmp_path / "k", dtype=torch.int64)
    with pytest.raises(NotFiniteError, match="kernel of point 0"):
        KernelTiles(tmp_path / "k").solve(lambda r, c: torch.full((len(r), len(c)), np.nan), np.ones(4))
    with pytest.raises(NotConvergedError, match="after 1 iterations"):
        KernelTiles(tmp_path / "k", ConjugateGradient(limit=1)).solve(kernel, kernel.targets(), ridge=1e-9)
    with pytest.raises(InputError, match="not a kernel store"):
        KernelTiles(tmp_path).solve(kernel, kernel.targets())
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingExtraError, match=r"gnomon\[zarr\]"):
        KernelTiles(tmp_path / "k").solve(kernel, kernel.targets())
