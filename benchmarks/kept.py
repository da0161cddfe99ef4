"""Finished parts of a long benchmark in a file, so that a run that is stopped goes on where it was."""

import json
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path


class Kept:
    """Results by name; a run ends when its processor time is over, and the next one goes on."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.end = path, time.process_time() + seconds
        self.found = json.loads(path.read_text()) if path.exists() else {}

    @staticmethod
    def options(parser: ArgumentParser, name: str) -> None:
        """--seconds and --kept."""
        parser.add_argument("--seconds", type=float, default=1e9, help="of processor time; run again to go on")
        parser.add_argument("--kept", type=Path, default=Path(tempfile.gettempdir()) / f"{name}.json", help="results")

    def once(self, key: str, make):
        """What ``make()`` returned, in this run or in an earlier one."""
        if key not in self.found:
            self._in_time(key)
            self.keep(key, make())
        return self.found[key]

    def count(self, key: str, tries: int, one) -> int:
        """For how many of the seeds 0, 1, ... ``one(seed)`` is true."""
        done, found = self.found.get(key, (0, 0))
        for seed in range(done, tries):
            self._in_time(f"{key}, {found} of {seed} so far")
            found += bool(one(seed))
            self.keep(key, (seed + 1, found))
        return found

    def keep(self, key: str, value) -> None:
        self.found[key] = value
        self.path.write_text(json.dumps(self.found))

    def _in_time(self, key: str) -> None:
        if time.process_time() > self.end:
            raise SystemExit(f"{key}: run again to go on")
