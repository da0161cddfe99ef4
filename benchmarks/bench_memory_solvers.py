"""Peak memory of solvers and of kernels on disk against the budget that they were given, in fresh processes."""

import subprocess
import sys

from measure import record

MIB = 2**20
PROMISED, CONSTANT = 1.15, 32 * MIB
FUNCTIONS = {  # kernels of points, the second as people write it
    "NTK": "lim.ntk",
    "Gaussian": "lambda a, b: torch.cdist(a, b).square_().mul_(-0.1).exp_()",
}
TILES = "KernelTiles(path, memory=memory)"
ASKED = "ConjugateGradient(preconditioner=LandmarkPreconditioner(), memory=memory)"
SETTINGS = [  # solver, form of the kernel, rows, budget in MiB
    ("DirectSolver(memory=memory)", "NTK", 4000, 123),
    ("DirectSolver(memory=memory)", "Gaussian", 4000, 123),
    ("DirectSolver(memory=memory)", "array", 4000, 123),
    ("DirectSolver(leave_one_out=True, memory=memory)", "float32", 6000, 275),
    ("ConjugateGradient(memory=memory)", "NTK", 4000, 123),
    ("ConjugateGradient(memory=memory)", "float32", 4000, 123),
    (ASKED, "NTK", 4000, 40),
    (ASKED, "Gaussian", 4000, 16),
    (TILES, "NTK", 4000, 100),
    (TILES, "NTK", 4000, 16),
    (TILES, "Gaussian", 6000, 32),
    (TILES, "Gaussian", 4000, 8),
    ("NystromSolver(1000, memory=memory)", "NTK", 6000, 64),
    ("limit.to_zarr", "NTK", 4000, 100),
    ("limit.to_zarr", "NTK", 4000, 32),
]
PROGRAM = """
import sys, tempfile, time, torch, gnomon
from dataclasses import replace
from gnomon.linalg.solve import *
from gnomon.models import mlp

def bytes_of(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])

solver, form, n, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
draw = torch.Generator().manual_seed(0)
x = torch.randn(n, 8, generator=draw, dtype=torch.float64)
y = torch.sin(2 * x[:, :3])
lim = gnomon.limit(mlp(8, depth=2), parametrization="ntk")
function = eval(sys.argv[5])
kernel = function(x, x) if form in ("array", "float32") else IndexedKernel(function, x)
kernel = kernel.numpy() if form == "array" else kernel.float() if form == "float32" else kernel

def run(path, memory, kernel, x, y):
    if solver == "limit.to_zarr":
        return replace(lim, memory=memory).to_zarr(path, x)
    return eval(solver).solve(kernel, y, ridge=1.0)

with tempfile.TemporaryDirectory() as folder:
    run(folder + "/small", 2**30, IndexedKernel(function, x[:600]), x[:600], y[:600])  # imports and compilation
    open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
    before, start = bytes_of("VmRSS"), time.perf_counter()
    run(folder + "/large", size, kernel, x, y)
    print(time.perf_counter() - start, bytes_of("VmHWM") - before)
"""


def main() -> None:
    rows = []
    for solver, form, n, size in SETTINGS:
        function = FUNCTIONS.get(form, FUNCTIONS["Gaussian"])
        command = [sys.executable, "-c", PROGRAM, solver, form, str(n), str(size * MIB), function]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds, peak = map(float, run.stdout.split())
        allowed = PROMISED * size * MIB + CONSTANT
        verdict = f"{peak / allowed:.2f}"
        row = [f"`{solver}`", form, f"{n:,}", f"{size} MiB", f"{peak / MIB:.0f} MiB", f"{peak / size / MIB:.2f}"]
        rows.append([*row, verdict, f"{seconds:.1f} s"])
        print(rows[-1], flush=True)
    note = (
        "Peak: what the call adds to the resident memory of a process that has solved a small system before. Promised: 1.15 times the\n"
        "budget and 32 MiB. NTK and Gaussian are functions of points; array (float64) and float32 are matrices of the caller, not counted."
    )
    columns = ["call", "kernel", "rows", "budget", "peak", "peak / budget", "peak / promised", "time"]
    record("solvers", "Memory of solvers against their budget", columns, rows, note)


if __name__ == "__main__":
    main()
