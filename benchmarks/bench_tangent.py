"""The empirical kernel against torch.func, plain backward passes and neural-tangents, in one run.

    python benchmarks/bench_tangent.py [--peer path/to/peer/python] [--threads 2] [--only mlp|cnn|wide]

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
from torch import nn
from torch.func import functional_call, jacrev, vmap

from gnomon.tangent import ntk

HERE = Path(__file__).parent
PEER = HERE / "peers" / "nt" / "bin" / "python"


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


def neural_tangents(python, name, repetitions):
    if not python.exists():
        print(f"  neural-tangents: no peer environment at {python}, skipped")
        return None
    script = str(HERE / "peers" / "neural_tangents_ntk.py")
    run = subprocess.run([str(python), script, name, str(repetitions)], capture_output=True, text=True)
    if run.returncode:
        print(f"  neural-tangents: failed ({run.stderr.strip().splitlines()[-1]}), skipped")
        return None
    return json.loads(run.stdout.strip().splitlines()[-1])


def report(times, ours, speed, operations, peer):
    speed = max(speed, matrix_product_speed())  # the machine may have been busy before
    for name, seconds in times.items():
        print(f"  {name:24s} {seconds * 1e3:9.1f} ms   {seconds / times[ours]:6.2f} x gnomon")
    print(f"  {operations / 1e9:.1f} GFLOP must happen; {operations / speed / times[ours]:.0%} of the limit")
    for name, seconds in (peer or {}).items():
        label = "nt " + name
        if isinstance(seconds, str):
            print(f"  {label:24s} failed: {seconds}")
            continue
        print(f"  {label:24s} {seconds * 1e3:9.1f} ms   {seconds / times[ours]:6.2f} x gnomon (own process)")


def bench_mlp(peer, speed):
    net, x = mlp(512, 1), torch.randn(256, 784)
    print("MLP 784-512x3-1, n = 256, float32")
    error = (ntk(net, x) - by_torch_func(net, x)).abs().max() / ntk(net, x).abs().max()
    times = race({"gnomon.ntk": lambda: ntk(net, x), "torch.func": lambda: by_torch_func(net, x)}, 8)
    fine = race({"gnomon.ntk": lambda: ntk(net, x)}, 30)
    times["gnomon.ntk"] = min(times["gnomon.ntk"], fine["gnomon.ntk"])
    report(
        times, "gnomon.ntk", speed, mlp_operations([784, 512, 512, 512, 1], 256, 1), neural_tangents(peer, "mlp", 20)
    )
    print(f"  largest relative difference to torch.func {error:.1e}")


def bench_cnn(peer, speed):
    net, x = cnn(), torch.randn(64, 3, 32, 32)
    size = sum(p.numel() for p in net.parameters())
    print(f"CNN of 3 convolutions, 10 outputs, {size} parameters, n = 64, 32x32, float32")
    contenders = {
        "gnomon.ntk": lambda: ntk(net, x),
        "torch.func": lambda: by_torch_func(net, x),
        "10 backward passes": lambda: plain_backwards(net, x),
    }
    times = race(contenders, 3)
    report(times, "gnomon.ntk", speed, cnn_operations(64, 10), neural_tangents(peer, "cnn", 3))


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
    print(f"MLP 784-1024x3-10, n = 256, {p} parameters, float32")
    used = f"process peak {peak / 2**20:.2f} GiB, of which {(peak - before) / 2**20:.2f} GiB the kernel's"
    print(f"  gnomon.ntk {seconds * 1e3:.1f} ms; {used}")
    print(f"  the Jacobian alone would hold {256 * 10 * p * 4 / 2**30:.1f} GiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, default=PEER, help="Python of an environment with neural-tangents")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only", choices=("mlp", "cnn", "wide"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    speed = matrix_product_speed()
    print(f"torch {torch.__version__}, {options.threads} threads, matrix product {speed / 1e9:.0f} GFLOP/s")
    if options.only in (None, "mlp"):
        bench_mlp(options.peer, speed)
    if options.only in (None, "wide"):
        bench_wide()
    if options.only in (None, "cnn"):
        bench_cnn(options.peer, speed)


if __name__ == "__main__":
    main()
