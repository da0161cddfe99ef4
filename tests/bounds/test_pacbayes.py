"""PAC-Bayes: the inequalities against root finding, the law of weights against torch's, certificates against truth."""

from math import log

import pytest
import torch
from scipy.optimize import brentq
from torch import nn
from torch.distributions import Normal, kl_divergence

import gnomon
from gnomon import InputError
from gnomon.bounds import (
    LearnedPrior,
    NewWeightsPrior,
    OwnWeightsPrior,
    catoni_bound,
    certify,
    mcallester_bound,
    seeger_bound,
)
from gnomon.bounds.pacbayes.inequalities import inverse_kl, quadratic_bound
from gnomon.bounds.pacbayes.posterior import GaussianWeights, gaussian_kl


def kl(r, p):
    first, second = (torch.distributions.Bernoulli(torch.tensor(v, dtype=torch.float64)) for v in (r, p))
    return kl_divergence(first, second).item()


@pytest.mark.parametrize("risk", [0.001, 0.02, 0.3, 0.9])
@pytest.mark.parametrize("budget", [1e-4, 0.01, 0.4])
def test_the_inverse_of_kl_is_the_root(risk, budget):
    root = brentq(lambda p: kl(risk, p) - budget, risk, 1 - 1e-15, xtol=1e-14)
    assert inverse_kl(risk, budget) == pytest.approx(root, abs=1e-11)


def test_the_family_is_ordered_and_the_square_root_forms_solve_their_inequalities():
    for risk, div, n in [(0.01, 20.0, 1000), (0.2, 300.0, 5000), (0.0, 5.0, 60_000)]:
        half = (div + log(2 * n**0.5 / 0.05)) / (2 * n)
        assert seeger_bound(risk, div, n) <= min(quadratic_bound(risk, div, n), mcallester_bound(risk, div, n)) + 1e-15
        q = quadratic_bound(
            risk, div, n
        )  # q = risk + sqrt(2 q B') with B' = 2 half, the fixed point it is derived from
        assert q == pytest.approx(risk + 2 * half + 2 * (half * (risk + half)) ** 0.5, rel=1e-12)
        # Catoni's bound at its best constant is about (1) without ln(2 sqrt n): never far above the inverse of kl
        best = catoni_bound(risk, div, n, 0.05, constants=torch.logspace(-2, 1, 400).tolist())
        assert best <= mcallester_bound(risk, div, n) + 0.05


@pytest.mark.parametrize(
    "call",
    [
        lambda: seeger_bound(1.2, 0.0, 10),
        lambda: seeger_bound(0.1, -1.0, 10),
        lambda: seeger_bound(0.1, 0.0, 0),
        lambda: seeger_bound(0.1, 0.0, 10, 1.0),
        lambda: catoni_bound(0.1, 0.0, 10, constants=[]),
        lambda: inverse_kl(0.1, -0.1),
        lambda: inverse_kl(float("nan"), 0.1),
    ],
)
def test_numbers_out_of_range_are_told(call):
    with pytest.raises(InputError, match="must be"):
        call()


def test_the_divergence_is_that_of_torch():
    """pac-bayes-gaussian-kl: KL = sum_i ln(l / s_i) + (s_i^2 + (m_i - a_i)^2) / (2 l^2) - 1/2."""
    m, a = torch.randn(2, 7).double()
    s, p = torch.rand(2, 7).double() + 0.1
    assert torch.isclose(gaussian_kl(m, s, a, p), kl_divergence(Normal(m, s), Normal(a, p)).sum())


def test_weights_are_drawn_and_weighed_as_their_law_says():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3))
    law = GaussianWeights.around(net, deviation=0.5)
    assert sorted(law.means) == ["0.bias", "0.weight", "3.bias", "3.weight"] and float(law.kl()) == 0.0
    law = law.moved({k: m + 0.1 for k, m in law.means.items()}, {k: 0.7 * s for k, s in law.stds.items()})
    generator = torch.Generator().manual_seed(0)
    ratios, expected = [], 0.0
    for _ in range(100):
        weights = law.weights(generator)
        by_hand = sum(
            float(
                (
                    Normal(law.means[k], law.stds[k]).log_prob(w).double()
                    - Normal(law.prior_means[k], law.prior_stds[k]).log_prob(w).double()
                ).sum()
            )
            for k, w in weights.items()
        )
        ratios.append(law.log_ratio(weights))
        assert ratios[-1] == pytest.approx(by_hand, rel=1e-3, abs=1e-2)  # float32 sums of 50 terms of size 1
    ratios = torch.tensor(ratios)
    expected = float(law.kl())
    assert abs(float(ratios.mean()) - expected) < 5 * float(ratios.std()) / 10
    drawn = law.draw(seed=3)
    weights = law.weights(torch.Generator().manual_seed(3))
    x = torch.randn(5, 1, 4, 4)
    assert torch.allclose(drawn(x), law.module.eval()(x) * 0 + law.outputs(x, weights))
    assert torch.allclose(law.votes(x, draws=3).sum(1), torch.ones(5).double())


