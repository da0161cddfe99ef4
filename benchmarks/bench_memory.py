"""Peak memory of one kernel, and the 10,000 x 10,000 float64 kernel of a network of depth 5 with one command."""

import subprocess
import sys

from measure import record

PROGRAM = """
import sys, time, torch, gnomon
from gnomon.models import mlp

def bytes_of(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])

n, dtype = int(sys.argv[1]), getattr(torch, sys.argv[2])
lim = gnomon.limit(mlp(64, depth=5), dtype=dtype)
lim.ntk(torch.randn(600, 64))
x = torch.randn(n, 64)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before, start = bytes_of("VmRSS"), time.perf_counter()
k = lim.ntk(x)
seconds = time.perf_counter() - start
print(seconds, k.numel() * k.itemsize, bytes_of("VmHWM") - before)
"""


def main() -> None:
    rows = []
    for n, dtype in ((4000, "float32"), (4000, "float64"), (10000, "float32"), (10000, "float64")):
        run = subprocess.run([sys.executable, "-c", PROGRAM, str(n), dtype], capture_output=True, text=True, check=True)
        seconds, kernel, peak = map(float, run.stdout.split())
        row = [f"{n} x {n}", dtype, f"{seconds:.2f} s", f"{kernel / 2**20:.0f} MiB", f"{peak / 2**20:.0f} MiB"]
        rows.append([*row, f"{peak / kernel:.2f}"])
        print(rows[-1], flush=True)
    note = "Peak: resident memory that the call adds to the process, including the kernel."
    record(
        "kernels",
        "Memory of a dense network with 5 layers",
        ["kernel", "dtype", "time", "size", "peak", "peak / size"],
        rows,
        note,
    )


if __name__ == "__main__":
    main()
