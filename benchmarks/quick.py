"""The ratios of the scoreboard on small workloads, in one run of at most ten minutes: `make bench-quick`.

Every peer runs in an environment of its own, `benchmarks/peers/.venv` (neural-tangents) and `.venv-torch` (the others);
one that is missing, or that fails, is skipped with a sentence. Both sides run in turn. A ratio above 1 means that
gnomon takes less time. Small workloads favor neither side in particular, but their ratios are not those of the
scoreboard's own commands.

    PYTHONPATH=. python benchmarks/quick.py [--only captum]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from measure import alternate, inputs, record
from torch import nn

HERE = Path(__file__).parent
TORCH_PEERS = Path(os.environ.get("GNOMON_TORCH_PEERS", HERE / "peers" / ".venv-torch" / "bin" / "python"))
LONGEST = 600.0
"""Seconds after which no further comparison begins."""
Row = tuple[str, float, float]


class SkippedError(Exception):
    """A peer cannot run here."""


def neural_tangents() -> Iterator[Row]:
    """Kernels of infinitely wide networks, by compiled loops, which repeated calls use as soon as they are compiled."""
    import peer
    from workloads import LAW, convolutional, dense

    import gnomon

    if not Path(peer.PYTHON).exists():
        raise SkippedError(f"{peer.PYTHON} is missing")
    with peer.Peer() as other:
        for depth in (3, 10, 30):
            (net, words), x = dense(depth, 64), inputs((64,), 2000)[0]
            limit = gnomon.Limit(net, init=LAW, parametrization="ntk", dtype=torch.float32, compiled=True)
            limit.ntk(x)
            other.warm(words, [64], 2000)
            ask = partial(other.seconds, words, [64], 2000)
            yield f"dense NTK with biases, depth {depth}", *alternate(partial(limit.ntk, x), ask, repetitions=3)
        (net, words), x = convolutional("cc", 8), inputs((8, 8, 3), 60)[0]
        limit = gnomon.Limit(net, init=LAW, parametrization="ntk", dtype=torch.float32, compiled=True)
        limit.ntk(x)
        other.warm(words, [8, 8, 3], 60)
        ask = partial(other.seconds, words, [8, 8, 3], 60)
        yield "2 convolutions and GAP, 8x8", *alternate(partial(limit.ntk, x), ask, repetitions=3)


def torch_func() -> Iterator[Row]:
    """Kernels of finite networks."""
    from bench_tangent import by_torch_func, mlp

    from gnomon.tangent import ntk

    net, x = mlp(256, 10), torch.randn(64, 784)
    mine, theirs = partial(ntk, net, x), partial(by_torch_func, net, x)
    mine(), theirs()
    yield "empirical NTK, 64 points, 10 outputs", *alternate(mine, partial(seconds_of, theirs), repetitions=3)


def kymatio() -> Iterator[Row]:
    """Scattering transforms."""
    import bench_scattering

    check_package("kymatio")
    bench_scattering.KYMATIO = str(TORCH_PEERS)
    for name in ("2d 128x3x32x32 J=2", "1d 8x32768 J=8 Q=8"):
        both = bench_scattering.compare(name, 3, "1")
        yield f"scattering {name}", both["gnomon"][0], both["kymatio"][0]


def curvlinops() -> Iterator[Row]:
    """Products with the Hessian, and what is computed from them."""
    import bench_curvature

    check_package("curvlinops")
    mine = bench_curvature.alone(sys.executable, HERE / "bench_curvature.py", "--alone", "hessian")
    theirs = bench_curvature.alone(TORCH_PEERS, HERE / "peers" / "curvature.py", "hessian")
    for name, seconds in mine["seconds"].items():
        yield f"Hessian, {name}", seconds, theirs["seconds"][name]


def captum() -> Iterator[Row]:
    """Attribution maps; both sides in this process, with one torch."""
    from attribution_networks import SAMPLES, STEPS, in_turns, problems

    from gnomon.attribution import gradient, integrated_gradients

    where = check_package("captum")
    sys.path += [str(Path(where).parents[1]), str(HERE / "peers")]
    import captum_maps

    for name, (net, x, y, layer) in problems().items():
        if x.is_floating_point():
            theirs = captum_maps.images(net, x, y, layer, STEPS, SAMPLES)
            own = {"gradient": gradient, "integrated gradients": partial(integrated_gradients, path_points=STEPS)}
            for method, run in own.items():
                _, (mine, *taken) = in_turns(partial(run, net, x, y), *theirs[method])
                yield f"{method}, {name}", mine, min(taken)


def autoattack() -> Iterator[Row]:
    """Robust accuracy of a classifier of digits; the values of both are in the name of the row."""
    from sklearn.datasets import load_digits

    from gnomon.robustness import robust_accuracy

    check_package("pyautoattack")
    torch.manual_seed(0)
    x, y = (torch.tensor(part) for part in load_digits(return_X_y=True))
    x = (x / 16).float().view(-1, 1, 8, 8)
    net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for step in range(300):
        rows = torch.arange(64 * step, 64 * step + 64) % 1500
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
        optimizer.step()
    x, y, eps = x[1500:1600], y[1500:1600], 0.1
    start = time.process_time()
    mine = robust_accuracy(net.eval(), (x, y), eps=eps).value
    own = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.pt"
        torch.save((net, x, y), file)
        told = ask_peer(ATTACK, str(file), str(eps))
    yield f"robust accuracy {mine:.2f}, AutoAttack {told['robust']:.2f}", own, told["seconds"]


ATTACK = """
import json, sys, time, torch
from pyautoattack import AutoAttack
net, x, y = torch.load(sys.argv[1], weights_only=False)
start = time.process_time()
attack = AutoAttack(net, norm="Linf", eps=float(sys.argv[2]), version="standard", seed=0)
attack.verbose = False
found = attack.run_standard_evaluation(x, y, batch_size=100)
found = found[0] if isinstance(found, tuple) else found
with torch.no_grad():
    robust = float((net(found).argmax(1) == y).double().mean())
