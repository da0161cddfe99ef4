"""Processor time of `gnomon watch` relative to the plain script, at two lengths of training.

    python -m evaluation.watch_scripts.overhead --checkouts FOLDER --mnist mnist.npz

Runs with and without observation alternate. With the time p of a plain run and w of a watched run, two lengths give a
fixed cost and a share of the running time:

    w - p = fixed + share * p                                                                            (1)
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from evaluation.watch_scripts.run import prepare, run
from evaluation.watch_scripts.scripts import SCRIPTS

RUN_LENGTHS = {"10 s": (("--epochs", "24"), 3), "60 s": (("--epochs", "160"), 2)}
"""Arguments of the script mnist_rnn on 4,000 examples, and the number of pairs of runs."""


def main() -> None:
    """Prints the seconds of all runs, the ratio of their medians, and the fixed cost and share of equation (1)."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.watch_scripts.overhead")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--mnist", type=Path, required=True)
    parser.add_argument("--only", choices=tuple(RUN_LENGTHS), help="one length, without equation (1)")
    options = parser.parse_args()
    script = next(one for one in SCRIPTS if one.id == "mnist_rnn")
    points = []
    for length, (arguments, pairs) in RUN_LENGTHS.items():
        if options.only not in (None, length):
            continue
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(pairs):
            print(f"{length}: {seconds}", file=sys.stderr, flush=True)
            for watched in (False, True):
                with tempfile.TemporaryDirectory() as place:
                    folder = prepare(script, options.checkouts, Path(place))
                    seconds[watched].append(
                        run(script, folder, options.mnist, watched=watched, arguments=arguments).cpu
                    )
        plain, with_watch = (statistics.median(seconds[watched]) for watched in (False, True))
        points.append((plain, with_watch - plain))
        row = {"length": length, "plain": seconds[False], "watched": seconds[True], "ratio": with_watch / plain}
        print(json.dumps(row), flush=True)
    if len(points) < len(RUN_LENGTHS):
        return
    (p, extra), (longer, more) = points
    share = (more - extra) / (longer - p)
    print(json.dumps({"share": share, "fixed seconds": extra - share * p}))


if __name__ == "__main__":
    main()
