"""A fork server: one process for each run of tests, as many at a time as there are copies of the project."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest  # noqa: F401  # forked processes find it imported

from tools.mutate.child import run_tests
from tools.mutate.mutants import Mutant
from tools.mutate.shadow import Shadow

__all__ = ["Job", "Outcome", "run_jobs"]

POLL_SECONDS = 0.05
NO_TESTS = 5  # pytest's status when nothing was collected
BROKEN = (3, 4)  # pytest's statuses for errors of its own and of its options


@dataclass(frozen=True, slots=True)
class Job:
    """Tests to run, on the clean tree (``mutant`` is None) or with one error planted."""

    name: str
    paths: list[str]
    timeout: float
    mutant: Mutant | None = None
    deselected: list[str] = field(default_factory=list)
    until: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: "passed", "failed", "timeout", "crashed" or "broken"; seconds are those of each file."""

    status: str
    failed: list[str]
    seconds: dict[str, float]
    total: float


@dataclass(slots=True)
class _Running:
    job: Job
    pid: int
    shadow: Shadow
    begun: float
    report: Path
    planted: ExitStack


def run_jobs(jobs: list[Job], shadows: list[Shadow], package: str) -> Iterator[tuple[Job, Outcome]]:
    """Runs all jobs and yields each as it ends; an interruption ends their processes and restores every file."""
    waiting, free, running = list(reversed(jobs)), list(shadows), list[_Running]()
    try:
        while waiting or running:
            while waiting and free:
                running.append(_start(waiting.pop(), free.pop(), package))
            for run in list(running):
                if (outcome := _poll(run)) is not None:
                    running.remove(run)
                    _end(run)
                    free.append(run.shadow)
                    yield run.job, outcome
            time.sleep(POLL_SECONDS)
    finally:
        for run in running:
            _end(run)


def _start(job: Job, shadow: Shadow, package: str) -> _Running:
    report, log = shadow.folder / "report.json", shadow.folder.parent / "logs" / f"{job.name}.log"
    report.unlink(missing_ok=True)
    log.parent.mkdir(exist_ok=True)
    planted = ExitStack()
    planted.enter_context(shadow.planted(job.mutant))
    pid = os.fork()
    if pid == 0:
        run_tests(
            shadow.project,
            package,
            job.paths,
            deselected=job.deselected,
            until=job.until,
            log=log,
            report=report,
            clean=job.mutant is None,
        )
    return _Running(job, pid, shadow, time.monotonic(), report, planted)


def _poll(run: _Running) -> Outcome | None:
    """The outcome of a job that has ended or has taken too long."""
    taken = time.monotonic() - run.begun
    done, code = os.waitpid(run.pid, os.WNOHANG)
    if not done:
        return Outcome("timeout", [], {}, taken) if taken > run.job.timeout else None
    run.pid = 0
    if code or not run.report.exists():
        return Outcome("crashed", [], {}, taken)
    told = json.loads(run.report.read_text())
    if told["foreign"] or told["status"] in BROKEN:
        return Outcome("broken", told["failed"], told["seconds"], taken)
    passed = told["status"] in (0, NO_TESTS) and not told["failed"]
    return Outcome("passed" if passed else "failed", told["failed"], told["seconds"], taken)


def _end(run: _Running) -> None:
    """Kills what is left of a job and takes the planted error out."""
    if run.pid:
        for kill in (os.killpg, os.kill):  # the group does not exist before the process has made it
            try:
                kill(run.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.waitpid(run.pid, 0)
    run.planted.close()
