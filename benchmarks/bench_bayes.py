"""Samplers and Laplace's approximation beside NumPyro and laplace-torch, in an environment of their own.

    python benchmarks/bench_bayes.py                    coverage of intervals on twelve targets; ours alone
    python benchmarks/bench_bayes.py --numpyro          effective samples for each gradient beside NumPyro's NUTS
    python benchmarks/bench_bayes.py --laplace          the prior precision of largest evidence beside laplace-torch

The last two need an environment with gnomon's dependencies and numpyro, or laplace-torch, in it.
"""

import argparse
import json
import time
from dataclasses import replace
from itertools import product
from math import exp
from pathlib import Path

import numpy as np
import torch
from measure import record
from scipy.optimize import minimize_scalar
from scipy.stats import beta, norm
from torch import nn

from gnomon.bayes import laplace, sample_posterior
from gnomon.training import Adam, train

KEPT = Path(__file__).parents[1] / "build" / "coverage.jsonl"
"""What has been measured, so that the benchmark can be run in pieces."""
CROWDS = KEPT.with_name("coverage-large.jsonl")
FIRST = 1000
"""The first seed of coverage."""
RUNS = {"logistic regression": 100, "mixture": 100, "logistic distribution": 70, "funnel": 70, "normal, 100": 25,
        "correlated 0.9, 10": 30, "correlated 0.9, 100": 20, "regression 50 x 30": 25}  # fmt: skip
"""Runs of targets of less than five, or more than ten, coordinates, or of long ones: about 200 intervals of each."""
CROWD = {"correlated 0.9, 100": 60, "normal, 100": 60, "regression 50 x 30": 60, "correlated 0.9, 10": 120}
"""Chains of a large run that are read in groups of four; 400 elsewhere."""
SEEDS = 3
"""One run's effective sample size varies by a third: both sides run with so many seeds."""


def correlated(d, rho):
    """A Gaussian whose neighbors are correlated: its precision is that of a chain."""
    index = np.arange(d)
    covariance = rho ** np.abs(index[:, None] - index[None, :])
    precision = torch.as_tensor(np.linalg.inv(covariance))
    return lambda x: -(x @ precision @ x) / 2, np.zeros(d), np.sqrt(np.diag(covariance)), precision.numpy()


def regression(n, d, seed, *, prior=1.0, noise=0.5):
    """Bayesian linear regression, whose posterior is a known Gaussian."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = x @ rng.standard_normal(d) + noise * rng.standard_normal(n)
    precision = x.T @ x / noise**2 + np.eye(d) / prior**2
    covariance = np.linalg.inv(precision)
    mean = covariance @ x.T @ y / noise**2
    p, m = torch.as_tensor(precision), torch.as_tensor(mean)
    return lambda w: -((w - m) @ p @ (w - m)) / 2, mean, np.sqrt(np.diag(covariance)), precision


def funnel(x):
    """Neal's funnel: v ~ N(0, 1) and two numbers of variance e^v."""
    return -(x[0] ** 2) / 2 - (x[1:].square() * (-x[0]).exp()).sum() / 2 - (len(x) - 1) * x[0] / 2


