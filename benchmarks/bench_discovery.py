"""Discovery of equations beside pysindy, on the data of the paper that introduced PDE-FIND.

    python benchmarks/bench_discovery.py table      errors and times, clean and with 1 % noise
    python benchmarks/bench_discovery.py sweep      where identification breaks, noise from 0 to 20 %, and a plot

pysindy runs in the Python that PYSINDY_PYTHON names (``pip install pysindy==2.1.*`` in an environment of its own). It is
given, for every data set, its pointwise and its weak library and several thresholds; the best of all that have the
right terms (or else the smallest error) is taken, and only the time of that one fit counts.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "pde"
LAWS = {
    "kdv": ({"u*u_x": -6, "u_xxx": -1}, 1.0, 7.0),
    "burgers": ({"u*u_x": -1, "u_xx": 0.1}, 0.15, 0.8),
    "harmonic_osc": ({"u_xx": 0.5j, "V*u": -1j}, 0.25, 10.0),
    "nls": ({"u_xx": 0.5j, "u*|u|^2": 1j}, 0.05, 3.0),
    "kuramoto_sivishinky": ({"u*u_x": -1, "u_xx": -1, "u_xxxx": -1}, 1.3, 70.0),
}


def load(name, noise, seed=0):
    from scipy.io import loadmat

    stored = loadmat(DATA / f"{name}.mat")
    x, t = stored["x"].ravel(), stored["tt" if name.startswith("kur") else "t"].ravel()
    u = stored["uu" if name.startswith("kur") else "usol"]
    u = u if u.shape[0] == len(x) else u.T
    u = u.real if name in ("kdv", "burgers") else u
    draw = np.random.default_rng(seed)
    added = draw.standard_normal(u.shape) + (1j * draw.standard_normal(u.shape) if np.iscomplexobj(u) else 0)
    return u + noise * u.real.std() * added, x, t


def ours(name, u, x, t):
    from gnomon.discovery import Library, discover

    law = LAWS[name][0]
    library = Library(known={"V": x**2 / 2} if name == "harmonic_osc" else {})
    start = time.perf_counter()
    found = discover(u, x, t, library=library)
    seconds = time.perf_counter() - start
    errors = [abs(found.equations[0].coefficient(term) - c) / abs(c) for term, c in law.items()]
    return {
        "right": set(found.terms) == set(law),
        "error": 100 * float(np.mean(errors)),
        "seconds": seconds,
        "std": 100 * float(np.std(errors)),
    }


# pysindy's names of the terms of a real system; complex fields are two real ones, 0 and 1
PEER = {
    "kdv": [{"x0x0_1": -6, "x0_111": -1}],
    "burgers": [{"x0x0_1": -1, "x0_11": 0.1}],
    "kuramoto_sivishinky": [{"x0x0_1": -1, "x0_11": -1, "x0_1111": -1}],
    "nls": [{"x1_11": -0.5, "x0^2 x1": -1, "x1^3": -1}, {"x0_11": 0.5, "x0^3": 1, "x0 x1^2": 1}],
    "harmonic_osc": [{"x1_11": -0.5, "x1 x2": 1}, {"x0_11": 0.5, "x0 x2": -1}],
}


def peer(path):
    """Runs inside pysindy's environment: the best of its settings."""
    import warnings

    import pysindy as ps

    warnings.filterwarnings("ignore")
    stored = np.load(path)
    name, u, x, t = str(stored["name"]), stored["u"], stored["x"], stored["t"]
    fields = [u.real, u.imag] if np.iscomplexobj(u) else [u]
    if name == "harmonic_osc":
        fields.append(np.repeat(x[:, None] ** 2 / 2, len(t), 1))
    values = np.stack(fields, -1)
    order = 4 if name in ("kuramoto_sivishinky", "kdv", "burgers") else 2
    law, best = PEER[name], None
    grid = np.stack(np.meshgrid(x, t, indexing="ij"), -1)
    inner = lambda: ps.PolynomialLibrary(degree=3, include_bias=False)  # noqa: E731
    settings = [("pointwise", None, 0)] + [("weak", (0.1, 0.1), 1000)]
    for kind, share, count in settings:
        for scaled in (False, True):
            for threshold in (0.05, 0.2, 0.4) if not scaled else (5,):
                np.random.seed(0)
                start = time.perf_counter()
                if kind == "pointwise":
                    library = ps.PDELibrary(function_library=inner(), derivative_order=order, spatial_grid=x)
                else:
                    half = [share[0] * np.ptp(x), share[1] * np.ptp(t)]
                    library = ps.WeakPDELibrary(
                        function_library=inner(), derivative_order=order, spatiotemporal_grid=grid, K=count, H_xt=half
                    )
                model = ps.SINDy(
                    feature_library=library,
                    optimizer=ps.STLSQ(threshold=threshold, alpha=1e-8, normalize_columns=scaled),
                )
                try:
                    model.fit(values, t=t[1] - t[0])
                except Exception as reason:
                    print(kind, reason, file=sys.stderr)
                    continue
                seconds = time.perf_counter() - start
                names = [
                    n.replace(" ", " ") for n in library.get_feature_names([f"x{i}" for i in range(values.shape[-1])])
                ]
                rows = model.coefficients()[: len(law)]
                errors, right = [], True
                for row, truth in zip(rows, law, strict=True):
                    known = dict(zip(names, row, strict=True))
                    right &= {n for n, c in known.items() if c != 0} == set(truth)
                    errors += [abs(known.get(n, 0.0) - c) / abs(c) for n, c in truth.items()]
                entry = {
                    "right": bool(right),
                    "error": 100 * float(np.mean(errors)),
                    "seconds": seconds,
                    "setting": f"{kind} {share} {count} {threshold} {scaled}",
                }
                if best is None or (not entry["right"], entry["error"]) < (not best["right"], best["error"]):
                    best = entry
    print(json.dumps(best))


