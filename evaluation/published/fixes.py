"""Do proven fixes of published cases hold in a plain loop?

    python -m evaluation.published.fixes --draw "issue 34" --first 15

Draws faulty cases at random and examines them until so many have a proven fix. Each proven fix is applied to a plain
loop with another seed and the same number of steps, and the score of that loop is compared with the stated score.
Results are appended to build/published/fixes.jsonl.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import torch

import gnomon
from evaluation.faults.fixes import MARGIN, plain_score
from evaluation.published.case import PublishedCase
from evaluation.published.data.load import SkippedCase
from evaluation.published.registry import select


def check_case(case: PublishedCase, budget: float) -> dict:
    """The proven fixes of one case, with the stated score and the score of a plain loop for each."""
    recipe, _ = case.build()
    torch.manual_seed(0)
    result = gnomon.examine(
        recipe.network, recipe.train, recipe.test, budget=budget, clock=time.process_time, **recipe.options()
    )
    rows = []
    for fix in result.fixes:
        plain = plain_score(fix, seed=1)
        within = None if plain is None else abs(plain - fix.after) <= MARGIN
        better = None if plain is None else plain > fix.before
        rows.append(fix.to_dict() | {"plain": plain, "within": within, "better": better, "final": not fix.later})
    return {"id": case.id, "verdict": result.verdict, "fixes": rows}


def main() -> None:
    """Runs cases until so many have a proven fix, and prints how many stated results hold."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.published.fixes", description=__doc__)
    parser.add_argument("--draw", default="")
    parser.add_argument("--first", type=int, default=15, help="number of cases with a proven fix")
    parser.add_argument("--budget", type=float, default=15.0, help="processor seconds for each examination")
    parser.add_argument("--out", type=Path, default=Path("build/published"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cases = sorted(select("faulty"), key=lambda c: hashlib.sha256((options.draw + c.id).encode()).hexdigest())
    with_fix, compared, within, better = 0, 0, 0, 0
    for case in cases:
        if with_fix >= options.first:
            break
        try:
            row = check_case(case, options.budget)
        except (SkippedCase, gnomon.InputError) as reason:
            print(f"{case.id}: {reason}")
            continue
        with (options.out / "fixes.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        with_fix += bool(row["fixes"])
        for fix in row["fixes"]:
            print(f"{case.id}: {fix['fix']}: {fix['before']:.3f} -> {fix['after']:.3f}, plain loop {fix['plain']}")
        known = [fix for fix in row["fixes"] if fix["plain"] is not None]
        compared += len(known)
        within += sum(fix["within"] for fix in known)
        better += sum(fix["better"] for fix in known)
        print(
            f"  {with_fix} cases; {within} of {compared} within {MARGIN:.0%}, {better} better than before", flush=True
        )


if __name__ == "__main__":
    main()
