"""Scattering transforms against kymatio 0.3.0, in one run: seconds, peak memory, and the share inside Fourier transforms.

    python benchmarks/bench_scattering.py [repetitions] [threads]

kymatio lives in an environment of its own (kymatio==0.3.0, scipy<1.17, the same torch), whose Python is named in
GNOMON_KYMATIO_PYTHON. Both sides use torch on two threads in float32. Times are the smallest of several, in turn. With
one thread they are seconds of processor time, which say something on a machine that is not idle too.
"""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

CASES = {
    "2d 128x3x32x32 J=2": (2, (32, 32), (128, 3, 32, 32)),
    "2d 16x128x128 J=3": (3, (128, 128), (16, 128, 128)),
    "2d 4x3x224x224 J=4": (4, (224, 224), (4, 3, 224, 224)),
    "1d 8x32768 J=8 Q=8": (8, 32768, (8, 32768)),
}
KYMATIO = os.environ.get("GNOMON_KYMATIO_PYTHON", "")


def transform(side, name):
    """The transform of a case on one side."""
    J, shape, _ = CASES[name]
    if side == "gnomon":
        from gnomon.scattering import Scattering1d, Scattering2d

        return Scattering1d(J, shape, Q=8) if name[0] == "1" else Scattering2d(J, shape)
    from kymatio.torch import Scattering1D, Scattering2D

    return Scattering1D(J, shape, Q=8) if name[0] == "1" else Scattering2D(J, shape)


def timed(function, clock=time.perf_counter):
    """Seconds of one call."""
    start = clock()
    function()
    return clock() - start


def memory():
    """Megabytes in use and at their highest since it was last asked; the highest starts anew. Linux."""
    ctypes.CDLL(None).malloc_trim(0)
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    Path("/proc/self/clear_refs").write_text("5")
    return [int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")]


def serve(side, name, threads):
    """First the memory that a call adds at its highest; then, for every line of input, the seconds of one call."""
    torch.set_num_threads(int(threads))
    clock = time.process_time if threads == "1" else time.perf_counter
    module, x = transform(side, name), torch.randn(CASES[name][2], generator=torch.Generator().manual_seed(0))
    module(x[:1])  # what is compiled, read or kept once does not count
    memory()
    before = memory()[0]
    module(x)
    print(memory()[1] - before, flush=True)
    for _ in sys.stdin:
        print(timed(lambda: module(x), clock), flush=True)


def fourier_only(name):
    """Seconds of our call on one thread, and of its Fourier transforms alone."""
    torch.set_num_threads(1)
    module, x = transform("gnomon", name), torch.randn(CASES[name][2])
    module(x)
    total = min(timed(lambda: module(x), time.process_time) for _ in range(5))
    if name[0] == "2":
        made = module.plan.cast(x.dtype, x.device).kept["loops"]
        images, room = x.flatten(0, -3).shape[0], torch.zeros(made.memory).numpy()
        tables = (room, made.numbers, made.places, made.bands, made.first, made.sides)
        alone = transforms_alone()
        alone(1, *tables)
        return total, min(timed(lambda: alone(images, *tables), time.process_time) for _ in range(5))
    spent, originals = [], (torch.fft.rfftn, torch.fft.ifftn)

    def counted(function):
        def call(*args, **options):
            start = time.process_time()
            result = function(*args, **options)
            spent.append(time.process_time() - start)
            return result

        return call

    torch.fft.rfftn, torch.fft.ifftn = (counted(f) for f in originals)
    module(x)
    torch.fft.rfftn, torch.fft.ifftn = originals
    return total, sum(spent)


def transforms_alone():
    """The Fourier transforms of scattering on images, of the same lines in the same memory, and nothing else."""
    from gnomon.core.machine.loops import compile_on_first_use
    from gnomon.scattering.fourier import PAIR
    from gnomon.scattering.fourier import transform as line
    from gnomon.scattering.lanes import pointer

    @compile_on_first_use
    def alone(images, room, numbers, places, bands, first, sides):
        a, numbers, places, one = pointer(room), pointer(numbers), pointer(places), np.int64(PAIR)
        for _ in range(images):
            for k in range(len(bands)):
                band = bands[k]
                rows, columns = band.rows, band.columns
                free = 2 * rows * (columns + 1) * PAIR + columns * PAIR
                down, across = sides[band.row_side], sides[band.column_side]
                times = (band.count + 7) // 8 if k < first else 0
                for parent in range(first):
                    if bands[parent].after <= k < bands[parent].until:
                        times = (bands[parent].count + 7) // 8 * band.count
                for _ in range(times):
                    for r in range(rows):
                        line(a, free, one, r * (columns + 1) * PAIR, across, numbers, places, free + columns * PAIR)
                    for c in range(columns):
                        line(a, c * PAIR, (columns + 1) * PAIR, free, down, numbers, places, free + rows * PAIR)
                    if band.after < band.until:
                        kept = rows // 2 + 1
                        for c in range(columns // 2):
                            line(a, c * rows * PAIR, one, free, down, numbers, places, free + rows * PAIR)
                        for r in range(kept):
                            line(a, r * PAIR, kept * PAIR, free, across, numbers, places, free + columns * PAIR)

    return alone


def compare(name, repetitions, threads):
    """The smallest seconds and the memory of both sides, called in turn."""
    found = {}
    sides = {
        side: subprocess.Popen(
            [python, "-W", "ignore", __file__, side, name, threads],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for side, python in (("gnomon", sys.executable), ("kymatio", KYMATIO))
    }
    for side, process in sides.items():
        found[side] = [float("inf"), float(process.stdout.readline())]
    for _ in range(repetitions):
        for side, process in sides.items():
            time.sleep(0.3)  # threads of the other side have stopped waiting for work
            process.stdin.write("\n")
            process.stdin.flush()
            found[side][0] = min(found[side][0], float(process.stdout.readline()))
    for process in sides.values():
        process.stdin.close()
        process.wait()
    return found


def main(repetitions="5", threads="2"):
    """One row for each case."""
    if not KYMATIO:
        sys.exit("Name the Python of an environment with kymatio 0.3.0 in GNOMON_KYMATIO_PYTHON")
    rows = []
    for name in CASES:
        both = compare(name, int(repetitions), threads)
        (mine, room), (theirs, more) = both["gnomon"], both["kymatio"]
        total, fourier = fourier_only(name)
        row = [f"{mine:.3f}", f"{theirs:.3f}", f"{theirs / mine:.1f}x", f"{room:.0f}", f"{more:.0f}"]
        rows.append([name, *row, f"{fourier / total:.0%}", f"{total / fourier:.2f}x"])
        print(rows[-1], flush=True)
    from measure import record  # the peer's environment has not all that it needs

    note = (
        f"{'Seconds' if threads != '1' else 'Seconds of processor time'} of one call in float32, threads: {threads}, the smallest of several, both sides in turn;\n"
        "MB: what a call adds at its highest, outputs included. In FFTs: share of our time on one thread that its Fourier transforms take\n"
        f"when nothing else is done (those of images are the package's own); times FFTs: how far from that limit. {repetitions} repetitions."
    )
    columns = ["case", "gnomon s", "kymatio s", "ratio", "gnomon MB", "kymatio MB", "in FFTs", "times FFTs"]
    record("scattering", f"Scattering compared with kymatio 0.3.0, threads: {threads}", columns, rows, note)


if __name__ == "__main__":
    serve(*sys.argv[1:]) if len(sys.argv) == 4 else main(*sys.argv[1:])
