"""The empirical kernel against torch.func, plain backward passes and neural-tangents, in one run.

    python benchmarks/bench_tangent.py [--threads 2] [--only mlp|cnn|wide]

Repetitions alternate between the contenders and the least time of each counts. "of the limit" is the time that the
arithmetic which must happen would take at the speed of this machine's matrix product, over the time taken.
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
from peer import PYTHON
from torch import nn
from torch.func import functional_call, jacrev, vmap

from gnomon.tangent import ntk

HERE = Path(__file__).parent
COLUMNS = ["contender", "time", "ratio to gnomon.ntk", "target"]


def mlp(width, outputs):
    sizes = [784, width, width, width]
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(width, outputs))


def cnn():
    layers = []
    for a, b in ((3, 64), (64, 64), (64, 128)):
        layers += [nn.Conv2d(a, b, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))


def by_torch_func(net, x):
    """The Jacobian of every example, contracted parameter by parameter: the tutorial's way, trace only."""
    params = {name: p.detach() for name, p in net.named_parameters()}

    def single(p, one):
        return functional_call(net, p, (one.unsqueeze(0),)).squeeze(0)

    jacobian = vmap(jacrev(single), (None, 0))(params, x)
    total = sum(torch.einsum("iap,jap->ij", j.flatten(2), j.flatten(2)) for j in jacobian.values())
    return total / next(iter(jacobian.values())).shape[1]


def plain_backwards(net, x):
    y = net(x)
    return [torch.autograd.grad(y[:, o].sum(), list(net.parameters()), retain_graph=True) for o in range(y.shape[1])]


def race(contenders, repetitions):
    """Least seconds of each contender, repetitions alternating; one round before the clock starts."""
    for run in contenders.values():
        run()
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repetitions):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def matrix_product_speed():
    a = torch.randn(2048, 2048)
    a @ a
    return 2 * 2048**3 / min(race({"product": lambda: a @ a}, 5).values())


def mlp_operations(sizes, n, k):
    """Forward, k backwards to the hidden layers, and two Gram matrices per layer; products alone."""
    pairs = list(zip(sizes, sizes[1:], strict=False))
    forward = sum(2 * n * a * b for a, b in pairs)
    back = sum(2 * n * a * b for a, b in pairs[1:]) * k
    return forward + back + sum(2 * n * n * (a + k * b) for a, b in pairs)


def cnn_operations(n, k, sites=1024):
    """Forward, k backwards to each convolution's output, per-example weight gradients, and their products.

    The weight gradients of the last convolution, which the outputs see through its mean, are formed once for all k.
    """
    first, second, last = (9 * a * b for a, b in ((3, 64), (64, 64), (64, 128)))
    forward = 2 * n * sites * (first + second + last)
    back = 2 * n * sites * (second + last) * k
    formed = (first + second) * k + last
    return forward + back + 2 * n * sites * formed + 2 * n * n * formed


