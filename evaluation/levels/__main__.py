"""Measure every stated level and print the table: ``python -m evaluation.levels [--quick] [--seed S] [--write PAGE]``."""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch

from evaluation.levels import STATEMENTS
from evaluation.levels.statement import Rate, Statement, measure

MARK = "<!-- table -->"


def _rate(number: int, quick: bool, seed: int) -> Rate:
    torch.set_num_threads(1)
    return measure(STATEMENTS[number], quick=quick, seed=seed)


def rows(numbers: list[int], quick: bool, seed: int) -> list[tuple[str, ...]]:
    """The table as strings, one row per statement."""
    with ProcessPoolExecutor(2) as pool:
        futures = {i: pool.submit(_rate, i, quick, seed) for i in numbers}
        lines = []
        for i, future in futures.items():
            lines.append(_row(STATEMENTS[i], future.result()))
            print(" | ".join(lines[-1]), flush=True)
    return lines


def _row(s: Statement, found: Rate) -> tuple[str, ...]:
    if s.level is None:
        stated, extra = "uniform", f"KS p = {found.reached:.2g}"
        measured = f"{found.rate:.1%} at or below 0.05"
    else:
        stated = f"{100 * s.level:.10g}%"
        extra = "" if found.reached is None else f"{found.reached:.0%} of the bound reached"
        measured = f"{found.rate:.1%} ({found.low:.1%} to {found.high:.1%})"
    words = "; ".join(part for part in (extra, s.note) if part)
    kept = "yes" if found.kept else "NO"
    return (s.instrument, s.case, s.kind, stated, measured, words, str(found.repetitions), kept)


HEAD = ("instrument", "case", "statement", "stated", "measured", "note", "repetitions", "kept")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure whether p-values, intervals and bounds keep their level.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, as in the tests")
    parser.add_argument("--seed", type=int, default=0, help="random seed of all simulations")
    parser.add_argument("--only", default="", help="measure the instruments whose name has this in it")
    parser.add_argument("--write", type=Path, help="page whose table is replaced; other rows of the table stay")
    options = parser.parse_args()
    numbers = [i for i, s in enumerate(STATEMENTS) if options.only in s.instrument]
    found = dict(zip(numbers, rows(numbers, options.quick, options.seed), strict=True))
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        before, _, table = text.partition(MARK)
        known = {tuple(line.strip("| ").split(" | ")[:2]): line for line in table.splitlines() if line.startswith("|")}
        lines = [f"| {' | '.join(cells)} |" for cells in (HEAD, ("---",) * len(HEAD))]
        for i, s in enumerate(STATEMENTS):
            old = known.get((s.instrument, s.case))
            lines += [f"| {' | '.join(found[i])} |"] if i in found else [old] if old else []
        options.write.write_text(f"{before}{MARK}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