print(json.dumps({"robust": robust, "seconds": time.process_time() - start}))
"""
COMPARISONS = {
    "neural-tangents": neural_tangents, "torch.func": torch_func, "kymatio": kymatio, "curvlinops": curvlinops,
    "captum": captum, "AutoAttack": autoattack,
}  # fmt: skip


def seconds_of(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ask_peer(code: str, *arguments: str):
    """What Python code prints last in the environment of the peers, as JSON."""
    run = subprocess.run([TORCH_PEERS, "-W", "ignore", "-c", code, *arguments], capture_output=True, text=True)
    if run.returncode:
        raise SkippedError((run.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(run.stdout.splitlines()[-1])


def check_package(name: str) -> str:
    """Returns the file of a package of the peers; raises an error if it is not installed."""
    if not TORCH_PEERS.exists():
        raise SkippedError(f"{TORCH_PEERS} is missing")
    return ask_peer(f"import json, {name}; print(json.dumps({name}.__file__))")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=COMPARISONS, default=list(COMPARISONS))
    rows, skipped, start = [], [], time.perf_counter()
    for peer in parser.parse_args().only:
        try:
            if time.perf_counter() - start > LONGEST:
                raise SkippedError(f"the other comparisons took {LONGEST:.0f} s")
            for name, mine, theirs in COMPARISONS[peer]():
                rows.append([peer, name, f"{1e3 * mine:.1f} ms", f"{1e3 * theirs:.1f} ms", f"{theirs / mine:.2f}x"])
                print(" | ".join(rows[-1]), flush=True)
        except (Exception, SystemExit) as reason:  # one peer's failure does not end the run
            skipped.append(f"{peer} is skipped: {reason}.")
            print(skipped[-1], flush=True)
    load, took = os.getloadavg()[0], time.perf_counter() - start
    note = f"Small workloads; {took:.0f} s in all, load of the machine at the end {load:.1f}. {' '.join(skipped)}"
    record("quick", "Quick comparison", ["peer", "what", "gnomon", "peer's time", "ratio"], rows, note)


if __name__ == "__main__":
    main()