def logistic():
    """Logistic regression with two weights and the prior N(0, 1), its moments by quadrature."""
    rng = np.random.default_rng(0)
    x = torch.as_tensor(rng.standard_normal((30, 2)))
    y = torch.as_tensor((rng.random(30) < 1 / (1 + np.exp(-x.numpy() @ [1.0, -0.5]))).astype(float))

    def density(w):
        return (y * (x @ w) - torch.nn.functional.softplus(x @ w)).sum() - w.square().sum() / 2

    axis = torch.linspace(-5, 5, 301, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    logs = grid @ x.T @ y - torch.nn.functional.softplus(grid @ x.T).sum(1) - grid.square().sum(1) / 2
    weight = (logs - logs.max()).softmax(0)
    mean = weight @ grid
    return density, mean.numpy(), (weight @ (grid - mean).square()).sqrt().numpy(), None


def targets():
    """Twelve densities: log density, means, standard deviations, and for Gaussians the precision."""
    scales = torch.logspace(-1, 1, 10, dtype=torch.float64)
    return {
        "logistic regression": logistic(),
        "normal, 10": correlated(10, 0.0),
        "normal, 100": correlated(100, 0.0),
        "correlated 0.5, 10": correlated(10, 0.5),
        "correlated 0.9, 10": correlated(10, 0.9),
        "correlated 0.9, 100": correlated(100, 0.9),
        "scales 0.1 to 10": (lambda x: -(x / scales).square().sum() / 2, np.zeros(10), scales.numpy(),
                             np.diag(1 / scales.numpy() ** 2)),
        "regression 20 x 5": regression(20, 5, 1),
        "regression 50 x 30": regression(50, 30, 2),
        "logistic distribution": (lambda x: (-x - 2 * torch.nn.functional.softplus(-x)).sum(), np.zeros(3),
                                  np.full(3, np.pi / 3**0.5), None),
        "mixture": (lambda x: torch.logaddexp(-(x - 1).square() / 2, -(x + 1).square() / 2).sum(), np.zeros(2),
                    np.full(2, 2**0.5), None),
        "funnel": (funnel, np.zeros(3), np.array([1.0, *[np.exp(0.25)] * 2]), None),
    }  # fmt: skip


def covered(density, mean, std, seed, draws):
    """Errors of one run over stated errors, of five coordinates, in many dimensions of ten that are far apart."""
    start, d = time.process_time(), len(mean)
    result = sample_posterior(density, torch.zeros(d), chains=4, draws=draws, warmup=200, seed=seed)
    some = np.unique(np.linspace(0, d - 1, 5 if d <= 10 else 10).round().astype(int))
    off = ((result.mean.numpy() - mean) / result.error.numpy())[some]
    return {"seed": seed, "draws": draws, "off": off.tolist(), "spread": (result.std.numpy() / std - 1).tolist(),
            "seconds": time.process_time() - start}  # fmt: skip


def crowded(density, mean, seed, draws, chains):
    """Errors of every four chains of one large run over their stated errors: hundreds of intervals for one warm-up."""
    start, d = time.process_time(), len(mean)
    result = sample_posterior(density, torch.zeros(d), chains=chains, draws=draws, warmup=200, seed=seed)
    some = np.unique(np.linspace(0, d - 1, 5 if d <= 10 else 10).round().astype(int))
    groups = [replace(result, values=four) for four in result.values.split(4)]
    off = np.array([((four.mean.numpy() - mean) / four.error.numpy())[some] for four in groups])
    return {"seed": seed, "chains": chains, "off": off.ravel().tolist(), "seconds": time.process_time() - start}


def share(hits):
    """The share of hits with its exact 95 % interval."""
    h, n = sum(hits), len(hits)
    low, high = beta.ppf([0.025, 0.975], [max(h, 1e-9), h + 1], [n - h + 1, max(n - h, 1e-9)])
    return f"{h / n:.1%} of {n} ({low:.1%} to {high:.1%})"


def coverage(repetitions, draws, only, seconds):
    """Coverage on every target, runs that have had no turn yet first, and the table of all."""
    KEPT.parent.mkdir(exist_ok=True)
    runs = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    known, start, all_targets = {(r["target"], r["seed"], r["draws"]): r for r in runs}, time.perf_counter(), targets()
    crowds = _crowds(all_targets, draws, only, late_after=start + seconds)
    for seed, name in product(range(FIRST, FIRST + 100), all_targets):
        late = time.perf_counter() - start >= seconds or seed - FIRST >= RUNS.get(name, repetitions)
        if only in name and (name, seed, draws) not in known and not late:
            run = {"target": name} | covered(*all_targets[name][:3], seed, draws)
            known[name, seed, draws] = run
            with KEPT.open("a") as file:
                file.write(json.dumps(run) + "\n")
    rows, every = [], []
    for name in all_targets:
        done = [
            run for (target, seed, count), run in known.items() if (target, count) == (name, draws) and seed >= FIRST
        ]
        hits = [abs(off) < norm.ppf(0.975) for run in done for off in run["off"]]
        if hits:
            spread = np.abs(np.mean([run["spread"] for run in done], 0)).max()
            many = [abs(off) < norm.ppf(0.975) for off in crowds.get(name, ())]
            rows.append([name, str(len(done)), share(hits), f"{np.std([o for run in done for o in run['off']]):.2f}", share(many) if many else "",
                         f"{np.std(crowds[name]):.2f}" if many else "", f"{spread:.1%}", f"{sum(run['seconds'] for run in done):.0f} s"])  # fmt: skip
            every += hits
    rows.append(["all", "", share(every), "", "", "", "", ""])
    record("bayes", "Coverage of the intervals of samplers", ["target", "runs", "coverage", "spread of errors", "coverage of large runs", "spread",
           "standard deviation off by", "processor time"], rows, f"95 % intervals of posterior means; a run is 4 chains of {draws} draws of HMC after 200 of warm-up, and "
           "five coordinates of it count (ten in more than ten dimensions); in parentheses the 95 % interval of the\ncoverage itself, coordinates taken as independent. Spread of "
           "errors: standard deviation of (mean - true mean) / stated error, 1 where errors are right.\nThe standard deviation is that of the worst "
           "coordinate, averaged over runs. Large runs: up to 400 chains that warm up together, up to three times, read in groups of four.\n92 to 98 % are wanted.")  # fmt: skip


def _crowds(all_targets, draws, only, late_after):
    """Errors of large runs by target, kept beside the others."""
    runs = [json.loads(line) for line in CROWDS.read_text().splitlines()] if CROWDS.exists() else []
    known = {(run["target"], run["seed"]): run["off"] for run in runs}
    for seed, (name, (density, mean, *_)) in product(range(FIRST + 500, FIRST + 503), all_targets.items()):
        if only in name and (name, seed) not in known and time.perf_counter() < late_after:
            run = crowded(density, mean, seed, draws, CROWD.get(name, 400))
            known[name, seed] = run["off"]
            with CROWDS.open("a") as file:
                file.write(json.dumps({"target": name} | run) + "\n")
    return {
        name: [off for (target, _), some in known.items() if target == name for off in some] for name in all_targets
    }


def potentials(name, mean, precision):
    """Minus the log density of a target in JAX: Gaussians by their precision, the others written again."""
    from jax import numpy as jnp
    from jax.nn import softplus

    if precision is not None:
        m, p = jnp.asarray(mean), jnp.asarray(precision)
        return lambda w: (w - m) @ p @ (w - m) / 2
    if name == "logistic regression":
        rng = np.random.default_rng(0)
        x = rng.standard_normal((30, 2))
        y = (rng.random(30) < 1 / (1 + np.exp(-x @ [1.0, -0.5]))).astype(float)
        x, y = jnp.asarray(x), jnp.asarray(y)
        return lambda w: -(y * (x @ w) - softplus(x @ w)).sum() + (w**2).sum() / 2
    return {
        "logistic distribution": lambda w: (w + 2 * softplus(-w)).sum(),
        "mixture": lambda w: -jnp.logaddexp(-((w - 1) ** 2) / 2, -((w + 1) ** 2) / 2).sum(),
        "funnel": lambda w: w[0] ** 2 / 2 + (w[1:] ** 2 * jnp.exp(-w[0])).sum() / 2 + (len(w) - 1) * w[0] / 2,
    }[name]


def beside_numpyro(draws, only):
    """Smallest effective sample size for each gradient, ours over that of NumPyro's NUTS."""
    import jax
    from numpyro.diagnostics import effective_sample_size
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    rows = []
    for name, (density, mean, _, precision) in targets().items():
        if only not in name:
            continue
        kernel = NUTS(potential_fn=potentials(name, mean, precision))
        run = MCMC(
            kernel, num_warmup=300, num_samples=draws, num_chains=4, chain_method="vectorized", progress_bar=False
        )
        ours = theirs = steps = gradients = ours_time = theirs_time = 0.0
        for seed in range(SEEDS):
            start = time.perf_counter()
            run.run(jax.random.PRNGKey(seed), init_params=0.1 * jax.random.normal(jax.random.PRNGKey(100 + seed), (4, len(mean))),
                    extra_fields=("num_steps",))  # fmt: skip
            theirs_time += time.perf_counter() - start
            theirs += np.min(effective_sample_size(np.asarray(run.get_samples(group_by_chain=True))))
            gradients += float(np.sum(np.asarray(run.get_extra_fields()["num_steps"])))
            start = time.perf_counter()
            result = sample_posterior(density, torch.zeros(len(mean)), chains=4, draws=draws, warmup=300, seed=seed)
            ours_time += time.perf_counter() - start
            ours += float(effective_sample_size(result.values.numpy()).min())
            warm = sample_posterior(density, torch.zeros(len(mean)), chains=4, draws=1, warmup=300, seed=seed)
            steps += (
                (result.gradients - warm.gradients) * draws / (draws - 1)
            )  # ours counts the warm-up, theirs does not
        ratio = (ours / steps) / (theirs / gradients)
        rows.append([name, f"{ratio:.2f}", f"{ours:.0f}", f"{steps:.0f}", f"{ours_time:.1f} s", f"{theirs:.0f}",
                     f"{gradients:.0f}", f"{theirs_time:.1f} s"])  # fmt: skip
        print(*rows[-1], sep="   ", flush=True)
    if not only:
        columns = ["target", "ratio", "ours", "gradients", "time", "NumPyro", "gradients", "time, with compiling"]
        record("bayes", "Samplers compared with NumPyro", columns, rows,
               "Smallest effective sample size of a coordinate, by NumPyro's own estimate for both, and gradients after "
               f"warm-up, sums over {SEEDS} seeds; 4 chains of {draws} draws. Ratio: ours for each gradient over that of NUTS; at least 0.7 is wanted.")  # fmt: skip


def beside_laplace():
    """Prior precisions of largest evidence on two models, ours beside laplace-torch's."""
    from laplace import Laplace
    from sklearn.datasets import load_breast_cancer, load_diabetes
    from torch.utils.data import DataLoader, TensorDataset

    for name, load, likelihood in (
        ("diabetes", load_diabetes, "regression"),
        ("cancer", load_breast_cancer, "classification"),
    ):
        x, y = load(return_X_y=True)
        x = torch.as_tensor((x - x.mean(0)) / x.std(0)).float()[:300]
        classes = likelihood == "classification"
        y = torch.as_tensor(y)[:300] if classes else torch.as_tensor((y - y.mean()) / y.std()).float()[:300]
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(x.shape[1], 10), nn.Tanh(), nn.Linear(10, 2 if classes else 1))
        net = train(net, (x, y if classes else y[:, None]), optimizer=Adam(1e-2, decay=1e-2), steps=300).model
        noise = 1.0 if classes else 0.7
        ours = laplace(net, (x, y), noise=noise)
        loader = DataLoader(TensorDataset(x, y if classes else y[:, None]), batch_size=100)
        theirs = Laplace(net, likelihood, subset_of_weights="all", hessian_structure="full",
                         **({} if classes else {"sigma_noise": noise}))  # fmt: skip
        theirs.fit(loader)
        search = minimize_scalar(lambda t, fit=theirs: -float(fit.log_marginal_likelihood(torch.tensor([exp(t)]))), bounds=(-10, 10),
                                 method="bounded")  # fmt: skip
        other = exp(search.x)
        print(
            f"{name:10s} ours {ours.prior_precision:.5g}   laplace-torch {other:.5g}   ratio {ours.prior_precision / other:.4f}"
        )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--numpyro", action="store_true")
    options.add_argument("--laplace", action="store_true")
    options.add_argument("--only", default="", help="targets whose name holds this")
    options.add_argument("--repetitions", type=int, default=40)
    options.add_argument("--draws", type=int, default=300)
    options.add_argument("--seconds", type=float, default=float("inf"), help="of coverage; the next run goes on")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    if chosen.numpyro:
        beside_numpyro(chosen.draws, chosen.only)
    elif chosen.laplace:
        beside_laplace()
    else:
        coverage(chosen.repetitions, chosen.draws, chosen.only, chosen.seconds)
