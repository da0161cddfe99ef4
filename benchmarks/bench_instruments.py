"""Instruments of generative models and of chains: how often healthy ones are accused, and planted faults found.

    python benchmarks/bench_instruments.py [--runs 100] [--only mmd] [--seconds 600]

Every run is kept in build/instruments.jsonl, so that the benchmark can be run in pieces; the table holds all of them.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path

import torch
from measure import record
from scipy.stats import beta
from torch import nn

from gnomon import generative as g
from gnomon.bayes import Metropolis, sample_posterior
from gnomon.bayes.draws import PosteriorDraws
from gnomon.data import gaussian_mixture, ring_of_gaussians
from gnomon.generative.flows.base import AbstractTransform
from gnomon.generative.flows.standard_flows import autoregressive_spline_flow
from gnomon.generative.instruments.density import flow_density_check
from gnomon.generative.instruments.ratio import ratio_calibration
from gnomon.generative.vae import GaussianObservation
from gnomon.training import Adam

KEPT = Path(__file__).parents[1] / "build" / "instruments.jsonl"
RING = ring_of_gaussians(8, std=0.15)
HALF = gaussian_mixture(RING.means[:4], std=0.15)
FAULTY = 25
"""Runs of each planted fault."""


def real(n, seed):
    """Examples of the ring with a seed of their own."""
    return RING.sample(n, seed=seed)


def autoregression(seed, n=1000, rho=0.5):
    """Four chains whose neighbors have this correlation."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(4, n, 1, generator=generator, dtype=torch.float64)
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + (1 - rho**2) ** 0.5 * x[:, t]
    return PosteriorDraws(x, "", 1.0, 0, 0, 0)


def two_modes(seed):
    """Chains that stay in two far modes."""
    start = torch.tensor([[8.0], [-8.0]] * 2)
    return sample_posterior(lambda x: torch.logaddexp(-((x - 8) ** 2).sum() / 2, -((x + 8) ** 2).sum() / 2), start, chains=4,
                  method=Metropolis(0.5, adapt=False), draws=100, warmup=5, seed=seed)  # fmt: skip


def copies(seed):
    """A sampler that repeats its 200 training examples with a little noise."""
    train, generator = real(200, 10 * seed), torch.Generator().manual_seed(seed)
    picked = train[torch.randint(200, (150,), generator=generator)]
    return g.sample_memorization(
        picked + 0.01 * torch.randn(150, 2, generator=generator), train, real(200, 10 * seed + 1), permutations=199
    )


def moved(make, seed):
    """A flow in float64 with all parameters moved: a new one is the identity."""
    torch.manual_seed(seed)
    flow, generator = make(), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in flow.double().parameters():
            p += 0.15 * torch.randn(p.shape, generator=generator, dtype=torch.float64)
    return flow


class WrongSign(AbstractTransform):
    """A scaling whose log determinant has the wrong sign."""

    def __init__(self, seed):
        super().__init__()
        self.log_scale = nn.Parameter(0.2 + 0.5 * torch.rand(2, generator=torch.Generator().manual_seed(seed)).double())

    def forward(self, z):
        return z * self.log_scale.exp(), -self.log_scale.sum().expand(len(z))

    def inverse(self, x):
        return x / self.log_scale.exp(), self.log_scale.sum().expand(len(x))


