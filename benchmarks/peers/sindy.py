"""pysindy on one data set: every setting that is asked for, or the best of many.

    python sindy.py fit DATA.npz JOB.json       given settings, the smallest time of ``repeats`` of each
    python sindy.py search DATA.npz JOB.json    the best pointwise and the best weak of many settings, by the truth

A setting is a form (points or weak), a rule of differentiation or a size of the domains, and a threshold; a job names
the true law in pysindy's names, one row for each field, and the library. Prints one line of JSON: for each setting the error, whether the terms are right, and the time.
"""

import json
import sys
import time
import warnings

import numpy as np
import pysindy as ps

warnings.filterwarnings("ignore")
THRESHOLDS = np.geomspace(2e-3, 20, 30)
ROWS = 5_000  # at most, where thresholds are tried


class Kept(ps.STLSQ):
    """Sequential thresholding that keeps what it was given."""

    def fit(self, x_, y, **options):
        self.given = (np.asarray(x_), np.asarray(y))
        return super().fit(x_, y, **options)


def library(setting, job, grids, t):
    inner = ps.PolynomialLibrary(degree=job["degree"], include_bias=False)
    shared = {
        "function_library": inner, "derivative_order": job["order"], "include_interaction": job.get("products", True)
    }  # fmt: skip
    if setting["form"] == "weak":
        full = np.stack(np.meshgrid(*grids, t, indexing="ij"), -1)
        half = [setting["half"] * np.ptp(axis) for axis in (*grids, t)]
        np.random.seed(0)
        return ps.WeakPDELibrary(spatiotemporal_grid=full, K=setting["count"], H_xt=half, p=setting["power"], **shared)
    space = grids[0] if len(grids) == 1 else np.stack(np.meshgrid(*grids, indexing="ij"), -1)
    spectral = setting["rule"] == "spectral"
    rule = {
        "differentiation_method": ps.SpectralDerivative if spectral else ps.FiniteDifference,
        "diff_kwargs": {} if spectral else {"order": int(setting["rule"])},
    }
    return ps.PDELibrary(spatial_grid=space, **shared, **rule)


def model(setting, job, grids, t, optimizer):
    lib = library(setting, job, grids, t)
    rule = ps.FiniteDifference(order=2 if setting.get("rule") == "2" else 4, axis=-2)
    return ps.SINDy(feature_library=lib, optimizer=optimizer, differentiation_method=rule), lib


def stlsq(setting, kind=ps.STLSQ):
    return kind(threshold=setting["threshold"], alpha=setting["alpha"], normalize_columns=setting["scaled"])


def judged(rows, names, law):
    errors, right = [], True
    for row, truth in zip(rows, law, strict=False):
        known = dict(zip(names, np.asarray(row), strict=True))
        right &= {n for n, c in known.items() if c != 0} == set(truth)
        errors += [abs(known.get(n, 0.0) - c) / abs(c) for n, c in truth.items()]
    return {"right": bool(right), "error": 100 * float(np.mean(errors))}


def fit(setting, job, values, grids, t, repeats):
    seconds = []
    for _ in range(repeats if setting["form"] == "points" else 1):
        start = time.perf_counter()
        found, lib = model(setting, job, grids, t, stlsq(setting))
        found.fit(values, t=t[1] - t[0])
        seconds.append(time.perf_counter() - start)
    names = lib.get_feature_names([f"x{i}" for i in range(values.shape[-1])])
    return judged(found.coefficients(), names, job["law"]) | {"seconds": min(seconds), "setting": setting}


def settings(job):
    found = [{"form": "points", "rule": rule} for rule in (("2", "4", "spectral") if job["flat"] else ("4",))]
    sizes = ((0.1, 8), (0.2, 8)) if job["flat"] else ((0.1, 8),)
    return found + [{"form": "weak", "half": h, "count": job["count"], "power": p} for h, p in sizes]


def search(job, values, grids, t):
    best = {}
    for setting in settings(job):
        start = {"threshold": 1e-9, "alpha": 1e-8, "scaled": False}
        try:
            optimizer = stlsq(start, Kept)
            found, lib = model(setting, job, grids, t, optimizer)
            found.fit(values, t=t[1] - t[0])
        except Exception as reason:
            print(setting, repr(reason)[:200], file=sys.stderr)
            continue
        names = lib.get_feature_names([f"x{i}" for i in range(values.shape[-1])])
        columns, target = found.optimizer.given
        some = np.random.default_rng(0).permutation(len(columns))[:ROWS]
        kept = (columns[some], target[some][:, : len(job["law"])])
        for scaled in (False, True):
            for threshold in THRESHOLDS:
                tried = {"threshold": float(threshold), "alpha": 1e-8, "scaled": scaled}
                try:
                    rows = stlsq(tried).fit(*kept).coef_
                except Exception:
                    continue
                entry = judged(rows, names, job["law"]) | {"setting": setting | tried}
                known = best.get(setting["form"])
                if known is None or (not entry["right"], entry["error"]) < (not known["right"], known["error"]):
                    best[setting["form"]] = entry
                if not np.any(rows):
                    break
    return [found["setting"] for found in best.values()]


def main():
    stored, job = np.load(sys.argv[2]), json.load(open(sys.argv[3]))
    values, t = stored["values"], stored["t"]
    grids = [stored[f"x{i}"] for i in range(values.ndim - 2)]
    tried = search(job, values, grids, t) if sys.argv[1] == "search" else job["settings"]
    print(json.dumps([fit(setting, job, values, grids, t, job["repeats"]) for setting in tried]))


if __name__ == "__main__":
    main()
