"""Combines the records of several processes of one training run (`torchrun`), through files in a temporary folder.

Under ``torchrun`` each process writes its record when its script ends. Process 0 waits for the others as long as they
live, at most `MAX_WAIT_SECONDS`, and writes the one report. No process ever waits for process 0.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from gnomon.core.results import Finding
from gnomon.findings import TABLE, loop

__all__ = ["ProcessRanks", "compare_ranks"]

MAX_WAIT_SECONDS = 60.0
"""Time that process 0 waits for a process that is still alive."""
WAIT_AFTER_FAILURE = 2.0
"""Seconds that process 0 waits for others if its own script failed."""
SECONDS_BETWEEN_LOOKS = 0.1
"""Time between two looks at the files."""
MIN_BATCHES_COMPARED = 2
"""First batches of each process that must be known to compare them."""


@dataclass(frozen=True, slots=True)
class ProcessRanks:
    """The processes that `torchrun` started on this machine, and which of them this process is."""

    rank: int
    local: int
    count: int
    folder: Path

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> "ProcessRanks | None":
        """Reads from environment variables which processes `torchrun` started; None if there is only one.

        >>> ProcessRanks.of_environment({}) is None
        True
        """
        count = int(environment.get("LOCAL_WORLD_SIZE", environment.get("WORLD_SIZE", "1")))
        if count < 2 or "RANK" not in environment:
            return None
        keys = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")
        key = sha256("|".join([str(os.getppid()), *(environment.get(key, "") for key in keys)]).encode()).hexdigest()
        folder = Path(tempfile.gettempdir()) / f"gnomon-watch-{key[:16]}"
        rank = int(environment["RANK"])
        return cls(rank, int(environment.get("LOCAL_RANK", rank)), count, folder)

    def begin(self) -> None:
        """Writes a file that shows that this process has started."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        (self.folder / f"{self.local}.pid").write_text(str(os.getpid()), encoding="utf-8")

    def write(self, record: Mapping[str, Any]) -> None:
        """Writes what this process recorded to a file, completely or not at all; not if process 0 has ended already."""
        if not self.folder.exists():
            return
        path = self.folder / f"{self.local}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(record), encoding="utf-8")
        os.replace(part, path)

    def gather(self, *, failed: bool = False) -> tuple[list[dict[str, Any]], list[int]]:
        """Reads what the other processes recorded and deletes their files; also returns processes without a record.

        If process 0 has ``failed``, others may be blocked because they wait for process 0. Those are not lost.
        """
        end, records, lost = monotonic() + (WAIT_AFTER_FAILURE if failed else MAX_WAIT_SECONDS), [], []
        for local in range(self.count):
            if local == self.local:
                continue
            path = self.folder / f"{local}.json"
            while not path.exists() and self._alive(local) and monotonic() < end:
                sleep(SECONDS_BETWEEN_LOOKS)
            if path.exists():
                records.append(json.loads(path.read_text(encoding="utf-8")))
            elif not (failed and self._alive(local)):
                lost.append(local)
        shutil.rmtree(self.folder, ignore_errors=True)
        return records, lost

    def _alive(self, local: int) -> bool:
        path = self.folder / f"{local}.pid"
        if not path.exists():
            return True  # not started yet
        try:
            os.kill(int(path.read_text(encoding="utf-8")), 0)
        except ProcessLookupError:
            return (self.folder / f"{local}.json").exists()
        except (PermissionError, ValueError):
            return True
        return True


def findings_to_plain_values(findings: Sequence[Finding]) -> list[list[Any]]:
    """Converts findings to plain values that one process can write as JSON for another."""
    rows = {id(row): place for place, row in enumerate(TABLE)}
    return [[rows[id(one.row)], one.where, dict(one.values)] for one in findings]


def findings_from_plain_values(packed: Sequence[Sequence[Any]]) -> list[Finding]:
    """Converts plain values that another process wrote back to findings.

    >>> findings_from_plain_values(findings_to_plain_values([Finding(loop.RANKS_DIFFER)]))[0].kind
    'ranks-differ'
    """
    return [Finding(TABLE[place], where, values) for place, where, values in packed]


def compare_ranks(own: Mapping[str, Any], others: Sequence[Mapping[str, Any]], lost: Sequence[int]) -> list[Finding]:
    """Reports problems of the processes of one run: equal batches, different weights, lost processes.

    >>> one = {"inputs": [[1.0], [2.0]], "weights": "a", "steps": 9, "findings": []}
    >>> [finding.kind for finding in compare_ranks(one, [one], [])]
    ['ranks-same-data']
    """
    found = []
    if lost:
        found.append(Finding(loop.RANK_LOST, values={"names": ", ".join(map(str, lost))}))
    inputs = own["inputs"]
    if others and len(inputs) >= MIN_BATCHES_COMPARED and all(other["inputs"] == inputs for other in others):
        found.append(Finding(loop.RANKS_SAME_DATA, values={"ranks": len(others) + 1, "count": len(inputs)}))
    comparable = own["weights"] and all(other["weights"] and other["steps"] == own["steps"] for other in others)
    if others and comparable and any(other["weights"] != own["weights"] for other in others):
        found.append(Finding(loop.RANKS_DIFFER))
    known = {finding.kind for finding in findings_from_plain_values(own["findings"])}
    for other in others:
        for finding in findings_from_plain_values(other["findings"]):
            if finding.kind not in known:
                known.add(finding.kind)
                found.append(finding)
    return found