def vae(seed, collapsed):
    """A VAE of points along a line after a short training, or with a decoder that does not listen."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(300, 1, generator=generator) @ torch.tensor([[1.0, 2.0]]) + 0.3 * torch.randn(
        300, 2, generator=generator
    )
    torch.manual_seed(seed)
    model = g.VAE(
        nn.Linear(2, 4),
        nn.Linear(2, 2),
        latent=2,
        shape=(2,),
        observation=GaussianObservation(3.0 if collapsed else 0.3),
    )
    if collapsed:
        nn.init.zeros_(model.decoder.weight)
        model.decoder.weight.requires_grad_(False)
    trained = g.fit(model, x, steps=300, optimizer=Adam(1e-2)).model
    return g.elbo_gap(trained, x)


def ratio(seed, factor):
    """The exact ratio of two Gaussians, its logit multiplied by a factor."""
    p, q = gaussian_mixture([[0.0]]), gaussian_mixture([[1.5]])
    return ratio_calibration(
        lambda x: factor * (p.log_prob(x) - q.log_prob(x)),
        p.sample(1000, seed=2 * seed),
        q.sample(1000, seed=2 * seed + 1),
    )


MAKERS = (
    lambda: g.coupling_flow(2, layers=2, hidden=16),
    lambda: g.autoregressive_flow(2, layers=2, hidden=16),
    lambda: g.spline_flow(2, layers=1, hidden=16),
    lambda: autoregressive_spline_flow(2, layers=2, hidden=16),
)
CASES = {
    "mmd_test": (lambda s: g.mmd_test(real(100, 2 * s), real(100, 2 * s + 1), permutations=199),
                 lambda s: g.mmd_test(HALF.sample(100, seed=2 * s), real(100, 2 * s + 1), permutations=199), "half of the modes"),
    "energy_test": (lambda s: g.energy_test(real(100, 2 * s), real(100, 2 * s + 1), permutations=199),
                    lambda s: g.energy_test(HALF.sample(100, seed=2 * s), real(100, 2 * s + 1), permutations=199), "half of the modes"),
    "classifier_test": (lambda s: g.classifier_test(real(200, 2 * s), real(200, 2 * s + 1)),
                        lambda s: g.classifier_test(HALF.sample(200, seed=2 * s), real(200, 2 * s + 1)), "half of the modes"),
    "coverage": (lambda s: g.sample_coverage(real(300, 2 * s), real(300, 2 * s + 1)),
                 lambda s: g.sample_coverage(HALF.sample(300, seed=2 * s), real(300, 2 * s + 1)), "half of the modes"),
    "memorization": (lambda s: g.sample_memorization(real(150, 3 * s), real(200, 3 * s + 1), real(200, 3 * s + 2), permutations=199), copies, "copies"),
    "flow_density_check": (lambda s: flow_density_check(moved(MAKERS[s % 4], s), grid=150, samples=500),
                           lambda s: flow_density_check(g.Flow([WrongSign(s)], shape=(2,)), grid=150, samples=500), "wrong sign of the Jacobian"),
    "elbo_gap": (lambda s: vae(s, False), lambda s: vae(s, True), "collapsed posterior"),
    "ratio_calibration": (lambda s: ratio(s, 1.0), lambda s: ratio(s, 3.0), "logits three times too large"),
    "R-hat and effective draws": (autoregression, two_modes, "chains in two modes"),
}  # fmt: skip


def share(hits, runs):
    """How many of how many, with the exact 95 % interval of the rate."""
    low, high = beta.ppf([0.025, 0.975], [max(hits, 1e-9), hits + 1], [runs - hits + 1, max(runs - hits, 1e-9)])
    return f"{hits} of {runs} ({low:.1%} to {high:.1%})"


def main():
    """Run what has had no turn, then write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=100, help="of each healthy case")
    options.add_argument("--only", default="", help="instruments whose name holds this")
    options.add_argument("--seconds", type=float, default=float("inf"), help="no run begins after so many")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    KEPT.parent.mkdir(exist_ok=True)
    runs = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    known, begin = {tuple(run["key"]): run["found"] for run in runs}, time.perf_counter()
    for seed, name, side in product(range(5000, 5000 + chosen.runs), CASES, (0, 1)):
        key = (name, side, seed)
        if (
            chosen.only not in name
            or key in known
            or time.perf_counter() - begin > chosen.seconds
            or (side and seed >= 5000 + FAULTY)
        ):
            continue
        known[key] = [finding.kind for finding in CASES[name][side](seed).findings]
        with KEPT.open("a") as file:
            file.write(json.dumps({"key": key, "found": known[key]}) + "\n")
    rows = []
    for name, (_, _, fault) in CASES.items():
        sides = [[found for (n, s, _), found in known.items() if (n, s) == (name, side)] for side in (0, 1)]
        rows.append(
            [
                name,
                share(sum(map(bool, sides[0])), len(sides[0])),
                fault,
                share(sum(map(bool, sides[1])), len(sides[1])),
            ]
        )
    record("generative", "False alarms and detections of instruments", ["instrument", "false alarms", "planted fault", "found"], rows,
           "Samples of a ring of eight Gaussians (100 to 300 on each side, tests at level 1 %), random flows, VAEs after 300 steps, four chains of\n"
           "1,000 draws with autocorrelation 0.5. In parentheses 95 % intervals of the rates. Level 1 % is the stated rate of the three tests and of\n"
           "memorization; the others have thresholds of several standard errors.")  # fmt: skip


if __name__ == "__main__":
    main()
