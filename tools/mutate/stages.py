"""Tests planted errors in forked processes if possible, otherwise in a new process on a copy of the project."""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tools.mutate.mutants import Mutant
from tools.mutate.plant import class_attribute, concerned_lines, is_constant, is_default
from tools.mutate.reach import Reach
from tools.mutate.results import Results
from tools.mutate.server import Job, Server, Verdict
from tools.mutate.shadow import Shadow

__all__ = ["MOST_SECONDS", "Stages"]

MOST_SECONDS = 60.0
"""Clean seconds of tests that one mutant is given; tests of its own subpackage come first."""

COPY_SECONDS = 300.0
"""Time allowed for a new process, in which numba compiles again."""

TESTS_OF_DEFAULTS = "tests/house/test_default_arguments.py::test_defaults_are_those_of_the_table"
"""Test of each subpackage that reads signatures, which executes no line."""

FAILED = 1
"""pytest's exit status if a test failed."""


@dataclass
class Stages:
    """Tests planted errors and stores their results."""

    root: Path
    package: str
    reach: Reach
    results: Results
    copy: Shadow
    most_seconds: float = MOST_SECONDS
    clean: dict[str, bool] = field(default_factory=dict)
    """Whether a test passes in a child without an error."""

    def run(self, server: Server, mutants: list[Mutant]) -> None:
        """Tests all planted errors, and stores each result at once."""
        jobs = [self._job(mutant, server) for mutant in mutants]
        later = []
        for job, verdict in server.judge([job for job in jobs if job.tests]):
            if verdict.status == "cannot plant":
                later.append(job)
            else:
                self._keep(job, self._confirm(job, verdict, server))
        for job in later:
            self._keep(job, self._in_new_process(job))
        for job in jobs:
            if not job.tests:
                self._keep(job, self._without_tests(job))

    def _job(self, mutant: Mutant, server: Server) -> Job:
        """Chooses the tests for a planted error: those that execute the changed line, fast and related ones first."""
        tests = self.reach.tests(concerned_lines(mutant, self.root))
        if "numba" in (self.root / mutant.file).read_text(encoding="utf-8"):
            tests |= self.reach.tests_of_files(self._users(mutant.file))
        if is_constant(mutant, self.root):
            tests |= self._tests_of_mirrored_file(mutant) | self._tests_that_read_attribute(mutant)
        if is_default(mutant, self.root):
            tests |= self.reach.seconds.keys() & {f"{TESTS_OF_DEFAULTS}[{mutant.package}]"}
        tests &= server.items.keys()
        near = (f"tests/{mutant.package}/", f"src/{self.package}/{mutant.package}/")
        order = sorted(tests, key=lambda test: (not test.startswith(near), self.reach.seconds[test], test))
        chosen, total = list[str](), 0.0
        for test in order:
            total += self.reach.seconds[test]
            if total > self.most_seconds and chosen:
                break
            chosen.append(test)
        return Job(tuple(chosen), sum(self.reach.seconds[test] for test in chosen), mutant)

    def _tests_of_mirrored_file(self, mutant: Mutant) -> set[str]:
        """Returns the tests in the test file of a changed constant's module, because reading a constant executes no
        line.
        """
        file = Path(mutant.file)
        mirror = f"tests/{mutant.package}/test_{file.stem}.py::"
        return {test for test in self.reach.seconds if test.startswith((f"{mutant.file}::", mirror))}

    def _tests_that_read_attribute(self, mutant: Mutant) -> set[str]:
        """Returns the tests of the subpackage whose file reads a changed class attribute, because that executes no line
        of the package.
        """
        name = class_attribute(mutant, self.root)
        if name is None:
            return set()
        paths = (self.root / "tests" / mutant.package).rglob("test_*.py")
        reads = re.compile(rf"\.{name}\b")
        readers = {path for path in paths if reads.search(path.read_text(encoding="utf-8"))}
        files = tuple(f"{path.relative_to(self.root).as_posix()}::" for path in readers)
        return {test for test in self.reach.seconds if test.startswith(files)}

    def _without_tests(self, job: Job) -> Verdict:
        assert job.mutant is not None
        if self.reach.tests(concerned_lines(job.mutant, self.root)):
            return Verdict("broken", "its tests cannot be imported a second time", 0.0)
        return Verdict("passed", "no test executes it", 0.0)

    def _users(self, file: str) -> list[str]:
        """Returns the file and all files that import it, because executed lines of compiled functions are not
        recorded.
        """
        dotted = ".".join(Path(file).with_suffix("").parts[1:])
        parent, _, stem = dotted.rpartition(".")
        names = (f"from {dotted} import", f"import {dotted}")
        found = [file]
        for path in (self.root / "src").rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if any(name in text for name in names) or (f"from {parent} import" in text and stem in text):
                found.append(path.relative_to(self.root).as_posix())
        return found

    def _confirm(self, job: Job, verdict: Verdict, server: Server) -> Verdict:
        """Checks that a test that failed with the planted error passes without it; returns the result.

        If it does not, the other tests may still catch the mutant; if they pass, the mutant is not judged.
        """
        left, unclean = job.tests, ""
        while verdict.status == "failed":
            if verdict.by not in self.clean:
                alone = Job((verdict.by,), self.reach.seconds[verdict.by])
                self.clean[verdict.by] = next(iter(server.judge([alone])))[1].status == "passed"
            if self.clean[verdict.by]:
                return verdict
            unclean = verdict.by
            left = tuple(test for test in left if self.clean.get(test, True))
            if not left:
                break
            again = Job(left, sum(self.reach.seconds[test] for test in left), job.mutant)
            verdict = next(iter(server.judge([again])))[1]
        if unclean and verdict.status in ("failed", "passed"):
            return Verdict("broken", unclean, verdict.seconds)
        return verdict

    def _in_new_process(self, job: Job) -> Verdict:
        """Runs the tests in a new process on a copy of the project that contains the planted error."""
        assert job.mutant is not None
        self.copy.refresh()
        begun = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", *job.tests]
        project = self.copy.project
        search = os.pathsep.join([str(project / "src"), str(project)])
        environment = os.environ | {"PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        environment["NUMBA_CACHE_DIR"] = str(self.copy.folder / "numba")
        with self.copy.plant(job.mutant):
            try:
                done = subprocess.run(
                    command, cwd=project, env=environment, capture_output=True, text=True, check=False,
                    timeout=5 * job.seconds + COPY_SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Verdict("timeout", "timeout", time.monotonic() - begun)
        failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        status = "passed" if done.returncode == 0 else "failed" if done.returncode == FAILED or failed else "broken"
        return Verdict(status, failed[0] if failed else done.stdout[-200:], time.monotonic() - begun)

    def _keep(self, job: Job, verdict: Verdict) -> None:
        assert job.mutant is not None
        caught = ("failed", "timeout", "crashed")
        outcome = "caught" if verdict.status in caught else {"passed": "survived"}.get(verdict.status, "broken")
        self.results.add(job.mutant, len(job.tests), outcome, verdict.by, verdict.seconds)
        place = f"{job.mutant.file}:{job.mutant.line} [{job.mutant.kind}]"
        print(f"{outcome:9}{verdict.seconds:6.1f} s  {len(job.tests):4} tests  {place} {verdict.by[:80]}", flush=True)
