"""What kernels cost and what ``cost`` says of it: time of 12 settings, memory of 6, and every activation of torch.nn.

Memory is measured in processes of their own: what a call adds to the resident memory at its peak, the result included.
"""

import subprocess
import sys
import time

import torch
from measure import best_of, ours, record
from sklearn.datasets import load_wine
from torch import nn

import gnomon
from gnomon.models import SelfAttention

F64 = torch.float64
WIDTH = 512

ACTIVATIONS = {
    "ReLU": nn.ReLU, "LeakyReLU": nn.LeakyReLU, "PReLU": nn.PReLU, "RReLU": nn.RReLU, "ReLU6": nn.ReLU6,
    "Threshold": lambda: nn.Threshold(0.1, 0.2), "ELU": nn.ELU, "CELU": nn.CELU, "SELU": nn.SELU, "GELU": nn.GELU,
    "GELU, tanh": lambda: nn.GELU("tanh"), "SiLU": nn.SiLU, "Mish": nn.Mish, "Softplus": nn.Softplus,
    "LogSigmoid": nn.LogSigmoid, "Tanh": nn.Tanh, "Sigmoid": nn.Sigmoid, "Softsign": nn.Softsign,
    "Tanhshrink": nn.Tanhshrink, "Hardtanh": nn.Hardtanh, "Hardswish": nn.Hardswish, "Hardsigmoid": nn.Hardsigmoid,
    "Hardshrink": nn.Hardshrink, "Softshrink": nn.Softshrink,
}  # fmt: skip


def dense(activation, inputs, depth):
    layers = [nn.Linear(inputs, WIDTH)]
    for i in range(depth):
        layers += [activation(), nn.Linear(WIDTH, WIDTH if i + 1 < depth else 1)]
    return nn.Sequential(*layers).eval()


def convolutional(activation, *, pooled):
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1)] if pooled else [nn.Flatten(), nn.Linear(8 * 144, 1)]
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), activation(), nn.Conv2d(8, 8, 3, padding=1), activation(), *head
    ).eval()


def attending(activation):
    return nn.Sequential(
        nn.Linear(8, 32), SelfAttention(32, heads=4), nn.Linear(32, 32), activation(), nn.Flatten(), nn.Linear(320, 1)
    ).eval()


def standardized(n, *shape):
    return torch.randn(n, *shape, dtype=F64, generator=torch.Generator().manual_seed(0))


