"""Tests planted errors with a fork server: collects the tests once, then tests each error in a forked process.

A child plants the error, runs the tests that execute the changed line, and stops at the first failure. A failure counts
only if the same test passes in a child without the error.
"""

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tools.mutate.mutants import Mutant
from tools.mutate.plant import CannotPlant, plant

__all__ = ["Job", "Server", "Verdict"]

MEMORY_BYTES = 10 * 2**30
"""A mutant that asks for more fails instead of taking the machine down."""

POLL_SECONDS = 0.01
START_SECONDS = 20.0
"""Seconds of processor time allowed in addition to five times the seconds of the tests."""
WAITING_FACTOR = 10.0
"""Time on the clock, in units of the allowed processor time, after which a process counts as stuck.

A busy machine makes a process slow but does not make it compute more: only a process that waits forever gets here.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """Tests to run, fastest first, with an error planted, or without one if ``mutant`` is None."""

    tests: tuple[str, ...]
    seconds: float
    mutant: Mutant | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of running tests on a planted error, such as "passed" or "failed", with the failed test or the
    reason.
    """

    status: str
    by: str
    seconds: float


class Server:
    """A pytest plugin that calls ``serve`` instead of running the tests, once all tests are collected."""

    def __init__(self, root: Path, serve: "Callable[[Server], None]", workers: int) -> None:
        self.root, self.serve, self.workers = root, serve, workers
        self.items: dict[str, Any] = {}
        self.session: Any = None

    def pytest_runtestloop(self, session: Any) -> bool:
        """Tests planted errors instead of running the collected tests once."""
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        self.serve(self)
        return True

    def judge(self, jobs: list[Job]) -> Iterator[tuple[Job, Verdict]]:
        """Runs jobs (tests with a planted error), a few at a time, and yields each job with its result when it ends."""
        waiting, running = list(reversed(jobs)), dict[int, tuple[Job, int, float]]()
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    job = waiting.pop()
                    pid, pipe = self._start(job)
                    running[pid] = (job, pipe, time.monotonic())
                for pid, (job, pipe, begun) in list(running.items()):
                    verdict = _poll(pid, pipe, time.monotonic() - begun, WAITING_FACTOR * _cpu_seconds(job))
                    if verdict is not None:
                        del running[pid]
                        yield job, verdict
                time.sleep(POLL_SECONDS)
        finally:
            for pid, (_, pipe, _) in running.items():
                _kill(pid, pipe)

    def _start(self, job: Job) -> tuple[int, int]:
        reading, writing = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            self._child(job, writing)
        os.close(writing)
        return pid, reading

    def _child(self, job: Job, pipe: int) -> NoReturn:
        verdict = {"status": "crashed", "by": ""}
        try:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (int(_cpu_seconds(job)), int(_cpu_seconds(job)) + 5))
            sys.dont_write_bytecode = True
            try:
                if job.mutant is not None:
                    plant(job.mutant, self.root)
                failed = self._first_failure(job.tests)
                verdict = {"status": "failed", "by": failed} if failed else {"status": "passed", "by": ""}
            except CannotPlant as reason:
                verdict = {"status": "cannot plant", "by": str(reason)}
        except BaseException:  # No error may leave this function, because the forked process must end here.
            verdict = {"status": "crashed", "by": traceback.format_exc(limit=-2)}
        finally:
            os.write(pipe, json.dumps(verdict).encode())
            os._exit(0)

    def _first_failure(self, tests: tuple[str, ...]) -> str | None:
        from _pytest.runner import runtestprotocol

        items = [self.items[test] for test in tests if test in self.items]
        for item, following in zip(items, [*items[1:], None], strict=True):
            reports = runtestprotocol(item, nextitem=following, log=False)
            if any(report.failed for report in reports):
                return str(item.nodeid)
        return None


def _cpu_seconds(job: Job) -> float:
    """Returns the seconds of processor time that the tests of one planted error may take."""
    return 5 * job.seconds + START_SECONDS


def _poll(pid: int, pipe: int, spent: float, timeout: float) -> Verdict | None:
    done, code = os.waitpid(pid, os.WNOHANG)
    if not done:
        if spent <= timeout:
            return None
        _kill(pid, pipe)
        return Verdict("timeout", "timeout", spent)
    with os.fdopen(pipe) as stream:
        text = stream.read()
    if not text:
        late = os.WIFSIGNALED(code) and os.WTERMSIG(code) == signal.SIGXCPU
        return Verdict("timeout", "timeout", spent) if late else Verdict("crashed", f"exit status {code}", spent)
    record = json.loads(text)
    return Verdict(record["status"], record["by"], spent)


def _kill(pid: int, pipe: int) -> None:
    for kill in (os.killpg, os.kill):  # If the process group does not exist yet, kills only the process.
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os.waitpid(pid, 0)
    os.close(pipe)
