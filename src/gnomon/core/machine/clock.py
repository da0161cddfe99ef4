"""Time as an argument: what has a time budget is handed its clock, so that no outcome needs a fast or an idle machine.

>>> from time import perf_counter
>>> clock: Clock = perf_counter             # the clock in use, unless a caller brings another
>>> clock() <= clock()
True
"""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Clock"]

Clock = Callable[[], float]
"""Seconds since some moment."""


@dataclass(slots=True)
class Ticking:
    """A clock that moves by ``tick`` seconds each time it is read, and stands still in between.

    A loop that reads it once per step has so many steps per second, on every machine and whatever else runs there:
    with it, an examination or a run with a time budget gives the same answer everywhere.

    >>> clock = Ticking(0.5)
    >>> clock(), clock()
    (0.5, 1.0)
    """

    tick: float
    now: float = 0.0

    def __call__(self) -> float:
        """Move, and tell."""
        self.now += self.tick
        return self.now
