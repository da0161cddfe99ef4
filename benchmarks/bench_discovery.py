"""Discovery of equations compared with pysindy, on the data of the paper that introduced PDE-FIND and two simulations.

    python benchmarks/bench_discovery.py search [NAMES]   pysindy's best settings, kept in peers/sindy_settings.json
    python benchmarks/bench_discovery.py table [NAMES]    errors and times, clean and with the published noise
    python benchmarks/bench_discovery.py sweep [NAMES]    where identification breaks, noise from 0 to 20 %, and a plot

pysindy runs in the Python that PYSINDY_PYTHON names (``pip install pysindy==2.1.*`` in an environment of its own). For
every data set and noise it is given its pointwise library with three rules of differentiation and its weak library with
two sizes of domains (one of each in the plane), each with 30 thresholds, columns scaled and not; of both kinds the setting that has the right
terms, or else the smallest error, is taken with knowledge of the truth. Its error is the smaller of the two, and its
time that of the faster one, of those with the right terms where there are any. Ours has one setting, the default.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from laws import BOTH, for_peer, library, load

HERE = Path(__file__).parent
SETTINGS = HERE / "peers" / "sindy_settings.json"
LEVELS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
PICTURE = HERE.parent / "docs" / "img" / "noise_sweep.svg"


def ours(name, fields, grids, t, repeats=1):
    from gnomon.discovery import discover

    law, seconds = BOTH[name].law, []
    lib, wanted = library(name, fields, grids)
    for _ in range(repeats):
        start = time.perf_counter()
        found = discover(wanted, grids if len(grids) > 1 else grids[0], t, library=lib)
        seconds.append(time.perf_counter() - start)
    errors, right = [], True
    for equation, (field, truth) in zip(found.equations, law.items(), strict=True):
        assert equation.target == f"{field}_t"
        right &= set(equation.terms) == set(truth)
        errors += [abs(equation.coefficient(term) - c) / abs(c) for term, c in truth.items()]
    return {"right": right, "error": 100 * float(np.mean(errors)), "seconds": min(seconds)}


def other(name, fields, grids, t, settings=None, repeats=1):
    """pysindy with some settings, or with the best that a search finds."""
    problem, more = BOTH[name], BOTH[name].job or {}
    job = {
        "law": problem.peer, "degree": problem.degree, "order": problem.order, "flat": len(grids) == 1,
        "count": 200 if len(grids) == 1 else 100,
        "repeats": repeats, "settings": settings, **more,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        data, told = Path(folder) / "data.npz", Path(folder) / "job.json"
        np.savez(data, values=for_peer(name, fields, grids), t=t, **{f"x{i}": x for i, x in enumerate(grids)})
        told.write_text(json.dumps(job))
        mode = "search" if settings is None else "fit"
        command = [os.environ["PYSINDY_PYTHON"], str(HERE / "peers" / "sindy.py"), mode, str(data), str(told)]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(run.stdout.strip().splitlines()[-1])


def stored():
    return json.loads(SETTINGS.read_text()) if SETTINGS.exists() else {}


def best(entries):
    """Of several fits those that have the right terms, if any: the smallest error, and the shortest time."""
    right = [entry for entry in entries if entry["right"]] or entries
    told = {key: min(entry[key] for entry in right) for key in ("error", "seconds")}
    return told | {"right": right[0]["right"]}


def settings_of(entries):
    """The settings that count: those with the right terms, if any."""
    return [entry["setting"] for entry in entries if entry["right"]] or [entry["setting"] for entry in entries]


def search(names, levels):
    for name in names:
        for level in levels or (0.0, BOTH[name].noise):
            if f"{name} {level}" in stored():
                continue
            found = other(name, *load(name, level))
            print(name, level, found, flush=True)
            known = stored() | {f"{name} {level}": found}
            SETTINGS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def table(names):
    from measure import record

    rows, known = [], stored()
    ours("burgers", *load("burgers", 0.0))  # imports and first calls
    for name in names:
        for k, level in enumerate((0.0, BOTH[name].noise)):
            data = load(name, level)
            repeats = 5 if len(data[1]) == 1 else 2
            a, b = (
                ours(name, *data, repeats=repeats),
                best(other(name, *data, settings_of(known[f"{name} {level}"]), repeats)),
            )
            row = [name, f"{100 * level:g} %", f"{BOTH[name].published[k]:g} %"]
            for side in (a, b):
                row += [f"{side['error']:.2g} %", "yes" if side["right"] else "no", f"{side['seconds']:.3f} s"]
            rows.append([*row, f"{b['seconds'] / a['seconds']:.1f}x"])
            print(rows[-1], flush=True)
    columns = ["data", "noise", "published error", "our error", "right terms", "time", "pysindy's error", "right terms"]
    note = (
        "Mean relative error of the coefficients; right terms: exactly the terms of the true equation. Time: the smallest"
        "\nof several fits, including the library of terms. pysindy: the best pointwise and the best weak setting of 120 to 300, chosen with"
        "\nknowledge of the equation; the smaller error and the shorter time of the two, among those with the right terms if"
        "\nthere are any. gnomon: default settings, with 50 bootstrap replicates."
    )
    record("discovery", "Discovery of equations compared with pysindy 2.1", [*columns, "its time", "ratio"], rows, note)


def sweep(names, seeds=(0, 1)):
    from matplotlib import pyplot as plt

    known = stored()
    shape = (2, 3) if len(names) > 4 else (1, len(names))
    figure, axes = plt.subplots(*shape, figsize=(3.2 * shape[1], 2.8 * shape[0]), layout="constrained", squeeze=False)
    for axis in axes.ravel()[len(names) :]:
        axis.axis("off")
    broken = {}
    for axis, name in zip(axes.ravel(), names, strict=False):
        mine, theirs = [], []
        for level in LEVELS:
            tried = [ours(name, *load(name, level, seed)) for seed in seeds]
            mine.append((float(np.mean([f["error"] for f in tried])), all(f["right"] for f in tried)))
            if f"{name} {level}" in known:
                peer = best(known[f"{name} {level}"])
                theirs.append((peer["error"], peer["right"]))
        for label, found in (("gnomon", mine), ("pysindy, best setting", theirs)):
            errors, levels = [max(e, 1e-4) for e, _ in found], LEVELS[: len(found)]
            (line,) = axis.semilogy([100 * v for v in levels], errors, marker=".", label=label)
            wrong = [(100 * v, e) for v, e, f in zip(levels, errors, found, strict=True) if not f[1]]
            axis.scatter(*zip(*wrong, strict=True) if wrong else ((), ()), marker="x", color=line.get_color(), zorder=3)
            first = next((v for v, f in zip(levels, found, strict=True) if not f[1]), None)
            last = f"right up to {100 * max(levels):g} %, no more taken" if len(levels) else "not taken"
            broken.setdefault(name, []).append(last if first is None else f"wrong at {100 * first:g} %")
        axis.set(title=name.replace("_", " "), xlabel="noise, %")
        axis.grid(alpha=0.3)
        print(name, broken[name], [round(e, 3) for e, _ in mine], [round(e, 3) for e, _ in theirs], flush=True)
    for row in axes:
        row[0].set_ylabel("coefficient error, %")
    axes[0, 0].legend(fontsize=8)
    figure.suptitle("Error of the coefficients against noise; crosses: wrong terms", fontsize=11)
    figure.savefig(PICTURE, metadata={"Date": None})
    from measure import record

    rows = [[name.replace("_", " "), *broken[name]] for name in names]
    note = (
        "Noise relative to the standard deviation; levels 0, 1, 2, 5, 10, 15, 20 %. gnomon: default settings, two draws of"
        "\nthe noise, both right. pysindy: the best of 300 settings for one draw, chosen with knowledge of the equation."
    )
    record("discovery", "Smallest noise at which the terms are wrong", ["data", "gnomon", "pysindy 2.1"], rows, note)


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else "table"
    chosen = sys.argv[2].split(",") if len(sys.argv) > 2 else list(BOTH)
    if mode == "search":
        search(chosen, None)
    elif mode == "levels":
        search(chosen, LEVELS)
    else:
        {"sweep": sweep, "table": table}[mode](chosen)
