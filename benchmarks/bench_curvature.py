"""Hessian and Gauss-Newton matrix of a network of 100,000 parameters beside curvlinops 3.0.1, in one run.

    python benchmarks/bench_curvature.py [--peers PYTHON]

PYTHON is an environment that has torch and curvlinops-for-pytorch (GNOMON_CURVATURE_PEERS). One thread each, seconds of
processor time; each side in a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
from curvature_workload import loss, network_and_data
from measure import record

HERE = Path(__file__).parent


def ours(kind):
    from gnomon.landscape import gauss_newton, hessian

    torch.set_num_threads(1)
    net, x, y = network_and_data()
    operator = {"hessian": hessian, "ggn": gauss_newton}[kind](net, (x, y), loss=loss())
    found, times = {"size": operator.size}, {}
    v = torch.randn(operator.size)
    operator.matvec(v)
    start = time.process_time()
    for _ in range(10):
        operator.matvec(v)
    times["10 products"] = time.process_time() - start
    start = time.process_time()
    found["top 5"] = operator.top(5).values.tolist()
    times["top 5"] = time.process_time() - start
    start = time.process_time()
    found["trace"] = operator.trace(products=60).value
    times["trace, 60 products"] = time.process_time() - start
    start = time.process_time()
    density = operator.density(steps=40, starts=1)
    found["density, mean"] = density.mean
    times["density, 40 products"] = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"found": found, "seconds": times, "peak": peak}


def alone(python, *arguments):
    run = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{arguments[0]} failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default=os.environ.get("GNOMON_CURVATURE_PEERS", ""))
    parser.add_argument("--alone", choices=("hessian", "ggn"))
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(ours(given.alone)))
        return
    if not given.peers:
        sys.exit("name the environment of the peer by --peers or GNOMON_CURVATURE_PEERS")
    rows = []
    for kind in ("hessian", "ggn"):
        mine = alone(sys.executable, __file__, "--alone", kind)
        peer = alone(given.peers, HERE / "peers" / "curvature.py", kind)
        apart = max(abs(a - b) / abs(b) for a, b in zip(mine["found"]["top 5"], peer["found"]["top 5"], strict=True))
        for name, seconds in mine["seconds"].items():
            rows.append([kind, name, f"{seconds:.2f} s", f"{seconds / peer['seconds'][name]:.2f}", "at most 1.0"])
        rows.append(
            [kind, "peak memory", f"{mine['peak'] / 1024:.0f} MB", f"{mine['peak'] / peer['peak']:.2f}", "at most 1.0"]
        )
        rows.append([kind, "largest difference of the top 5", f"{apart:.1e}", "-", "-"])
        size = mine["found"]["size"]
        for name, unit, noise in (("trace", 1, "random"), ("density, mean x p", size, "one random start")):
            a, b = (side["found"][name.removesuffix(" x p")] * unit for side in (mine, peer))
            rows.append([kind, name, f"{a:.4g}", f"{a / b:.2f}", f"1 up to chance ({noise})"])
    columns = ["matrix", "what", "gnomon", "ratio to curvlinops 3.0.1", "target"]
    note = "Cross-entropy of 256 images; one thread each, processor time."
    record("curvature", "Curvature compared with curvlinops", columns, rows, note)


if __name__ == "__main__":
    main()
