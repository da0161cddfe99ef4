"""Writes the documentation page with the fraction of planted errors that tests catch, for each subpackage."""

from dataclasses import dataclass
from pathlib import Path

from tools.mutate.mutants import Mutant
from tools.mutate.results import Results, is_equivalent

__all__ = ["Run", "write_page"]

MARK = "<!-- table -->"
"""What follows this line is replaced."""

HEAD = f"""# Mutation scores

`make mutate` plants one numerical error at a time into the source and runs the default tests that execute the changed
line. The table shows how many errors the tests caught, of those that were judged, in each subpackage and at each seed.
A seed chooses the places and the kinds of error. The goal is 90 % of all errors and 85 % in each subpackage.

An error that cannot change any result is not counted. `tools/mutate/equivalent.toml` lists these errors with the
reason. An error is not judged if the tests that reach it fail without the error as well. `tools/mutate/scope.py` states
which code is left out: text, plots, timing and memory.

{MARK}
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the mutation tester: the planted errors that its seed chose, and their results."""

    seed: int
    mutants: list[Mutant]
    results: Results


def write_page(page: Path, runs: list[Run], known: dict[tuple[str, str, str], str], command: str) -> None:
    """Writes the table with the results of some mutation test runs into a page; text above a mark stays unchanged."""
    text = page.read_text(encoding="utf-8") if page.exists() else HEAD
    above, mark, _ = text.partition(MARK)
    if not mark:
        raise ValueError(f"{page} has no line {MARK!r}: add it where the table begins, or write another file.")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{above}{MARK}\n\n{_table(runs, known)}\n\n{_commands(runs, command)}\n", encoding="utf-8")


def _table(runs: list[Run], known: dict[tuple[str, str, str], str]) -> str:
    names = sorted({mutant.package for run in runs for mutant in run.mutants})
    seeds = [f"seed {run.seed}" for run in runs]
    lines = ["| " + " | ".join(["subpackage", *seeds, "all seeds"]) + " |"]
    lines.append("| --- |" + " ---: |" * (len(runs) + 1))
    for name in [*names, "all"]:
        counts = [_count(run, None if name == "all" else name, known) for run in runs]
        both = tuple(map(sum, zip(*counts, strict=True)))
        lines.append("| " + " | ".join([name, *map(_score, [*counts, both])]) + " |")
    return "\n".join(lines)


def _count(run: Run, package: str | None, known: dict[tuple[str, str, str], str]) -> tuple[int, int]:
    """Counts the planted errors of a subpackage (or of all) that tests caught, and those that were judged."""
    group = [m for m in run.mutants if package in (None, m.package) and not is_equivalent(m, known)]
    outcomes = [run.results.outcome(m) for m in group]
    return outcomes.count("caught"), outcomes.count("caught") + outcomes.count("survived")


def _score(counts: tuple[int, ...]) -> str:
    caught, judged = counts
    return f"{caught} of {judged} ({caught / judged:.0%})" if judged else "-"


def _commands(runs: list[Run], command: str) -> str:
    lines = [f"{command} --seed {run.seed}" for run in runs]
    return "\n".join(["The commands:", "", "```bash", *lines, "```"])
