"""Stores the results of planted errors as lines of JSON, and prints them as a table."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutate.mutants import Mutant

__all__ = ["Results", "equivalents", "table"]


@dataclass(slots=True)
class Results:
    """The last result of each planted error; every new result is appended to the file at once."""

    path: Path
    records: dict[str, dict[str, Any]]

    @classmethod
    def load(cls, path: Path) -> "Results":
        """Reads a file with results of planted errors; ignores a last line that is incomplete."""
        records: dict[str, dict[str, Any]] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            records[record["id"]] = record
        return cls(path, records)

    def add(self, mutant: Mutant, tests: int, outcome: str, by: str, seconds: float) -> None:
        """Appends the result of a planted error to the file, with the number of tests that could notice the error."""
        record = {**mutant.to_dict(), "tests": tests, "outcome": outcome, "by": by, "seconds": round(seconds, 1)}
        self.records[mutant.id] = record
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def outcome(self, mutant: Mutant) -> str:
        """Returns whether tests noticed a planted error: "caught", "survived", "not run", or "broken" if tests always
        fail.
        """
        record = self.records.get(mutant.id)
        return record["outcome"] if record else "not run"


def equivalents(path: Path) -> dict[tuple[str, str, str], str]:
    """Reads the list of planted errors that change no result, each with the reason."""
    entries = tomllib.loads(path.read_text()).get("mutant", []) if path.exists() else []
    return {(entry["file"], entry["line"].strip(), entry["after"]): entry["reason"] for entry in entries}


def is_equivalent(mutant: Mutant, known: dict[tuple[str, str, str], str]) -> bool:
    """Checks whether a planted error is in the list of those that change no result."""
    return (mutant.file, mutant.text, mutant.after) in known


def table(mutants: list[Mutant], results: Results, known: dict[tuple[str, str, str], str]) -> str:
    """Returns a table with the fraction of caught errors in each subpackage, and a list of the errors that survived."""
    header = f"{'subpackage':18}{'mutants':>8}{'caught':>8}{'survived':>9}{'equivalent':>11}{'not run':>8}{'score':>7}"
    lines = [header]
    survivors: list[Mutant] = []
    groups = [(name, [m for m in mutants if m.package == name]) for name in sorted({m.package for m in mutants})]
    for name, group in [*groups, ("all", mutants)]:
        equivalent = [m for m in group if is_equivalent(m, known)]
        counted = [m for m in group if not is_equivalent(m, known)]
        caught = sum(results.outcome(m) == "caught" for m in counted)
        lived = [m for m in counted if results.outcome(m) == "survived"]
        rest = len(counted) - caught - len(lived)
        score = f"{caught / (caught + len(lived)):.0%}" if caught + len(lived) else "-"
        numbers = f"{len(group):8}{caught:8}{len(lived):9}{len(equivalent):11}{rest:8}{score:>7}"
        lines.append(f"{name:18}{numbers}")
        survivors += lived if name != "all" else []
    if survivors:
        lines += ["", "Survivors:"] + [f"  {m.diff()}" for m in survivors]
    broken = [m for m in mutants if results.outcome(m) == "broken"]
    if broken:
        lines += ["", "Not judged, because the tests fail without the error as well:"] + [
            f"  {m.diff()}" for m in broken
        ]
    return "\n".join(lines)
