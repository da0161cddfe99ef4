"""Intervals and bounds of measurements on models: noise, refits, kernels, certificates, draws of a posterior."""

from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

import gnomon
from evaluation.levels.statement import Statement
from gnomon.attribution import variational_information
from gnomon.bayes.draws import PosteriorDraws
from gnomon.bounds import certify, scaling_law
from gnomon.bounds.capacity import RademacherComplexity
from gnomon.bounds.memorization import network_rademacher
from gnomon.bounds.replace_one import replace_one_gap
from gnomon.bounds.stability import ridge_stability
from gnomon.generative import VAE
from gnomon.generative.instruments import elbo_gap, flow_density_check
from gnomon.lab.judges import in_order, monotone_in
from gnomon.linalg.label_test import label_test
from gnomon.robustness.distances import noise_sensitivity

Held = tuple[float, float | None]

DELTA = 0.2
"""Risk of each bound: large enough that a bound that fails too often is seen in a few hundred repetitions."""


def _normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _noise(seed: int) -> Held:
    """A linear network with weights (3, 4) at zero: noise of deviation 0.1 adds 0.1^2 * 25 / 2 to the loss."""
    net = nn.Linear(2, 1, bias=False).double()
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[3.0, 4.0]]))
    found = noise_sensitivity(net, (torch.zeros(30, 2).double(), torch.zeros(30).double()), sigma=0.1, seed=seed)
    return 0.125 in found.interval, None


def _shuffled(seed: int) -> Held:
    """Labels drawn apart from the kernel are one more shuffle."""
    x = _normal(seed, 30, 3)
    found = label_test(x @ x.mT, _normal(seed + 10**7, 30), shuffles=200, seed=seed)
    return found.alignment in found.shuffled_interval, None


def _extrapolated(seed: int) -> Held:
    sizes = np.geomspace(100, 6400, 9)
    errors = 3 * sizes**-0.4 * np.exp(0.05 * np.random.default_rng(seed).standard_normal(9))
    law = scaling_law(sizes.tolist(), errors.tolist())
    if not law.trusted:  # nothing is stated
        return True, None
    told = law.at(12_800).interval
    assert told is not None
    measured = 3 * 12_800**-0.4 * float(np.exp(0.05 * np.random.default_rng(seed + 10**7).standard_normal()))
    return measured in told, None


RIDGE = 4.0
ROWS = 60


def _fit(x: Tensor, y: Tensor, seed: int) -> object:
    weights = torch.linalg.solve(x.mT @ x + RIDGE * torch.eye(3, dtype=x.dtype), x.mT @ y)
    return lambda inputs: inputs @ weights


@cache
def _expected_gap() -> float:
    """The gap of ridge regression on sixty rows, by 20,000 training sets: |w - e_1|^2 + 1 less the training error.

    The mean of the squared noise, which is 1, is taken out of the training error: most of its variance is that.
    """
    x, noise = _normal(-1, 20_000, ROWS, 3), _normal(-2, 20_000, ROWS)
    y = x[:, :, 0] + noise
    weights = torch.linalg.solve(x.mT @ x + RIDGE * torch.eye(3, dtype=x.dtype), x.mT @ y[:, :, None])
    errors = ((x @ weights)[:, :, 0] - y).square() - noise.square()
    off = weights[:, :, 0] - torch.tensor([1.0, 0.0, 0.0], dtype=x.dtype)
    return float((off.square().sum(1) - errors.mean(1)).mean())


def _replaced(seed: int) -> Held:
    x = _normal(seed, ROWS + 40, 3)
    y = x[:, 0] + _normal(seed + 10**7, ROWS + 40)
    found = replace_one_gap(_fit, (x, y), draws=40, seed=seed + 2 * 10**7).gap.interval  # type: ignore[arg-type]
    assert found is not None
    return _expected_gap() in found, None


def _near(x: Tensor, z: Tensor) -> Tensor:
    return torch.exp(-torch.cdist(x, z).square())


@cache
def _predictor() -> tuple[Tensor, float]:
    """Losses of one kernel ridge regression on 200,000 new examples, and their mean."""
    x = _normal(-3, 200_060, 2)
    y = x[:, 0].clamp(-1, 1)
    inside = _near(x[:60], x[:60]) + 60 * 0.5 * torch.eye(60, dtype=torch.float64)
    made = _near(x[60:], x[:60]) @ torch.linalg.solve(inside, y[:60])
    return x, float((made - y[60:]).square().mean())


def _measured(seed: int) -> Held:
    x, truth = _predictor()
    rows = 60 + torch.randperm(200_000, generator=torch.Generator().manual_seed(seed))[:300]
    y = x[:, 0].clamp(-1, 1)
    bound = ridge_stability(_near(x[:60], x[:60]), y[:60], decay=0.5, test=(_near(x[rows], x[:60]), y[rows])).bound
    assert bound.measured is not None and bound.measured.interval is not None
    return truth in bound.measured.interval, None


def _credible(seed: int) -> Held:
    """A parameter of the prior N(0, 1), one observation with noise of deviation 1, and exact draws of N(y / 2, 1/2)."""
    truth, noise = _normal(seed, 2).tolist()
    values = (truth + noise) / 2 + _normal(seed + 10**7, 4, 500, 1) / 2**0.5
    return truth in PosteriorDraws(values, "exact", 1.0, 0, 0, 0).interval()[0], None


def _information(seed: int) -> Held:
    """Independent samples share nothing: the lower end of the interval is above 0 in 2.5 % of cases at most."""
    classes = torch.randint(3, (300,), generator=torch.Generator().manual_seed(seed))
    found = variational_information(_normal(seed, 300, 2), classes, steps=30, seed=seed)
    return found.interval.low <= 0, None


