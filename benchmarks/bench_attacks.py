"""Robust accuracy of three MNIST classifiers beside pyautoattack 0.2.0 (standard) and foolbox 3.3.4, in one run.

    python benchmarks/bench_attacks.py [--shared ../shared] [--n 1000] [--only plain] [--peers PYTHON]

PYTHON is an environment that has torch, pyautoattack and foolbox (GNOMON_ATTACK_PEERS). One thread each.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import torch
from measure import record
from mnist_classifiers import NAMES, classifier, mnist

from gnomon.geometry import preflight, robust_accuracy

HERE = Path(__file__).parent
THREATS = (("inf", 0.1), ("inf", 0.3), ("2", 1.0), ("2", 2.0))


def peer(python, *arguments):
    run = subprocess.run(
        [python, str(HERE / "peers" / "attacks.py"), *map(str, arguments)], capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(f"the peer failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def row(name, norm, eps, given):
    net = classifier(name, given.shared)
    x, y = mnist(given.shared, given.n, "test")
    start = time.perf_counter()
    mine = robust_accuracy(net, (x, y), eps=eps, norm=norm, bounds=(0, 1))
    seconds = time.perf_counter() - start
    told = "masked" if preflight(net, (x, y), eps=eps, norm=norm).masked or not mine.trusted else "sound"
    others = {p: peer(given.peers, given.shared, name, norm, eps, given.n, p) for p in ("pyautoattack", "foolbox")}
    auto, box = others["pyautoattack"], others["foolbox"]
    cells = [name, f"{norm} {eps:g}", f"{mine.value:.1%}", f"{auto['robust']:.1%}", f"{box['robust']:.1%}",
             f"{seconds:.0f} s", f"{seconds / auto['seconds']:.2f}", f"{seconds / box['seconds']:.2f}", told]  # fmt: skip
    print(*cells, dict(mine.broken), flush=True)
    return cells


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", default=str(HERE.parents[1] / "shared"))
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--peers", default=os.environ.get("GNOMON_ATTACK_PEERS", ""))
    given = parser.parse_args()
    if not given.peers:
        sys.exit("name the environment of the peers by --peers or GNOMON_ATTACK_PEERS")
    torch.set_num_threads(1)
    rows = [row(name, *threat, given) for name in NAMES if given.only in (None, name) for threat in THREATS]
    columns = ["classifier", "threat", "gnomon", "pyautoattack", "foolbox", "time", "time over pyautoattack's",
               "time over foolbox's", "preflight"]  # fmt: skip
    note = f"Robust accuracy on {given.n} test images of MNIST, lower is a stronger attack; one thread."
    record("Robust accuracy beside pyautoattack and foolbox", columns, rows, note)


if __name__ == "__main__":
    main()
