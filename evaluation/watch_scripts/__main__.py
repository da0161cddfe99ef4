"""The command `python -m evaluation.watch_scripts`.

    python -m evaluation.watch_scripts --checkouts FOLDER --mnist mnist.npz                  every script, once each way
    python -m evaluation.watch_scripts ... --repeat 3                                        best of three, interleaved
    python -m evaluation.watch_scripts ... --short                                           with few steps
    python -m evaluation.watch_scripts ... --mistakes                                        the planted mistakes
    python -m evaluation.watch_scripts ... --further                                         the second list of them
    python -m evaluation.watch_scripts ... --fresh                                           the third list of them
    python -m evaluation.watch_scripts ... --second-fresh                                    the fourth list of them
    python -m evaluation.watch_scripts ... --only vae --json results.jsonl                   one script

FOLDER has checkouts of pytorch/examples (as ``examples``), nanoGPT, makemore and minGPT.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from evaluation.watch_scripts.fresh_mistakes import FRESH_MISTAKES
from evaluation.watch_scripts.further_mistakes import FURTHER_MISTAKES
from evaluation.watch_scripts.mistakes import MISTAKES, Mistake
from evaluation.watch_scripts.run import Run, prepare, run
from evaluation.watch_scripts.scripts import MNIST_SIZE, SCRIPTS, SHORT, Script
from evaluation.watch_scripts.second_fresh_mistakes import SECOND_FRESH_MISTAKES


def main() -> None:
    """Runs what the options select and prints one line for each."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.watch_scripts")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--mnist", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--mistakes", action="store_true")
    parser.add_argument("--further", action="store_true", help="the second list of planted mistakes")
    parser.add_argument("--fresh", action="store_true", help="the third list of planted mistakes")
    parser.add_argument("--second-fresh", action="store_true", help="the fourth list of planted mistakes")
    parser.add_argument("--short", action="store_true", help="the sizes of the runs with a planted mistake")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lists = ((options.mistakes, MISTAKES), (options.further, FURTHER_MISTAKES), (options.fresh, FRESH_MISTAKES))
    lists += ((options.second_fresh, SECOND_FRESH_MISTAKES),)
    planted = [mistake for wanted, mistakes in lists if wanted for mistake in mistakes]
    cases: list[Any] = [*(planted or SCRIPTS)]
    for case in cases:
        if options.only and case.id not in options.only.split(","):
            continue
        row = _mistake(case, options) if isinstance(case, Mistake) else _script(case, options)
        print(json.dumps(row), flush=True)
        if options.json is not None:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _script(script: Script, options: Any) -> dict[str, Any]:
    """The script with and without watching, in turn: are the weights equal, and how much longer does it take?"""
    plain: list[Run] = []
    watched: list[Run] = []
    for _ in range(options.repeat):
        for runs, watching in ((plain, False), (watched, True)):
            with tempfile.TemporaryDirectory() as place:
                folder = prepare(script, options.checkouts, Path(place))
                short = {"arguments": SHORT.get(script.id, ()), "train": MNIST_SIZE} if options.short else {}
                runs.append(run(script, folder, options.mnist, watched=watching, **short))
    last = watched[-1]
    row = {"script": script.id, "code": plain[-1].code, "watched code": last.code}
    row["identical"] = bool(plain[-1].hashes) and all(one.hashes == plain[-1].hashes for one in watched)
    row["steps"] = _value(last, "steps-taken")
    row["own share"] = round((_value(last, "overhead") or 0.0) / 100, 4)
    for name in ("wall", "cpu"):
        before, after = (min(getattr(one, name) for one in runs) for runs in (plain, watched))
        row |= {f"{name} s": round(before, 2), f"{name} ratio": round(after / before, 3)}
    row["findings"] = _findings(last)
    if last.report is None or plain[-1].code:
        row["errors"] = (last.errors or plain[-1].errors)[-600:]
    return row


def _mistake(mistake: Mistake, options: Any) -> dict[str, Any]:
    """A planted mistake: is it named?"""
    script = next(one for one in SCRIPTS if one.id == mistake.script)
    with tempfile.TemporaryDirectory() as place:
        folder = prepare(script, options.checkouts, Path(place), mistake)
        result = run(script, folder, options.mnist, watched=True, arguments=SHORT.get(script.id, ()), train=MNIST_SIZE)
    found = _findings(result)
    named = any(kind in mistake.kinds for _, kind, _ in found)
    row = {"mistake": mistake.id, "script": script.id, "named": named, "code": result.code, "findings": found}
    return row | ({} if named else {"errors": result.errors[-600:]})


def _findings(result: Run) -> list[tuple[str, str, str]]:
    """Level, kind and message of each finding."""
    found = [] if result.report is None else result.report["findings"]
    return [(str(one["level"]), one["kind"], one["message"]) for one in found]


def _value(result: Run, id: str) -> Any:
    sections = [] if result.report is None else result.report["sections"]
    return next((v["value"] for s in sections for v in s["values"] if v["id"] == id), None)


if __name__ == "__main__":
    main()
