"""Seconds of the first and of later kernels, in fresh processes with empty caches: compiled loops, and bytecode of gnomon.

Processor time, because it hardly depends on what else the machine does, and wall time. ``--quick`` runs few rows;
``--source DIR`` measures another checkout, for a comparison. Times begin after ``import torch``; ``cost`` is the
estimate ``gnomon.limit(net).cost(x).first_call`` of one more process, divided by the wall time of the first kernel.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import record

ACTIVATIONS = {
    "ReLU": "nn.ReLU()", "leaky ReLU": "nn.LeakyReLU()", "GELU": "nn.GELU()", "erf": "Own(torch.erf)",
    "sin": "Own(torch.sin)", "tanh": "nn.Tanh()", "SiLU": "nn.SiLU()", "softplus": "nn.Softplus()", "ELU": "nn.ELU()",
    "SELU": "nn.SELU()", "ReLU6": "nn.ReLU6()", "a lambda": "Own(lambda u: u * torch.sigmoid(1.7 * u) + 0.1 * u)",
}  # fmt: skip
CONV = "nn.Conv2d(3, 16, 3, padding=1), {a}, nn.Conv2d(16, 16, 3, padding=1), {a}"
NETWORKS = {
    "dense": ("nn.Linear(10, 64), {a}, nn.Linear(64, 64), {a}, nn.Linear(64, 1)", "10"),
    "conv 8x8, flatten": (CONV + ", nn.Flatten(), nn.Linear(1024, 1)", "3, 8, 8"),
    "conv 16x16, flatten": (CONV + ", nn.Flatten(), nn.Linear(4096, 1)", "3, 16, 16"),
    "conv 8x8, GAP": (CONV + ", nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 1)", "3, 8, 8"),
}
CASES = [("dense", a, 200) for a in ACTIVATIONS]
CASES += [(f"conv {size}, flatten", a, 200) for size in ("8x8", "16x16") for a in ("ReLU", "GELU", "SiLU", "ELU")]
CASES += [("conv 8x8, GAP", a, n) for n in (50, 200) for a in ("ReLU", "GELU")]
QUICK = [("dense", "ReLU", 200), ("dense", "ELU", 200), ("dense", "a lambda", 200), ("conv 8x8, flatten", "SiLU", 200)]
CODE = """
import json, resource, sys, time
import torch
from torch import nn
class Own(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, u):
        return self.function(u)
def used():
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime
torch.manual_seed(0)
net, x = nn.Sequential(LAYERS), torch.randn(COUNT, SHAPE)
estimates = len(sys.argv) > 1
wall, cpu = time.perf_counter(), used()
import gnomon
if estimates:
    print(json.dumps(gnomon.limit(net).cost(x, kind=("ntk",)).first_call))
else:
    gnomon.limit(net).ntk(x)
    first = used() - cpu, time.perf_counter() - wall
    cpu = used()
    gnomon.limit(net).ntk(x)
    print(json.dumps([*first, used() - cpu, "numba" in sys.modules]))
"""


def run(source: Path, code: str, *arguments: str):
    """What a fresh process prints, with empty caches."""
    with tempfile.TemporaryDirectory() as empty:
        own = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": empty, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    chosen = parser.parse_args()
    rows = []
    for network, activation, n in QUICK if chosen.quick else CASES:
        layers, shape = NETWORKS[network]
        code = CODE.replace("LAYERS", layers.format(a=ACTIVATIONS[activation]))
        code = code.replace("COUNT", str(n)).replace("SHAPE", shape)
        cpu, wall, later, loops = run(chosen.source, code)
        try:
            estimate = f"{run(chosen.source, code, 'cost') / wall:.1f}"
        except subprocess.CalledProcessError:  # a checkout without this estimate
            estimate = "-"
        rows.append([network, activation, str(n), f"{cpu:.2f} s", f"{wall:.2f} s", f"{later:.2f} s", estimate])
        rows[-1].append("yes" if loops else "no")
        print(" | ".join(rows[-1]), flush=True)
    load = f"{os.getloadavg()[0]:.1f}"
    columns = ["network", "activation", "points", "first: processor", "first: wall", "later: processor", "cost / wall"]
    note = f"Empty caches in every process, after `import torch`. Load of the machine at the end: {load}."
    name = "First kernel of a process" + (", quick" if chosen.quick else "")
    record("first-call", name, [*columns, "numba"], rows, note)


if __name__ == "__main__":
    main()
