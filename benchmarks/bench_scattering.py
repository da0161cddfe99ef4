"""Scattering transforms against kymatio 0.3.0, in one run: seconds, peak memory, and the share inside Fourier transforms.

    python benchmarks/bench_scattering.py

kymatio lives in an environment of its own (kymatio==0.3.0, scipy<1.17, the same torch), whose Python is named in
GNOMON_KYMATIO_PYTHON. Both sides use torch on two threads in float32. Times are the smallest of several, in turn.
"""

import json
import os
import resource
import subprocess
import sys
import time

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


def timed(function):
    """Seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def serve(side, name):
    """Answer every line of input with the seconds of one call; the memory that calls added comes with it."""
    torch.set_num_threads(2)
    module, x = transform(side, name), torch.randn(CASES[name][2], generator=torch.Generator().manual_seed(0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    module(x)
    for _ in sys.stdin:
        seconds = timed(lambda: module(x))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps([seconds, grown]), flush=True)


def fourier_only(name):
    """Seconds of our call on one thread, and of its Fourier transforms alone."""
    torch.set_num_threads(1)
    module, x = transform("gnomon", name), torch.randn(CASES[name][2])
    spent = [0.0]
    originals = torch.fft.fftn, torch.fft.ifftn

    def counted(function):
        def call(*args, **options):
            start = time.perf_counter()
            result = function(*args, **options)
            spent[0] += time.perf_counter() - start
            return result

        return call

    module(x)
    best = (float("inf"), 0.0)
    torch.fft.fftn, torch.fft.ifftn = (counted(f) for f in originals)
    for _ in range(3):
        spent[0] = 0.0
        best = min(best, (timed(lambda: module(x)), spent[0]))
    torch.fft.fftn, torch.fft.ifftn = originals
    return best


def compare(name, repetitions):
    """The smallest seconds and the memory of both sides, called in turn."""
    pythons = {"gnomon": sys.executable, "kymatio": KYMATIO}
    sides = {
        side: subprocess.Popen(
            [python, "-W", "ignore", __file__, side, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for side, python in pythons.items()
    }
    found = {side: [] for side in sides}
    for _ in range(repetitions):
        for side, process in sides.items():
            process.stdin.write("\n")
            process.stdin.flush()
            found[side].append(json.loads(process.stdout.readline()))
    for process in sides.values():
        process.stdin.close()
        process.wait()
    return {side: (min(s for s, _ in values), max(m for _, m in values)) for side, values in found.items()}


def main():
    """One row for each case."""
    if not KYMATIO:
        sys.exit("Name the Python of an environment with kymatio 0.3.0 in GNOMON_KYMATIO_PYTHON")
    print("| case | gnomon s | kymatio s | ratio | gnomon MB | kymatio MB | in FFTs | distance from FFTs alone |")
    print("|---|---|---|---|---|---|---|---|")
    for name in CASES:
        both = compare(name, 5)
        (mine, memory), (theirs, more) = both["gnomon"], both["kymatio"]
        total, fourier = fourier_only(name)
        row = f"{mine:.3f} | {theirs:.3f} | {theirs / mine:.1f} | {memory:.0f} | {more:.0f}"
        print(f"| {name} | {row} | {fourier / total:.0%} | {total / fourier:.1f}x |", flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:]) if len(sys.argv) == 3 else main()
