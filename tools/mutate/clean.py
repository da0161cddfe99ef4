"""Results and seconds of tests on the clean tree, which must pass them before any mutant is judged by them."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.mutate.pool import Job, run_jobs
from tools.mutate.shadow import Shadow

__all__ = ["CleanRuns"]

CLEAN_TIMEOUT = 1800.0
FILES_PER_JOB = 12


@dataclass(slots=True)
class CleanRuns:
    """Seconds and failures of test files on the clean tree, kept in a file until sources or tests change."""

    root: Path
    package: Path
    store: Path
    records: dict[str, dict]
    tree: str

    @classmethod
    def load(cls, root: Path, package: Path, store: Path) -> "CleanRuns":
        """Reads what is known."""
        support = [path for path in (root / "tests").rglob("*.py") if not path.name.startswith("test_")]
        settings = [path for path in (root / "conftest.py", root / "pyproject.toml") if path.exists()]
        tree = _digest(sorted(package.rglob("*.py")) + sorted(support) + settings)
        return cls(root, package, store, json.loads(store.read_text()) if store.exists() else {}, tree)

    def measure(self, paths: Iterable[str], shadows: list[Shadow]) -> None:
        """Runs the tests whose result on the clean tree is not known."""
        unknown = sorted({path for path in paths if self._stamp(path) != self.records.get(path, {}).get("stamp")})
        groups = [unknown[i : i + FILES_PER_JOB] for i in range(0, len(unknown), FILES_PER_JOB)]
        jobs = [Job(f"clean-{i}", group, CLEAN_TIMEOUT) for i, group in enumerate(groups)]
        if jobs:
            print(f"Running {len(unknown)} test files on the clean tree.", flush=True)
        for job, outcome in run_jobs(jobs, shadows, self.package.name):
            if outcome.status not in ("passed", "failed"):
                log = shadows[0].folder.parent / "logs" / f"{job.name}.log"
                raise RuntimeError(f"The tests of the clean tree did not run ({outcome.status}): see {log}.")
            for path in groups[int(job.name.removeprefix("clean-"))]:
                failed = [test for test in outcome.failed if test.partition("::")[0] == path]
                record = {"stamp": self._stamp(path), "seconds": outcome.seconds.get(path, 0.0), "failed": failed}
                self.records[path] = record
                for test in failed:
                    print(f"  fails on the clean tree and is left out: {test}", flush=True)
            self.store.write_text(json.dumps(self.records, indent=1))
        for shadow in shadows[1:] if jobs else []:
            shadow.take_caches(shadows[0])
            shadows[0].take_caches(shadow)

    def seconds(self, path: str) -> float:
        """Seconds that a file's tests take."""
        return self.records[path]["seconds"]

    def collected(self, paths: list[str]) -> list[str]:
        """Those of some files that can be imported."""
        return [path for path in paths if path not in self.records[path]["failed"]]

    def failed(self, paths: Iterable[str]) -> list[str]:
        """Tests of some files that fail without any error planted."""
        return [test for path in paths for test in self.records[path]["failed"]]

    def _stamp(self, path: str) -> str:
        return self.tree + _digest([self.root / path])


def _digest(paths: list[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()[:16]
