"""Timing: repetitions of both sides in turn, the smallest of each, and a table with the machine and the date."""

import platform
import re
import subprocess
import time
from datetime import date
from pathlib import Path

import numpy as np
import torch

RESULTS = Path(__file__).parent / "results"
"""One page for each topic; `README.md` there is the scoreboard, which is edited by hand."""


def inputs(shape, n, m=0):
    """The same numbers as the peer draws, with channels first."""
    rng = np.random.default_rng(0)
    draw = [rng.standard_normal((k, *shape), dtype=np.float32) for k in (n, m) if k]
    tensors = [torch.from_numpy(np.ascontiguousarray(np.moveaxis(d, -1, 1) if d.ndim == 4 else d)) for d in draw]
    return tensors[0], tensors[1] if m else None


def ours(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of(function, times: int) -> float:
    return min(ours(function) for _ in range(times))


def alternate(mine, theirs, *, repetitions: int, each: int = 3) -> tuple[float, float]:
    """Smallest times of both sides; every repetition runs mine ``each`` times and theirs once."""
    best, other = float("inf"), float("inf")
    for _ in range(repetitions):
        best = min(best, *(ours(mine) for _ in range(each)))
        other = min(other, theirs())
    return best, other


def dual_rate(dtype=np.float32) -> float:
    """Evaluations per second of ReLU's two duals on one core, on 512 entries that stay in the first cache."""
    from numba import njit

    from gnomon.kernels.fused.pointwise import piecewise_linear_step

    @njit(nogil=True)
    def loop(e, t, start, s, r, k, times):
        for _ in range(times):
            for i in range(len(e)):  # again and again in place, both would end as numbers too small for the unit
                e[i] = start[i]
                t[i] = k[3]
            piecewise_linear_step(e, t, s[0], r[0], s, r, k[0], k[3], k)

    rng = np.random.default_rng(0)
    s = (rng.random(512) + 1).astype(dtype)
    e, t, k = rng.random(512).astype(dtype), np.ones(512, dtype), tuple(dtype(v) for v in (0.0, 0.25, 0.5, 1.0))
    start = e.copy()
    loop(e, t, start, s, 1 / s, k, 1)
    best = min(ours(lambda: loop(e, t, start, s, 1 / s, k, 2000)) for _ in range(7))
    return 512 * 2000 / best


def machine() -> str:
    name = platform.processor() or "CPU"
    try:
        found = re.search(r"Model name:\s*(.*)", subprocess.run(["lscpu"], capture_output=True, text=True).stdout)
        name = found.group(1) if found else name
    except OSError:
        pass
    return f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}"


def record(page: str, title: str, columns: list[str], rows: list[list[str]], note: str) -> None:
    """Print a table and put it on a page of results: over the table with the same title, or first on the page."""
    file = RESULTS / f"{page}.md"
    if not file.exists():
        raise FileNotFoundError(f"{file}: create the page with a title, and name it in {RESULTS / 'README.md'}")
    table = [f"| {' | '.join(row)} |" for row in (columns, *rows)]
    table.insert(1, f"|{'---|' * len(columns)}")
    section = "\n".join([f"## {title}", "", f"{date.today()}; {machine()}.", "", *table, "", note, ""])
    print(section, flush=True)
    introduction, *sections = re.split(r"^(?=## )", file.read_text(), flags=re.M)
    others = [old for old in sections if old.splitlines()[0] != f"## {title}"]
    file.write_text("\n".join(part.rstrip() + "\n" for part in (introduction, section, *others)))
