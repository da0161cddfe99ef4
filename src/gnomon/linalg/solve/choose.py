"""Which solver: the most exact one that time and memory allow, with the reason."""

from dataclasses import dataclass
from math import isqrt

from gnomon.core.errors import InputError, lesson
from gnomon.core.memory import human
from gnomon.linalg.solve.base import FLOAT, AbstractSolver, budget
from gnomon.linalg.solve.direct import Direct
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.nystrom import Nystrom

CUBE = 20_000  # points up to which n^3 / 3 operations are minutes
CENTERS = 5_000


@dataclass(frozen=True, slots=True)
class Choice:
    """A solver, and the sentence that says why.

    >>> print(auto(1000, memory=2**30))
    Direct for 1000 points: their kernel takes 7.6 MiB of 1.0 GiB, and n^3 / 3 operations are few.
    """

    solver: AbstractSolver
    reason: str

    def __str__(self) -> str:
        return self.reason


def auto(n: int, *, memory: int | None = None) -> Choice:
    """Choose a solver for n points and a number of bytes, half of what is free where none is named.

    Direct while the kernel fits into memory and n is at most 20,000; conjugate gradients while it fits; then Nystrom
    with as many centers as fit, 5,000 at most.

    Cost: none.

    >>> type(auto(1_000_000, memory=12 * 2**30).solver).__name__
    'Nystrom'
    """
    if n < 1:
        raise InputError(lesson("linalg.solve.auto(n)", f"n is {n}", "at least one point", "Pass a positive number"))
    room, size = budget(memory), FLOAT * n * n
    fits = f"their kernel takes {human(size)} of {human(room)}"
    if size <= room and n <= CUBE:
        return Choice(Direct(memory=room), f"Direct for {n} points: {fits}, and n^3 / 3 operations are few.")
    if size <= room:
        reason = f"ConjugateGradient for {n} points: {fits}, and n^3 / 3 operations would be many."
        return Choice(ConjugateGradient(memory=room), reason)
    m = max(1, min(CENTERS, n, isqrt(room // (6 * FLOAT))))  # 3 m^2 numbers in half of the memory
    reason = f"Nystrom with {m} centers for {n} points: {fits}, which is too much."
    return Choice(Nystrom(m, memory=room), reason)