def other(name, u, x, t):
    python = os.environ.get("PYSINDY_PYTHON")
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, name=name, u=u, x=x, t=t)
        run = subprocess.run([python, __file__, "peer", str(path)], capture_output=True, text=True, check=True)
        return json.loads(run.stdout.strip().splitlines()[-1])


def table(names):
    ours("burgers", *load("burgers", 0.0))  # imports and first calls
    print(
        f"{'data':20} {'noise':>5} | {'published':>9} | {'ours':>8} {'right':>5} {'s':>6} | {'pysindy':>8} {'right':>5} {'s':>7}  setting"
    )
    for name in names:
        for noise in (0.0, 0.01):
            u, x, t = load(name, noise)
            a, b = ours(name, u, x, t), other(name, u, x, t)
            said = f"{b['error']:8.3g} {b['right']!s:>5} {b['seconds']:7.2f}  {b['setting']}" if b else "not run"
            print(
                f"{name:20} {noise:5.2f} | {LAWS[name][2 if noise else 1]:7.2f} % | {a['error']:8.2g} {a['right']!s:>5} {a['seconds']:6.2f} | {said}",
                flush=True,
            )


def sweep(names, path="noise_sweep.svg"):
    levels = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3.4), layout="constrained", squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        for label, method in (("gnomon", ours), ("pysindy, best setting", other)):
            found = [method(name, *load(name, level)) for level in levels]
            if found[0] is None:
                continue
            print(
                name,
                label,
                [(level, round(f["error"], 3), f["right"]) for level, f in zip(levels, found, strict=True)],
                flush=True,
            )
            errors = [max(f["error"], 1e-6) for f in found]
            (line,) = axis.semilogy([100 * v for v in levels], errors, label=label)
            wrong = [(100 * v, e) for v, e, f in zip(levels, errors, found, strict=True) if not f["right"]]
            axis.scatter(*zip(*wrong, strict=True) if wrong else ((), ()), marker="x", color=line.get_color(), zorder=3)
        axis.set(title=name, xlabel="noise, % of the standard deviation", ylabel="mean coefficient error, %")
        axis.legend()
    figure.suptitle("Crosses: wrong terms")
    figure.savefig(path)


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else "table"
    if mode == "peer":
        peer(sys.argv[2])
    elif mode == "sweep":
        sweep(sys.argv[2].split(",") if len(sys.argv) > 2 else list(LAWS))
    else:
        table(sys.argv[2].split(",") if len(sys.argv) > 2 else list(LAWS))