def problem(n, seed=0, noise=0.0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=g)
    y = (x[:, 0] > 0).long()
    flipped = torch.rand(n, generator=g) < noise
    return x, torch.where(flipped, 1 - y, y)


@pytest.mark.parametrize("prior", [LearnedPrior(epochs=2), NewWeightsPrior(), OwnWeightsPrior()])
def test_a_certificate_leaves_the_module_alone_and_is_above_the_test_error(prior):
    """Statement pac-bayes-learning."""
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    before = {k: v.clone() for k, v in net.state_dict().items()}
    state = torch.get_rng_state()
    found = gnomon.certify(net, problem(600), test=problem(400, 1), prior=prior, epochs=1, draws=80)
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items()) and net.training
    assert torch.equal(state, torch.get_rng_state()) and all(p.grad is None for p in net.parameters())
    assert found.stochastic.holds and found.counted == 600 - prior.used(600)
    assert all(bound.value >= 0 and abs(bound.delta - 0.05) < 1e-15 for bound in found.bounds)
    assert all(bound.holds for bound in found.bounds)
    x, y = problem(400, 1)
    drawn = [found.posterior.draw(seed=1), found.posterior.votes(x, draws=40, seed=3)]
    assert float(found.single.measured.value) == pytest.approx(float((drawn[0](x).argmax(1) != y).double().mean()))
    assert float(found.majority.measured.value) == pytest.approx(float((drawn[1].argmax(1) != y).double().mean()))
    assert float(found.others[0].value) >= found.stochastic.value
    assert found.plots() and found.to_dict()
    if isinstance(prior, NewWeightsPrior):
        again = certify(net, problem(600), prior=prior, epochs=1, draws=80)
        assert again.stochastic.value == found.stochastic.value


def test_one_draw_is_the_network_that_its_bound_speaks_of():
    found = certify(nn.Linear(3, 2), problem(300), epochs=1, draws=100, seed=5)
    order = torch.randperm(300, generator=torch.Generator().manual_seed(5))
    x, y = (t[order][150:] for t in problem(300))
    error = float((found.posterior.draw(seed=6)(x).argmax(1) != y).double().mean())
    assert float(found.single.factors[0].value) == pytest.approx(error)


def test_random_labels_are_certified_as_such():
    x, _ = problem(400)
    y = torch.randint(2, (400,), generator=torch.Generator().manual_seed(9))
    found = certify(nn.Linear(3, 2), (x, y), epochs=1, draws=80)
    assert found.stochastic.value > 0.4


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.last = nn.Linear(3, 2)

    def forward(self, x):
        return self.last(x * self.scale)


@pytest.mark.parametrize(
    ("module", "data", "options", "words"),
    [
        (Odd(), problem(100), {}, "'scale' cannot be reset"),
        (nn.Linear(3, 1), problem(100), {}, "an output for each class"),
        (nn.Linear(3, 2), problem(30), {}, "examples are left for the bound"),
        (nn.Linear(3, 2), (problem(100)[0], torch.randn(100)), {}, "integer classes"),
        (nn.LayerNorm(3), problem(100), {"prior": OwnWeightsPrior()}, "no layer is Linear or Conv"),
        (nn.Linear(3, 2), problem(100), {"confidence": 0.0}, "confidence must be"),
    ],
)
def test_what_cannot_be_certified_is_told(module, data, options, words):
    with pytest.raises(InputError, match=words):
        certify(module, data, **options)


@pytest.mark.full
def test_the_certificate_covers_on_two_hundred_draws():
    """Label noise of 10 %: the true error of a drawn network, from 20,000 fresh examples, is below the bound."""
    fresh = problem(20_000, seed=10_000, noise=0.1)
    broken = 0
    for seed in range(200):
        found = certify(
            nn.Linear(3, 2), problem(200, seed, 0.1), test=fresh, epochs=2, draws=200, seed=seed, confidence=0.95
        )
        broken += not found.stochastic.holds
    assert broken <= 10  # 0.05 of 200 are allowed on average by the theorem
