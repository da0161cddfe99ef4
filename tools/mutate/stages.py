"""The two stages: the nearest tests of every mutant, then all tests of the subpackage for those that survived."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tools.mutate.clean import CleanRuns
from tools.mutate.mutants import Mutant
from tools.mutate.nearest import Project
from tools.mutate.pool import Job, run_jobs
from tools.mutate.results import Results
from tools.mutate.shadow import Shadow

__all__ = ["Stages"]

NEAREST_SECONDS = 40.0  # of clean time; what is farther away waits for the second stage
START_SECONDS = 6.0  # imports and collection
COMPILE_SECONDS = 240.0  # numba compiles the folder of a mutated file anew


@dataclass(slots=True)
class Stages:
    """Runs mutants and keeps their results."""

    project: Project
    clean: CleanRuns
    shadows: list[Shadow]
    results: Results
    again: bool = False
    thorough: bool = False

    def run(self, mutants: list[Mutant]) -> None:
        """Both stages; mutants that passed the nearest tests in an earlier run go to the second at once."""
        first = [m for m in mutants if self._stage(m) == "nearest"]
        self.clean.measure({path for m in first for _, path in self._ranked(m)}, self.shadows)
        self._run("nearest", first, {m.id: self._nearest(m) for m in first})
        left = [m for m in mutants if self.results.outcome(m) == "nearest passed" or m not in first]
        wider = {m.id: self._wider(m) for m in left}
        self.clean.measure({path for paths in wider.values() for path in paths}, self.shadows)
        self._run("wider", left, {key: sorted(paths, key=self.clean.seconds) for key, paths in wider.items()})

    def _stage(self, mutant: Mutant) -> str:
        """The stage in which a mutant waits."""
        record = self.results.records.get(mutant.id)
        passed = record and (record["outcome"] == "nearest passed" or record["stage"] == "wider")
        return "wider" if passed and not self.again else "nearest"

    def _run(self, stage: str, mutants: list[Mutant], tests: dict[str, list[str]]) -> None:
        judged = [m for m in mutants if not self.again and self.results.outcome(m) == "unconfirmed"]
        jobs = [self._job(mutant, tests[mutant.id]) for mutant in mutants if tests[mutant.id] and mutant not in judged]
        for done, (job, outcome) in enumerate(run_jobs(jobs, self.shadows, self.project.package.name), 1):
            if job.mutant is None:
                continue
            alive = "nearest passed" if stage == "nearest" else "survived"
            found = {"passed": alive, "broken": "broken"}.get(outcome.status, "unconfirmed")
            found = "caught" if outcome.status == "timeout" else found
            by = outcome.failed[0] if outcome.failed else outcome.status
            self.results.add(job.mutant, stage, found, by, outcome.total)
            place = f"{job.mutant.file}:{job.mutant.line}"
            what = f"{found:15}{outcome.total:6.1f} s  {place} [{job.mutant.kind}]"
            print(f"{stage} {done}/{len(jobs)}  {what} {'' if found == alive else by}", flush=True)
        self._confirm(stage, mutants, tests)
        for mutant in mutants:
            if not tests[mutant.id]:
                self.results.add(mutant, stage, "survived", "no further tests", 0.0)

    def _confirm(self, stage: str, mutants: list[Mutant], tests: dict[str, list[str]]) -> None:
        """Runs the same tests in the same order without the error, up to those that failed: they must pass."""
        groups: dict[tuple[str, ...], list[Mutant]] = {}
        for mutant in mutants:
            if self.results.outcome(mutant) == "unconfirmed":
                groups.setdefault(tuple(tests[mutant.id]), []).append(mutant)
        members, jobs = {}, []
        for group in groups.values():
            job = self._job(group[0], tests[group[0].id])
            failed = [self.results.records[m.id]["by"] for m in group]
            until = None if "crashed" in failed else failed
            jobs.append(replace(job, name=f"confirm-{job.name}", mutant=None, until=until))
            members[jobs[-1].name] = group
        for job, outcome in run_jobs(jobs, self.shadows, self.project.package.name):
            for mutant in members[job.name]:
                record = self.results.records[mutant.id]
                wrong = outcome.status not in ("passed", "failed") or record["by"] in outcome.failed
                by = "the same test fails on the clean tree" if wrong else record["by"]
                self.results.add(mutant, stage, "broken" if wrong else "caught", by, record["seconds"])
                if wrong:
                    print(f"not judged, {by}: {mutant.file}:{mutant.line} {record['by']}", flush=True)

    def _job(self, mutant: Mutant, paths: list[str]) -> Job:
        paths = self.clean.collected(paths)
        seconds = START_SECONDS + sum(self.clean.seconds(path) for path in paths)
        compiled = "numba" in (self.project.root / mutant.file).read_text(encoding="utf-8")
        timeout = 5 * seconds + 30 + (COMPILE_SECONDS if compiled else 0)
        return Job(mutant.id, paths, timeout, mutant, self.clean.failed(paths))

    def _ranked(self, mutant: Mutant) -> list[tuple[int, str]]:
        ranked = self.project.nearest(self.project.root / mutant.file)
        return [(rank, self._inside(path)) for rank, path in ranked]

    def _nearest(self, mutant: Mutant) -> list[str]:
        """Closest tests first, among them the fast ones first, up to a limit of seconds."""
        ranked = sorted((rank, self.clean.seconds(path), path) for rank, path in self._ranked(mutant))
        total, chosen = 0.0, []
        for rank, seconds, path in ranked:
            total += seconds
            if total <= NEAREST_SECONDS or rank <= 1:
                chosen.append(path)
        return chosen

    def _wider(self, mutant: Mutant) -> list[str]:
        done = set(self._nearest_known(mutant))
        wider = self.project.wider(self.project.root / mutant.file, thorough=self.thorough)
        return _unique([*(self._inside(path) for path in wider), *(path for _, path in self._ranked(mutant))], done)

    def _nearest_known(self, mutant: Mutant) -> list[str]:
        """The tests of the first stage; none where their clean times are not known any more."""
        known = all(path in self.clean.records for _, path in self._ranked(mutant))
        return self._nearest(mutant) if known else []

    def _inside(self, path: Path) -> str:
        return path.relative_to(self.project.root).as_posix()


def _unique(paths: Iterable[str], left_out: set[str]) -> list[str]:
    return [path for path in dict.fromkeys(paths) if path not in left_out]
