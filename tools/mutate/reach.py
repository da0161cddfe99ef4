"""Records with coverage.py which tests execute which lines of the package, before any error is planted.

As a pytest plugin (``-p tools.mutate.reach``) this module records one run of the tests. `Reach` reads the record.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Reach"]

FOLDER_VARIABLE = "GNOMON_REACH_FOLDER"
IMPORTED = "import"
"""Context of lines that run while test files are imported."""

FEW_FILES = 4
"""At most this many files run in one process: starting workers takes longer."""

MANY_FILES = 600
"""With more files than this, everything is run: the command line would be too long."""

NO_TESTS = 5
"""pytest's exit status if it found no test."""

_recorder: "_Recorder | None" = None


class _Recorder:
    """Records for each test in this process the executed lines, the outcome and the duration."""

    def __init__(self, folder: Path) -> None:
        import coverage

        folder.mkdir(parents=True, exist_ok=True)
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self.coverage = coverage.Coverage(
            data_file=str(folder / f"lines-{name}"), source=[str(Path.cwd() / "src")], config_file=False, messages=False
        )
        self.tests = (folder / f"tests-{name}.jsonl").open("w")
        self.seconds: dict[str, float] = {}
        self.passed: dict[str, bool] = {}
        self.coverage.start()
        self.coverage.switch_context(IMPORTED)

    def close(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        self.tests.close()


def pytest_configure(config: Any) -> None:
    """Starts recording executed lines in every pytest worker, but not in the process that only distributes tests."""
    global _recorder
    distributes = bool(getattr(config.option, "numprocesses", None)) and "PYTEST_XDIST_WORKER" not in os.environ
    if FOLDER_VARIABLE in os.environ and not distributes:
        _recorder = _Recorder(Path(os.environ[FOLDER_VARIABLE]))


def pytest_runtest_logstart(nodeid: str, location: tuple[str, int | None, str]) -> None:
    """Makes coverage.py attribute the lines that are executed next to this test."""
    if _recorder:
        _recorder.coverage.switch_context(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """Adds the duration of a test phase, and writes the record of a finished test."""
    if not _recorder:
        return
    test = report.nodeid
    _recorder.seconds[test] = _recorder.seconds.get(test, 0.0) + report.duration
    _recorder.passed[test] = _recorder.passed.get(test, True) and not report.failed
    if report.when == "teardown":
        record = {"test": test, "seconds": round(_recorder.seconds[test], 4), "passed": _recorder.passed[test]}
        _recorder.tests.write(json.dumps(record) + "\n")


def pytest_unconfigure(config: Any) -> None:
    """Writes the recorded lines of all tests to disk."""
    global _recorder
    if _recorder:
        _recorder.close()
        _recorder = None


@dataclass(frozen=True)
class Reach:
    """Which lines of the package each test executes, and how long each test takes; only tests that pass."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, frozenset[str]]]
    """For each file of the package, the tests that execute a line."""

    @classmethod
    def load(cls, root: Path, work: Path, *, workers: int, only: tuple[str, ...] = ()) -> "Reach":
        """Reads records of earlier test runs, and runs test files again that are new or concerned by changed sources.

        ``only`` names the files and folders of tests to run; empty means all.
        """
        kept = _Kept.read(root, work / "reach")
        stale = [file for file in kept.stale() if not only or file.startswith(only)]
        if stale:
            kept.record(stale, workers)
        return cls(
            kept.seconds, {file: {n: frozenset(t) for n, t in rows.items()} for file, rows in kept.lines.items()}
        )

    def tests(self, places: Iterable[tuple[str, int]]) -> set[str]:
        """Returns the tests that execute at least one of some lines, given as pairs of file and line."""
        return {test for file, line in places for test in self.lines.get(file, {}).get(line, ())}

    def tests_of_files(self, files: Iterable[str]) -> set[str]:
        """Returns the tests that execute any line of some files."""
        return {test for file in files for tests in self.lines.get(file, {}).values() for test in tests}


class _Kept:
    """Records of earlier test runs, each in a folder with hashes of the files that it used."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.digests = {path.relative_to(root).as_posix(): _digest(path) for path in _python_files(root)}
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, set[str]]] = {}
        self.current: set[str] = set()

    @classmethod
    def read(cls, root: Path, folder: Path) -> "_Kept":
        kept = cls(root, folder)
        for part in sorted(folder.glob("part-*")):
            if (part / "files.json").exists():
                kept._add(part)
        return kept

    def stale(self) -> list[str]:
        """Returns test files, and source files with examples, whose record of executed lines is missing or outdated."""
        files = [name for name in self.digests if name.startswith("src/") or Path(name).name.startswith("test_")]
        return [name for name in files if name not in self.current]

    def record(self, files: list[str], workers: int) -> None:
        """Runs some test files without planted errors, and records the lines that they execute."""
        part = self.folder / f"part-{len(list(self.folder.glob('part-*'))):03}"
        part.mkdir(parents=True)
        print(f"Running {len(files)} files of tests and examples to see which lines they execute.", flush=True)
        everything = len(files) > MANY_FILES
        distributed = ["-n", str(workers)] if workers > 1 and len(files) > FEW_FILES else ["-p", "no:xdist"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.mutate.reach", *distributed]
        command += [] if everything else files
        tools = Path(__file__).resolve().parents[2]
        search = os.pathsep.join([str(self.root / "src"), str(self.root), str(tools)])
        environment = os.environ | {FOLDER_VARIABLE: str(part), "OMP_NUM_THREADS": "1", "PYTHONPATH": search}
        with (part / "log").open("w") as log:
            code = subprocess.run(
                command, cwd=self.root, env=environment, stdout=log, stderr=log, check=False
            ).returncode
        if code not in (0, 1, NO_TESTS):
            raise RuntimeError(
                f"The tests did not run on the clean tree (pytest exited with {code}): see {part / 'log'}."
            )
        (part / "files.json").write_text(
            json.dumps({"files": self.stale() if everything else files, "digests": self.digests})
        )
        self._add(part)

    def _add(self, part: Path) -> None:
        """Adds a record of executed lines, without files that have changed since."""
        from coverage import CoverageData

        known = json.loads((part / "files.json").read_text())
        changed = {name for name, digest in known["digests"].items() if self.digests.get(name) != digest}
        files = {name for name in known["files"] if name not in changed}
        self._forget(files)
        seconds, failed = {}, []
        for path in part.glob("tests-*.jsonl"):
            for record in map(json.loads, path.read_text().splitlines()):
                if record["test"].partition("::")[0] in files:
                    seconds[record["test"]] = record["seconds"]
                    failed += [] if record["passed"] else [record["test"]]
        concerned = set()
        for path in part.glob("lines-*"):
            data = CoverageData(str(path))
            data.read()
            for file in data.measured_files():
                # The coverage record may come from another clone of the project, with another path.
                name = "src/" + file.rpartition("/src/")[2]
                for number, tests in data.contexts_by_lineno(file).items():
                    inside = [test for test in tests if test in seconds]
                    if name in changed:
                        concerned |= {test.partition("::")[0] for test in inside}
                    else:
                        self.lines.setdefault(name, {}).setdefault(number, set()).update(inside)
        self.seconds |= {test: spent for test, spent in seconds.items() if test not in failed}
        for test in failed:
            print(f"  fails on the clean tree and is left out: {test}", flush=True)
        for rows in self.lines.values():
            for executed in rows.values():
                executed.difference_update(failed)
        self.current |= files
        self._forget(concerned)

    def _forget(self, files: set[str]) -> None:
        """Removes the tests of some files from the records of executed lines."""
        if not files & self.current:
            return
        gone = {test for test in self.seconds if test.partition("::")[0] in files}
        for test in gone:
            del self.seconds[test]
        for rows in self.lines.values():
            for tests in rows.values():
                tests -= gone
        self.current -= files


def _python_files(root: Path) -> Iterator[Path]:
    for folder in ("src", "tests"):
        yield from sorted((root / folder).rglob("*.py"))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
