"""Robust accuracy of three MNIST classifiers beside pyautoattack 0.2.0 (standard) and foolbox 3.3.4.

    python benchmarks/bench_attacks.py [--shared ../shared] [--n 1000] [--first 0] [--seed 0] [--only plain] [--threat inf 0.1]
                                       [--who gnomon pyautoattack foolbox] [--again gnomon] [--table] [--peers PYTHON]

PYTHON is an environment that has torch, pyautoattack and foolbox (GNOMON_ATTACK_PEERS). One thread each, seconds of
processor time. Each measurement is kept in build/attacks.json, so the benchmark can be run in pieces. The first table holds
1,000 images from the first on and the classifiers of seed 0; runs with another seed go into a second one.
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
from mnist_classifiers import NAMES, ROOT, classifier, mnist

from gnomon.robustness import preflight, robust_accuracy

HERE = Path(__file__).parent
KEPT = ROOT / "build" / "attacks.json"
THREATS = (("inf", 0.1), ("inf", 0.3), ("2", 1.0), ("2", 2.0))
SIDES = ("gnomon", "foolbox", "pyautoattack")


def peer(python, *arguments):
    run = subprocess.run(
        [python, str(HERE / "peers" / "attacks.py"), *map(str, arguments)], capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(f"the peer failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def ours(name, norm, eps, given):
    net = classifier(name, given.shared, given.seed)
    x, y = mnist(given.shared, given.n, "test", given.first)
    trail, start = [], time.process_time()

    def progress(name, left):
        trail.append((time.process_time() - start, left / len(y)))

    mine = robust_accuracy(net, (x, y), eps=eps, norm=norm, bounds=(0, 1), progress=progress)
    seconds = time.process_time() - start
    trail.append((seconds, mine.value))
    told = "masked" if preflight(net, (x, y), eps=eps, norm=norm).masked or not mine.trusted else "sound"
    return {"robust": mine.value, "seconds": seconds, "told": told, "broken": list(mine.broken), "trail": trail}


def measured(name, norm, eps, who, given):
    """From the disk where it is there."""
    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    sample = given.n, given.first, given.seed
    key = f"{name} {norm} {eps:g} {' '.join(map(str, sample))} {who}"
    if key not in known or (who in given.again):
        found = ours(name, norm, eps, given) if who == "gnomon" else peer(
            given.peers, given.shared, name, norm, eps, *sample, who)  # fmt: skip
        known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        known[key] = found
        KEPT.write_text(json.dumps(known, indent=1))
        print(key, found, flush=True)
    return known[key]


def reached(mine, peer):
    """Our seconds until no more examples were left than the peer leaves, over all seconds of the peer."""
    seconds = next((at for at, left in mine["trail"] if left <= peer["robust"] + 1e-9), None)
    return "never" if seconds is None else f"{seconds / peer['seconds']:.2f}"


def beside(mine, peer):
    """What a peer leaves, our time over its time, and our time until we leave no more; dashes where it was not run."""
    if peer is None:
        return ["-"] * 3
    return [f"{peer['robust']:.1%}", f"{mine['seconds'] / peer['seconds']:.2f}", reached(mine, peer)]


def rows_of(known, samples):
    """A row for each classifier, threat and sample (images, first image, seed) of which ours and a peer's side are known."""
    for name in NAMES:
        for norm, eps in THREATS:
            for sample in samples:
                mine, box, auto = (
                    known.get(f"{name} {norm} {eps:g} {' '.join(map(str, sample))} {who}") for who in SIDES
                )
                if mine and (box or auto):
                    yield [name, f"{norm} {eps:g}", str(sample[0]), f"{mine['robust']:.1%}", f"{mine['seconds']:.1f} s",
                           *beside(mine, auto), *beside(mine, box), mine["told"]]  # fmt: skip


def table():
    known = json.loads(KEPT.read_text())
    columns = ["classifier", "threat", "images", "gnomon", "time", "pyautoattack", "time over its", "until as low",
               "foolbox", "time over its", "until as low", "preflight"]  # fmt: skip
    note = """Robust accuracy on the first test images of MNIST; lower means a stronger attack. One thread, processor time.
`until as low`: gnomon's time until as few examples are left as the peer leaves in the end, over the peer's whole time.
pyautoattack: its standard ensemble (APGD on cross-entropy, targeted APGD, targeted FAB, Square) in batches of 250. foolbox
has no ensemble: PGD of 100 steps, then the minimum-norm attack FMN of 300 steps on the rest, each in batches of 250. The
sides ran at different times; repeated runs differ by up to a third of processor time."""
    unseen = """The same on images and classifiers that the ensemble was not tuned on: test images from number 5,000 on, each classifier
trained again with another seed."""
    title = "Robust accuracy compared with pyautoattack and foolbox"
    if rows := list(rows_of(known, [(1000, 0, 0)])):
        record("attacks", title, columns, rows, note)
    samples = sorted({tuple(map(int, key.split()[3:6])) for key in known if key.split()[5] != "0"})
    if rows := list(rows_of(known, samples)):
        record("attacks", f"{title}, other images", columns, rows, unseen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", default=str(HERE.parents[1] / "shared"))
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first test image")
    parser.add_argument("--seed", type=int, default=0, help="of the training of the classifiers")
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--threat", nargs=2, metavar=("NORM", "EPS"))
    parser.add_argument("--who", nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--again", nargs="*", choices=SIDES, default=())
    parser.add_argument("--table", action="store_true", help="only write the table of what is known")
    parser.add_argument("--peers", default=os.environ.get("GNOMON_ATTACK_PEERS", ""))
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.table:
        table()
        return
    if not given.peers and set(given.who) != {"gnomon"}:
        sys.exit("name the environment of the peers by --peers or GNOMON_ATTACK_PEERS")
    threats = THREATS if given.threat is None else [(given.threat[0], float(given.threat[1]))]
    for name in NAMES:
        for threat in threats:
            for who in given.who:
                if given.only in (None, name):
                    measured(name, *threat, who, given)
    table()


if __name__ == "__main__":
    main()