def _elbo(seed: int) -> Held:
    """p(z) = N(0, 1), p(x | z) = N(z, 1), q(z | x) = N(0, 1): the gap is the divergence of q from N(x / 2, 1/2).

    It is (2 + x^2 / 2 - 1 - ln 2) / 2, and x has the law N(0, 2) of the model: (2 - ln 2) / 2 on average.
    """
    encoder, decoder = nn.Linear(1, 2).double(), nn.Linear(1, 1, bias=False).double()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
        decoder.weight.fill_(1.0)
    vae = VAE(encoder, decoder, latent=1, shape=(1,)).double()
    x = 2**0.5 * _normal(seed, 200, 1)
    gap = elbo_gap(vae, x, draws=64, seed=seed).gap
    assert gap.interval is not None
    truth = (2 - float(np.log(2))) / 2
    return gap.interval.low <= truth, gap.interval.low / truth


def _density(seed: int) -> Held:
    law = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(3), 1.0), 1)
    found = flow_density_check(law, samples=400, seed=seed).integral.interval
    assert found is not None
    return 1.0 in found, None


NET = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1)).double()
POINTS = torch.tensor([[1.0, 0.5], [-0.3, 0.8]], dtype=torch.float64)


@cache
def _limit() -> float:
    return float(gnomon.limit(NET).nngp(POINTS)[0, 1])


def _sampled(seed: int) -> Held:
    """With one hidden layer, the mean kernel equals the limit at every width."""
    found = gnomon.sampled_limit(NET, draws=64, seed=64 * seed)(POINTS)
    assert found.nngp_error is not None
    return abs(float(found.nngp[0, 1]) - _limit()) <= 1.96 * float(found.nngp_error[0, 1]), None


def _order(seed: int) -> Held:
    """Equal means: one of two neighbors is refuted in half of (1 - confidence)."""
    a, b = _normal(seed, 2, 12).numpy()
    return in_order(confidence=0.9)(("a", "b"), {"a": a, "b": b}).verdict.value != "refuted", None


def _monotone(seed: int) -> Held:
    """Three equal means are two steps, which share the risk and depend on each other."""
    return monotone_in("x", confidence=0.9)("increasing", _normal(seed, 12, 3).numpy()).verdict.value != "refuted", None


def _certificates(seed: int) -> Held:
    """Two classes with one label in five wrong, for a linear network; all four bounds must hold together."""
    x = _normal(seed, 1300, 2).float()
    flip = torch.rand(1300, generator=torch.Generator().manual_seed(seed)) < 0.2
    y = ((x[:, 0] > 0) ^ flip).long()
    torch.manual_seed(seed)
    found = certify(
        nn.Linear(2, 2),
        (x[:300], y[:300]),
        test=(x[300:], y[300:]),
        confidence=1 - DELTA,
        epochs=1,
        draws=60,
        seed=seed,
    )
    first = found.stochastic
    assert first.measured is not None
    return all(bound.holds is not False for bound in found.bounds), float(first.measured.value) / first.value


def _linear(seed: int) -> nn.Module:
    net = nn.Linear(2, 2)
    nn.init.normal_(net.weight, generator=torch.Generator().manual_seed(seed))
    return net


SIGNED = _normal(-5, 12, 2).float()


def _fitted_signs(seed: int, draws: int = 8) -> RademacherComplexity:
    return network_rademacher(_linear, SIGNED, draws=draws, steps=10, lr=0.1, seed=seed)


@cache
def _mean_of_signs() -> float:
    return float(_fitted_signs(10**6, draws=600).value)


def _network_signs(seed: int) -> Held:
    return _mean_of_signs() in _fitted_signs(100 * seed).interval, None


LOOSE = "holds for any law and any learner"
MODELS = (
    Statement("robustness.noise_sensitivity", "a linear network at zero", "interval", 0.95, _noise, 1000, 20),
    Statement("tangent.label_test, shuffled labels", "labels unrelated to the kernel", "interval", 0.95, _shuffled, 1000, 50),
    Statement("bounds.ScalingLaw.at", "twice the largest size", "cautious interval", 0.95, _extrapolated, 400, 20, "covers every offset that the points allow"),
    Statement("bounds.replace_one", "ridge regression on 60 rows, 40 draws", "cautious interval", 0.9, _replaced, 500, 30, "allows for skewed changes of losses"),
    Statement("bounds.ridge_stability, measured error", "300 test examples", "interval", 0.95, _measured, 300, 0),
    Statement("bounds.network_rademacher", "8 draws of 12 signs", "interval", 0.95, _network_signs, 100, 0),
    Statement("bayes.Draws.interval", "exact draws of a normal posterior", "interval", 0.95, _credible, 1000, 200),
    Statement("kernels.sampled_limit", "64 copies, 1.96 standard errors", "interval", 0.95, _sampled, 200, 0),
    Statement("lab.in_order", "two equal means", "interval", 0.95, _order, 1000, 200),
    Statement("lab.monotone_in", "three equal means", "cautious interval", 0.95, _monotone, 1000, 200, "Bonferroni over two dependent steps"),
    Statement("attribution.variational_information", "independent samples", "bound", 0.975, _information, 300, 5, "trained on other examples than it is judged on"),
    Statement("generative.elbo_gap", "a linear VAE with a fixed encoder", "bound", 0.975, _elbo, 300, 20, "64 draws see most of the gap"),
    Statement("generative.flow_density_check", "a normal law in 3 dimensions", "cautious interval", 0.9999994, _density, 1000, 50, "five standard errors: a valid density is never accused"),
    Statement("bounds.certify", "a linear network, all four bounds", "bound", 1 - DELTA, _certificates, 60, 0, LOOSE),
)  # fmt: skip
