"""Chooses the most exact kernel solver that time and memory allow, and gives the reason."""

from dataclasses import dataclass
from math import ceil, isqrt, log, sqrt
from pathlib import Path
from shutil import disk_usage
from typing import Any

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, format_bytes
from gnomon.core.results import Result
from gnomon.linalg.solve.base import BYTES_PER_FLOAT64, AbstractSolver, memory_budget
from gnomon.linalg.solve.direct import DirectSolver
from gnomon.linalg.solve.distributed import DistributedSolver
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.nystrom import MATRICES_IN_MEMORY, NystromSolver
from gnomon.linalg.solve.precondition import LandmarkPreconditioner
from gnomon.linalg.solve.tiles import KernelTiles

MAX_SOLVE_SECONDS = 60.0
"""Seconds that a solve may take if a cheaper method is available."""
OPERATIONS_PER_SECOND = 5e10
"""float64 operations per second: one core with wide vectors, or several without."""
MAX_POINTS_FOR_CUBIC_SOLVE = int(
    (3 * MAX_SOLVE_SECONDS * OPERATIONS_PER_SECOND) ** (1 / 3)
)  # The number of points (20,800) at which n^3 / 3 operations take a minute, the longest allowed time


@dataclass(frozen=True, slots=True)
class SolverChoice(Result):
    """A kernel solver, and a sentence that says why it was chosen.

    >>> print(choose_solver(1000, memory=2**30))
    Direct for 1000 points: their kernel takes 7.6 MiB (limit 1.0 GiB), and n^3 / 3 operations take less than a minute.
    """

    solver: AbstractSolver
    reason: str

    @property
    def verdict(self) -> str:
        """A sentence that says why the kernel solver was chosen."""
        return self.reason


@add_call_to_errors
def choose_solver(
    n: int, *, memory: int | None = None, path: str | Path | None = None, cluster: Any = None
) -> SolverChoice:
    """Chooses a kernel solver for n points and a number of bytes, by default half of the free memory.

    While the kernel fits into memory: Direct where n^3 / 3 operations take a minute at most (n up to 20,800), conjugate
    gradients beyond. If it does not fit: Tiles if a ``path`` is passed and half of the free space on its disk
    holds 4 n^2 bytes; else Nystrom, on the ``cluster`` if one is passed, with

        m = max(sqrt(n) log n, what 2 n m^2 operations in a minute allow),                             (1)

    at most n and what fits into half of the memory. From sqrt(n) log n centers on, the approximation costs nothing of
    the rate at which ridge regression learns.

    Hypotheses: for (1), bounded targets and a kernel of bounded diagonal, without further smoothness.
    Reference: [rudi2015less], theorem 1.

    >>> type(choose_solver(1_000_000, memory=12 * 2**30).solver).__name__
    'NystromSolver'
    """
    n = check_integer("n", n)
    room, size = memory_budget(memory), BYTES_PER_FLOAT64 * n * n
    fits = f"their kernel takes {format_bytes(size)} (limit {format_bytes(room)})"
    if size <= room and n <= MAX_POINTS_FOR_CUBIC_SOLVE:
        return SolverChoice(
            DirectSolver(memory=room), f"Direct for {n} points: {fits}, and n^3 / 3 operations take less than a minute."
        )
    if size <= room:
        reason = f"ConjugateGradient for {n} points: {fits}, but n^3 / 3 operations would take more than a minute."
        return SolverChoice(ConjugateGradient(memory=room), reason)
    if path is not None and size / 2 <= (free := SHARE_OF_FREE_MEMORY * disk_usage(_parent(path)).free):
        reason = (
            f"Tiles for {n} points: {fits} and does not fit; on disk it takes {format_bytes(size / 2)} of "
            f"{format_bytes(free)}."
        )
        method = ConjugateGradient(preconditioner=LandmarkPreconditioner(), memory=room)
        return SolverChoice(KernelTiles(path, method, memory=room), reason)
    m = _centers(n, room)
    reason = f"Nystrom with {m} centers for {n} points: {fits} and does not fit in memory."
    if cluster is not None:
        return SolverChoice(
            DistributedSolver(cluster, NystromSolver(m, memory=memory)),
            reason.replace("points:", "points, on a cluster:"),
        )
    return SolverChoice(NystromSolver(m, memory=room), reason)


def _centers(n: int, room: int) -> int:
    """Returns the number of points on which the Nystrom method builds its solution, within limits of time
    and memory.
    """
    wanted = max(ceil(sqrt(n) * log(n)), isqrt(int(MAX_SOLVE_SECONDS * OPERATIONS_PER_SECOND) // (2 * n)))  # (1)
    return max(1, min(wanted, n, isqrt(room // (2 * MATRICES_IN_MEMORY * BYTES_PER_FLOAT64))))


def _parent(path: str | Path) -> Path:
    """Returns the nearest existing folder above a path."""
    return next(folder for folder in Path(path).absolute().parents if folder.exists())