def raw(n):
    """The wine table as it comes, variances up to 10^5; beyond its 178 rows, copies moved by five percent."""
    wine = torch.tensor(load_wine().data)
    copies = wine.repeat(-(-n // len(wine)), 1)[:n]
    copies[len(wine) :] *= 1 + 0.05 * standardized(max(0, n - len(wine)), wine.shape[1])
    return copies


def activations() -> None:
    rows, x, y, z = [], standardized(1400, 20), standardized(500, 20), raw(500)
    relu = 0.0
    for name, make in ACTIVATIONS.items():
        for depth, few in ((3, x[:64]), (10, y[:64]), (10, z[:64])):  # whatever road is taken, it is compiled
            gnomon.limit(dense(make, few.shape[1], depth)).ntk(few)
        seconds = best_of(lambda: gnomon.limit(dense(make, 20, 3)).ntk(x), 3)
        relu = relu or seconds
        deep = ours(lambda: gnomon.limit(dense(make, 20, 10)).ntk(y))
        wild = ours(lambda: gnomon.limit(dense(make, 13, 10)).ntk(z))
        rows.append([name, f"{seconds:.3f} s", f"{seconds / relu:.1f}", f"{deep:.2f} s", f"{wild:.2f} s"])
        print(rows[-1], flush=True)
    note = (
        "float64 NTK, width 512, PyTorch's own initialization. Each run makes a new limit, so the time includes everything "
        "gnomon computes about an activation, but not compilation (up to half a minute, once per machine). Target: at most "
        "20 times ReLU, at most 10 s."
    )
    columns = ["activation", "3 layers, n = 1400", "of ReLU", "10 layers, 500 rows", "10 layers, 500 raw rows"]
    record("kernels", "Time for every activation of torch.nn", columns, rows, note)


SETTINGS = {
    "dense, ReLU, 3 layers": (lambda: dense(nn.ReLU, 20, 3), lambda: standardized(3000, 20)),
    "dense, ReLU, 3 layers, raw": (lambda: dense(nn.ReLU, 13, 3), lambda: raw(1000)),
    "dense, GELU, 3 layers": (lambda: dense(nn.GELU, 20, 3), lambda: standardized(2000, 20)),
    "dense, tanh, 1 layer, raw": (lambda: dense(nn.Tanh, 13, 1), lambda: raw(60)),
    "dense, tanh, 7 layers": (lambda: dense(nn.Tanh, 20, 7), lambda: standardized(178, 20)),
    "dense, ELU, 3 layers": (lambda: dense(nn.ELU, 20, 3), lambda: standardized(1400, 20)),
    "dense, ELU, 5 layers, raw": (lambda: dense(nn.ELU, 13, 5), lambda: raw(400)),
    "dense, Hardtanh, 3 layers, raw": (lambda: dense(nn.Hardtanh, 13, 3), lambda: raw(500)),
    "convolutional, ReLU, flat": (lambda: convolutional(nn.ReLU, pooled=False), lambda: standardized(200, 3, 12, 12)),
    "convolutional, tanh, pooled": (lambda: convolutional(nn.Tanh, pooled=True), lambda: standardized(20, 3, 12, 12)),
    "convolutional, ELU, flat, raw": (
        lambda: convolutional(nn.ELU, pooled=False), lambda: 255 * standardized(60, 3, 12, 12).sigmoid()),
    "attention, ELU": (lambda: attending(nn.ELU), lambda: standardized(100, 10, 8)),
}  # fmt: skip


def times() -> None:
    rows = []
    for name, (net, data) in SETTINGS.items():
        lim, x = gnomon.limit(net()), data()
        lim(x[:8])  # compiles what is missing
        start = time.perf_counter()
        cost = lim.cost(x)
        asking = time.perf_counter() - start
        seconds = best_of(lambda: gnomon.limit(net())(x), 2)
        row = [name, str(len(x)), f"{cost.seconds:.3f} s", f"{seconds:.3f} s", f"{cost.seconds / seconds:.2f}"]
        rows.append([*row, f"{asking:.2f} s"])
        print(rows[-1], flush=True)
    note = "Target: a ratio between 1/5 and 5. The last column is the time of `cost` itself, without compilation."
    record(
        "kernels",
        "Time predicted by `cost`",
        ["setting", "points", "predicted", "measured", "ratio", "time of cost"],
        rows,
        note,
    )


MEMORY = {
    "dense, ReLU, ntk": ("dense(nn.ReLU, 20, 3)", "standardized(4000, 20)", "ntk", None),
    "dense, tanh, both": ("dense(nn.Tanh, 20, 3)", "standardized(3000, 20)", "both", None),
    "dense, ELU, both, 400 MiB": ("dense(nn.ELU, 20, 2)", "standardized(3000, 20)", "both", 400 * 2**20),
    "dense, ELU, ntk, 120 MiB": ("dense(nn.ELU, 20, 2)", "standardized(2500, 20)", "ntk", 120 * 2**20),
    "convolutional, ELU, ntk": ("convolutional(nn.ELU, pooled=False)", "standardized(150, 3, 12, 12)", "ntk", None),
    "attention, ELU, both": ("attending(nn.ELU)", "standardized(200, 10, 8)", "both", None),
}

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from bench_cost import *

def bytes_of(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])

x = {data}
lim = gnomon.limit({net}, memory={memory})
kinds = ("nngp", "ntk") if {kind!r} == "both" else ({kind!r},)
run = lim if {kind!r} == "both" else getattr(lim, {kind!r})
need = lim.cost(x, kind=kinds)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = bytes_of("VmRSS")
run(x)
print(need.memory, bytes_of("VmHWM") - before)
"""


def memory() -> None:
    from pathlib import Path

    rows = []
    for name, (net, data, kind, budget) in MEMORY.items():
        program = PROGRAM.format(folder=str(Path(__file__).parent), data=data, net=net, kind=kind, memory=budget)
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        said, peak = map(float, run.stdout.split())
        rows.append([name, f"{said / 2**20:.0f} MiB", f"{peak / 2**20:.0f} MiB", f"{peak / said:.2f}"])
        print(rows[-1], flush=True)
    note = "Target: at most 1.15. If a memory budget is given, the ratio is to the budget."
    record("kernels", "Memory predicted by `cost`", ["setting", "predicted", "peak", "ratio"], rows, note)


if __name__ == "__main__":
    chosen = {"activations": activations, "times": times, "memory": memory}
    for part in sys.argv[1:] or chosen:
        chosen[part]()
