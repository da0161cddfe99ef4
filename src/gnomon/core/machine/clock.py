"""Defines clocks, which are passed as arguments so that tests of time budgets can use a fake clock.

>>> from time import perf_counter
>>> clock: Clock = perf_counter             # the clock in use, unless a caller brings another
>>> clock() <= clock()
True
"""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Clock"]

Clock = Callable[[], float]
"""A function that returns the seconds since some fixed moment."""


@dataclass(slots=True)
class FakeClock:
    """A fake clock for tests: each time it is read, it advances by ``tick`` seconds.

    A loop that reads it once per step has the same number of steps per second on every machine, whatever its load:
    with it, an examination or a run with a time budget gives the same answer everywhere.

    >>> clock = FakeClock(0.5)
    >>> clock(), clock()
    (0.5, 1.0)
    """

    tick: float
    now: float = 0.0

    def __call__(self) -> float:
        """Advances the clock by one tick and returns its time in seconds."""
        self.now += self.tick
        return self.now
