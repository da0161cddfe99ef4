"""Which solver: the most exact one that time and memory allow, with the reason."""

from dataclasses import dataclass
from math import ceil, isqrt, log, sqrt
from pathlib import Path
from shutil import disk_usage
from typing import Any

from gnomon.core.errors import names_call
from gnomon.core.inputs.checks import integer
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, human
from gnomon.core.results import Result
from gnomon.linalg.solve.base import BYTES_PER_FLOAT64, AbstractSolver, memory_budget
from gnomon.linalg.solve.direct import Direct
from gnomon.linalg.solve.distributed import Distributed
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.nystrom import MATRICES_IN_MEMORY, Nystrom
from gnomon.linalg.solve.precondition import Landmarks
from gnomon.linalg.solve.tiles import Tiles

MAX_SOLVE_SECONDS = 60.0
"""Seconds that a solve may take if a cheaper method is available."""
OPERATIONS_PER_SECOND = 5e10
"""float64 operations per second: one core with wide vectors, or several without."""
CUBE = int(
    (3 * MAX_SOLVE_SECONDS * OPERATIONS_PER_SECOND) ** (1 / 3)
)  # points up to which n^3 / 3 operations take a minute: 20,800


@dataclass(frozen=True, slots=True)
class Choice(Result):
    """A solver, and the sentence that says why.

    >>> print(auto(1000, memory=2**30))
    Direct for 1000 points: their kernel takes 7.6 MiB of 1.0 GiB, and n^3 / 3 operations are few.
    """

    solver: AbstractSolver
    reason: str

    @property
    def verdict(self) -> str:
        """The reason."""
        return self.reason


@names_call
def auto(n: int, *, memory: int | None = None, path: str | Path | None = None, cluster: Any = None) -> Choice:
    """Choose a solver for n points and a number of bytes, half of what is free where none is named.

    While the kernel fits into memory: Direct where n^3 / 3 operations take a minute at most (n up to 20,800), conjugate
    gradients beyond. Where it does not fit: Tiles where a ``path`` is passed and half of the free space on its disk
    holds 4 n^2 bytes; else Nystrom, on the ``cluster`` where one is passed, with

        m = max(sqrt(n) log n, what 2 n m^2 operations in a minute allow),                             (1)

    at most n and what fits into half of the memory. From sqrt(n) log n centers on, the approximation costs nothing of
    the rate at which ridge regression learns.

    Hypotheses: for (1), bounded targets and a kernel of bounded diagonal, without further smoothness.
    Reference: [rudi2015less], theorem 1.

    >>> type(auto(1_000_000, memory=12 * 2**30).solver).__name__
    'Nystrom'
    """
    n = integer("n", n)
    room, size = memory_budget(memory), BYTES_PER_FLOAT64 * n * n
    fits = f"their kernel takes {human(size)} of {human(room)}"
    if size <= room and n <= CUBE:
        return Choice(Direct(memory=room), f"Direct for {n} points: {fits}, and n^3 / 3 operations are few.")
    if size <= room:
        reason = f"ConjugateGradient for {n} points: {fits}, and n^3 / 3 operations would be many."
        return Choice(ConjugateGradient(memory=room), reason)
    if path is not None and size / 2 <= (free := SHARE_OF_FREE_MEMORY * disk_usage(_parent(path)).free):
        reason = f"Tiles for {n} points: {fits}, which is too much, and {human(size / 2)} of {human(free)} on disk."
        method = ConjugateGradient(preconditioner=Landmarks(), memory=room)
        return Choice(Tiles(path, method, memory=room), reason)
    m = _centers(n, room)
    reason = f"Nystrom with {m} centers for {n} points: {fits}, which is too much."
    if cluster is not None:
        return Choice(
            Distributed(cluster, Nystrom(m, memory=memory)), reason.replace("points:", "points, on a cluster:")
        )
    return Choice(Nystrom(m, memory=room), reason)


def _centers(n: int, room: int) -> int:
    """As many as theory asks for, more where they are cheap, and not more than fit."""
    wanted = max(ceil(sqrt(n) * log(n)), isqrt(int(MAX_SOLVE_SECONDS * OPERATIONS_PER_SECOND) // (2 * n)))  # (1)
    return max(1, min(wanted, n, isqrt(room // (2 * MATRICES_IN_MEMORY * BYTES_PER_FLOAT64))))


def _parent(path: str | Path) -> Path:
    """The nearest folder above a path that exists."""
    return next(folder for folder in Path(path).absolute().parents if folder.exists())
