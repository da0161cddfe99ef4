"""Runs independent tasks in several threads, as many as torch uses.

Compiled loops and matrix products hold no interpreter lock, so Python's own threads do; each takes the next tile when
it has finished one. While they run, a matrix product inside a tile uses one thread.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar

import torch

from gnomon.core.machine.progress import Progress

__all__ = ["run_in_threads", "single_threaded_products"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Room = TypeVar("Room")


def run_in_threads(
    function: Callable[[Task, Room], Result], tasks: Sequence[Task], room: Callable[[], Room], what: str | None
) -> list[Result]:
    """Calls ``function(task, buffer)`` for all tasks in several threads; returns the results in any order.

    ``what`` names the tasks on the bar that long work shows; None shows none.

    Hypotheses: the tasks are independent. An interrupt or an error stops all threads after their present task.
    Cost: some microseconds per task.

    >>> sorted(run_in_threads(lambda task, room: task + room, [1, 2, 3], lambda: 10, "numbers"))
    [11, 12, 13]
    """
    count = max(1, min(torch.get_num_threads(), len(tasks)))
    with single_threaded_products(), Progress(len(tasks), what) as progress:
        if count == 1:
            mine, results = room(), []
            for task in tasks:
                results.append(function(task, mine))
                progress.step()
            return results
        return _run_in_threads(function, tasks, room, count, progress)


def _run_in_threads(
    function: Callable[[Task, Room], Result],
    tasks: Sequence[Task],
    room: Callable[[], Room],
    count: int,
    progress: Progress,
) -> list[Result]:
    source, lock, stop = iter(tasks), threading.Lock(), threading.Event()

    def work() -> list[Result]:
        mine, results = room(), []
        while not stop.is_set():
            with lock:
                task = next(source, stop)
            if task is stop:
                break
            results.append(function(task, mine))  # type: ignore[arg-type]
            progress.advance(1)
        return results

    with ThreadPoolExecutor(count) as pool:
        try:
            futures = [pool.submit(work) for _ in range(count)]
            _finish(futures, progress)
        finally:
            stop.set()  # Each thread then stops after its current task; the end of the with block waits for them all.
    return [r for f in futures for r in f.result()]


def _finish(futures: Iterable[Future[Any]], progress: Progress) -> None:
    """Waits until all threads are done; checks often, so that interrupts and errors in threads are noticed quickly."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
        for f in done:
            f.result()
        progress.show()


@cache
def _libraries() -> Any:
    """Returns an object that can limit the number of threads of matrix libraries; None if threadpoolctl is not
    installed.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def single_threaded_products() -> Any:
    """Context manager that limits numpy's matrix operations to one thread, which is faster for small matrices.

    Cost: some microseconds; the first call looks for the libraries.

    >>> with single_threaded_products():
    ...     pass
    """
    from contextlib import nullcontext

    libraries = _libraries()
    return nullcontext() if libraries is None else libraries.limit(limits=1, user_api="blas")
