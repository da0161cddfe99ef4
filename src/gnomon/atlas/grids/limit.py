"""Stops a computation after a limit of CPU time, because a claim may run forever at some parameter values.

>>> with limit_cpu_time(1.0):
...     sum(range(10))
45
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

__all__ = ["limit_cpu_time"]


@contextmanager
def limit_cpu_time(seconds: float) -> Iterator[None]:
    """Context manager that raises TimeoutError after a limit of CPU time; works only in the main thread and not on
    Windows.

    >>> with limit_cpu_time(0.01):
    ...     while True: pass
    Traceback (most recent call last):
    TimeoutError: the computation needs more than 0.01 seconds of CPU time
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"the computation needs more than {seconds:g} seconds of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