def neural_tangents(name, repetitions):
    """Seconds of each implementation of the peer, in its own process; a text where one failed."""
    script = str(HERE / "peers" / "neural_tangents_ntk.py")
    run = subprocess.run([PYTHON, script, name, str(repetitions)], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{PYTHON} {script} failed; make bench builds its environment:\n{run.stderr}")
    return {f"neural-tangents, {key}": value for key, value in json.loads(run.stdout.splitlines()[-1]).items()}


def table(title, times, wanted, note):
    """Rows of times, beside the ratio to gnomon's."""
    ours = times["gnomon.ntk"]
    rows = []
    for name, seconds in times.items():
        failed = isinstance(seconds, str)
        cells = [f"failed: {seconds}", "-"] if failed else [f"{seconds * 1e3:.1f} ms", f"{seconds / ours:.2f}"]
        rows.append([name, *cells, wanted.get(name, "-")])
    record("tangent", title, COLUMNS, rows, note)


def fraction(operations, seconds, speed):
    """The share of the limit, as words."""
    speed = max(speed, matrix_product_speed())  # the machine may have been busy before
    return (
        f"{operations / 1e9:.1f} GFLOP must happen: {operations / speed / seconds:.0%} of the matrix product's speed."
    )


def bench_mlp(speed):
    net, x = mlp(512, 1), torch.randn(256, 784)
    error = (ntk(net, x) - by_torch_func(net, x)).abs().max() / ntk(net, x).abs().max()
    times = race({"gnomon.ntk": lambda: ntk(net, x), "torch.func": lambda: by_torch_func(net, x)}, 8)
    fine = race({"gnomon.ntk": lambda: ntk(net, x)}, 30)
    times["gnomon.ntk"] = min(times["gnomon.ntk"], fine["gnomon.ntk"])
    times |= neural_tangents("mlp", 20)
    share = fraction(mlp_operations([784, 512, 512, 512, 1], 256, 1), times["gnomon.ntk"], speed)
    wanted = {"torch.func": "at least 80"} | {name: "above 1" for name in times if name.startswith("neural")}
    note = f"{share} Largest relative difference to torch.func: {error:.1e}."
    table("Empirical NTK, MLP 784-512x3-1, n = 256, float32", times, wanted, note)


def bench_cnn(speed):
    net, x = cnn(), torch.randn(64, 3, 32, 32)
    size = sum(p.numel() for p in net.parameters())
    contenders = {
        "gnomon.ntk": lambda: ntk(net, x),
        "torch.func": lambda: by_torch_func(net, x),
        "10 backward passes": lambda: plain_backwards(net, x),
    }
    error = (ntk(net, x) - by_torch_func(net, x)).abs().max() / ntk(net, x).abs().max()
    times = race(contenders, 5) | neural_tangents("cnn", 3)
    wanted = {"torch.func": "at least 1.8", "10 backward passes": "at least 0.77 (1 / 1.3)"}
    wanted |= {name: "above 1" for name in times if name.startswith("neural")}
    note = f"{fraction(cnn_operations(64, 10), times['gnomon.ntk'], speed)} Largest relative difference to torch.func: {error:.1e}."
    table(f"Empirical NTK, CNN of {size} parameters, 10 outputs, n = 64, 32x32, float32", times, wanted, note)


def bench_wide():
    """In a process of its own, so that the peak memory is this computation's."""
    code = "import bench_tangent; bench_tangent.wide()"
    path = os.pathsep.join(str(Path(p).resolve()) for p in [HERE, *sys.path] if p)
    environment = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    print(run.stdout or run.stderr, end="")


def peak_memory():
    """Peak resident memory of this process in KiB; `getrusage` would count the parent's before the fork."""
    with open("/proc/self/status") as lines:
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def wide():
    net, x = mlp(1024, 10), torch.randn(256, 784)
    p = sum(w.numel() for w in net.parameters())
    before = peak_memory()
    seconds = min(race({"ntk": lambda: ntk(net, x)}, 5).values())
    peak = peak_memory()
    rows = [
        ["time of gnomon.ntk", f"{seconds * 1e3:.1f} ms"],
        ["peak memory of the process", f"{peak / 2**20:.2f} GiB (wanted: under 2 GB)"],
        ["of which the kernel's", f"{(peak - before) / 2**20:.2f} GiB"],
        ["the Jacobian alone would hold", f"{256 * 10 * p * 4 / 2**30:.1f} GiB"],
    ]
    record(
        "tangent",
        f"Empirical NTK, MLP 784-1024x3-10 of {p} parameters, n = 256, float32",
        ["what", "measured"],
        rows,
        "",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only", choices=("mlp", "cnn", "wide"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    speed = matrix_product_speed()
    print(f"torch {torch.__version__}, {options.threads} threads, matrix product {speed / 1e9:.0f} GFLOP/s")
    if options.only in (None, "mlp"):
        bench_mlp(speed)
    if options.only in (None, "wide"):
        bench_wide()
    if options.only in (None, "cnn"):
        bench_cnn(speed)


if __name__ == "__main__":
    main()
