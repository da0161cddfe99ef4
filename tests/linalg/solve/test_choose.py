"""The choice follows size, memory, disk and cluster, says why, and what it chooses works within that memory."""

import math
from collections import namedtuple

import pytest

from gnomon.core import InputError
from gnomon.linalg.solve import (
    ConjugateGradient,
    DirectSolver,
    DistributedSolver,
    KernelTiles,
    NystromSolver,
    choose,
    choose_solver,
)
from tests.linalg.solve.points import Counted


@pytest.mark.parametrize(
    "n, memory, kind, words",
    [
        (50, 2**30, DirectSolver, "Direct for 50 points"),
        (20_000, 4 * 2**30, DirectSolver, "3.0 GiB (limit 4.0 GiB)"),
        (30_000, 8 * 2**30, ConjugateGradient, "more than a minute"),
        (60_000, 8 * 2**30, NystromSolver, "5000 centers for 60000 points"),  # 2 n m^2 = 60 s x 5e10 / s
        (1_000_000, 12 * 2**30, NystromSolver, "does not fit in memory"),
    ],
)
def test_the_choice(n, memory, kind, words):
    found = choose_solver(n, memory=memory)
    assert type(found.solver) is kind and words in str(found)


def test_many_points_get_the_centers_that_theory_asks_for():
    n = 1_000_000
    assert choose_solver(n, memory=64 * 2**30).solver.m == math.ceil(n**0.5 * math.log(n))
    m = choose_solver(n, memory=2**30).solver.m  # no room for as many
    assert 4 * 8 * m**2 <= 2**29 < 4 * 8 * (m + 1) ** 2


def test_a_disk_with_room_is_used_and_a_full_one_is_not(tmp_path, monkeypatch):
    disk = namedtuple("disk", "free")
    for free, kind in ((9 * 1000**2, KernelTiles), (7 * 1000**2, NystromSolver)):  # 4 n^2 bytes in half of it
        monkeypatch.setattr(choose, "disk_usage", lambda folder, free=free: disk(free))
        found = choose_solver(1000, memory=2**20, path=tmp_path / "a" / "kernel")
        assert type(found.solver) is kind
    assert "Nystrom with" in str(found)


def test_a_cluster_is_used_where_one_machine_is_too_small():
    found = choose_solver(100_000, memory=2**30, cluster="tcp://scheduler:8786")
    assert isinstance(found.solver, DistributedSolver) and isinstance(found.solver.method, NystromSolver)
    assert "on a cluster" in str(found)
    assert isinstance(choose_solver(1000, memory=2**30, cluster="tcp://scheduler:8786").solver, DirectSolver)


def test_what_is_chosen_for_a_disk_works(tmp_path):
    kernel = Counted(n=200)
    found = choose_solver(200, memory=100_000, path=tmp_path / "kernel").solver
    assert isinstance(found, KernelTiles) and found.solve(kernel, kernel.targets(), ridge=0.1).residual <= 1e-8
    assert max(8 * r * c for r, c in kernel.asked) <= 100_000


def test_a_small_memory_gets_few_centers_and_they_fit():
    kernel = Counted(n=500)
    found = choose_solver(500, memory=100_000).solver
    assert isinstance(found, NystromSolver) and 8 * 4 * found.m**2 <= 50_000
    assert bool(found.solve(kernel, kernel.targets(), ridge=0.1).coefficients.isfinite().all())
    assert max(8 * r * c for r, c in kernel.asked) <= 100_000


def test_without_a_number_of_bytes_it_asks_the_machine():
    assert isinstance(choose_solver(10).solver, DirectSolver)
    with pytest.raises(InputError, match="n must be a whole number of at least 1, but it is 0"):
        choose_solver(0)
