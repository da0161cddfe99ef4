"""Samplers against densities whose moments are known, and leapfrog against the orders of theory."""

import json

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.bayes import HMC, Langevin, Metropolis, StochasticGradientSampler, module_posterior, sample_posterior
from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.draws import PosteriorDraws
from gnomon.bayes.samplers.hmc import leapfrog
from gnomon.core import InputError

COVARIANCE = torch.tensor([[1.0, 0.8], [0.8, 2.0]]).double()
PRECISION = torch.linalg.inv(COVARIANCE)


def gaussian(x):
    return -(x - 1) @ PRECISION @ (x - 1) / 2


@pytest.mark.parametrize(
    "method",
    [
        HMC(),
        *(
            pytest.param(method, marks=pytest.mark.full)
            for method in (HMC(length=2.0), Metropolis(), Langevin(0.4), Langevin(0.4, None, adjusted=True))
        ),
    ],
    ids=repr,
)
def test_mean_and_covariance_of_a_gaussian(method):
    """Means within 4 standard errors; variances within 4 of theirs, 2 / ESS of the square being a rough one."""
    draws = sample_posterior(gaussian, torch.zeros(2), method=method, draws=500, warmup=200, seed=1)
    assert bool(((draws.mean - 1).abs() < 4 * draws.error).all())
    squares = (draws.values - 1).square()
    record = PosteriorDraws(squares, "", 1.0, 0, 0, 0)
    assert bool(((record.mean - COVARIANCE.diagonal()).abs() < 4 * record.error + 0.02).all())
    cross = PosteriorDraws(((draws.values - 1).prod(2, keepdim=True)), "", 1.0, 0, 0, 0)
    assert abs(float(cross.mean) - 0.8) < 4 * float(cross.error) + 0.02


def test_leapfrog_errs_in_the_energy_by_the_square_of_the_step_and_goes_back():
    p, x, v = (
        LogDensityWithGradient(gaussian, True),
        torch.tensor([[2.0, 0.0]]).double(),
        torch.tensor([[1.0, -0.5]]).double(),
    )
    one = torch.ones(2).double()

    def energy(x, v):
        return float(v.square().sum() / 2 - gaussian(x[0]))

    steps = (0.2, 0.1, 0.05, 0.025)
    errors = []
    for step in steps:
        path, end = [(x, v, p(x)[1])], int(round(2 / step))
        for _ in range(end):
            a, b, _, g = leapfrog(p, path[-1][0], path[-1][1], path[-1][2], step, one, 1)
            path.append((a, b, g))
        errors.append(max(abs(energy(a, b) - energy(x, v)) for a, b, _ in path))
    assert abs(np.polyfit(np.log(steps), np.log(errors), 1)[0] - 2) < 0.1
    a, b, _, g = leapfrog(p, x, v, p(x)[1], 0.2, one, 10)
    back = leapfrog(p, a, -b, g, 0.2, one, 10)
    assert_allclose(back[0], x, atol=1e-12)
    assert_allclose(-back[1], v, atol=1e-12)


@pytest.mark.full
def test_underdamped_langevin_has_the_right_variance_in_a_harmonic_well_at_every_step():
    """The splitting is exact there in x; explicit Euler with the same step would be 1 / (1 - step^2 / 4) too wide."""
    draws = sample_posterior(
        lambda x: -x.square().sum() / 2, torch.zeros(1), method=Langevin(1.2), draws=3000, warmup=100
    )
    square = PosteriorDraws(draws.values.square(), "", 1.0, 0, 0, 0)
    assert abs(float(square.mean) - 1) < 4 * float(square.error)
    assert 4 * float(square.error) < 1 / (1 - 1.2**2 / 4) - 1


@pytest.mark.full
def test_overdamped_langevin_is_too_wide_by_its_step_unless_adjusted():
    """x' = (1 - e / 2) x + sqrt(e) z has the variance 1 / (1 - e / 4)."""
    method = Langevin(1.0, None)
    draws = sample_posterior(lambda x: -x.square().sum() / 2, torch.zeros(1), method=method, draws=2500, warmup=100)
    square = PosteriorDraws(draws.values.square(), "", 1.0, 0, 0, 0)
    assert abs(float(square.mean) - 4 / 3) < 4 * float(square.error) < 0.3


def test_chains_in_two_far_modes_are_not_called_converged():
    def mixture(x):
        return torch.logaddexp(-((x - 8) ** 2).sum() / 2, -((x + 8) ** 2).sum() / 2)

    start = torch.tensor([[8.0], [-8.0]] * 4)
    draws = sample_posterior(mixture, start, method=Metropolis(0.5, adapt=False), draws=60, warmup=5)
    assert not draws.converged and "not reliable yet" in draws.verdict
    (finding,) = [f for f in draws.findings if f.kind == "chains-not-converged"]
    assert finding.evidence[0].value > 1.5


def test_draws_are_the_same_for_a_seed_and_others_for_another():
    one, two, other = (
        sample_posterior(gaussian, torch.zeros(2), draws=20, warmup=20, seed=s).values for s in (3, 3, 4)
    )
    assert torch.equal(one, two) and not torch.equal(one, other)


def test_a_density_that_cannot_be_mapped_is_called_for_each_chain():
    def branching(x):
        return -x.square().sum() / 2 if float(x.detach().sum()) > -100 else -x.square().sum()

    draws = sample_posterior(branching, torch.zeros(1), method=Metropolis(), chains=2, draws=50, warmup=20)
    assert draws.values.shape == (2, 50, 1)


def test_the_record_tells_draws_itself_and_goes_to_arviz():
    draws = sample_posterior(gaussian, torch.zeros(2), draws=100, warmup=100)
    assert json.loads(json.dumps(draws.to_dict()))["method"] == "HMC"
    assert draws.to_arviz()["posterior"]["x"].shape == (8, 100, 2) and len(draws.plots()) == 2
    low = draws.interval(0.9)[0]
    inside = ((draws.values[..., 0] >= low.low) & (draws.values[..., 0] <= low.high)).double().mean()
    assert abs(float(inside) - 0.9) < 0.01


@pytest.mark.full
def test_minibatch_dynamics_is_off_in_proportion_to_its_step():
    """Full batches, Gaussian posterior of precision h: x' = (1 - e h / 2) x + sqrt(e) z has variance 1 / (h (1 - e h / 4))."""
    x = torch.ones(8, 1).double()
    posterior = module_posterior(nn.Linear(1, 1, bias=False).double(), (x, x[:, 0]))
    draws = sample_posterior(
        posterior, posterior.start, method=StochasticGradientSampler(0.2, batch=8), draws=1500, warmup=50
    )
    square = PosteriorDraws((draws.values - 8 / 9).square(), "", 1.0, 0, 0, 0)
    exact = 1 / (9 * (1 - 0.2 * 9 / 4))
    assert abs(float(square.mean) - exact) < 4 * float(square.error) < exact - 1 / 9


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: sample_posterior(lambda x: x, torch.zeros(2)), r"must return one number as a tensor of shape \(\)"),
        (lambda: sample_posterior(lambda x: x.log().sum(), torch.zeros(2)), "not finite at a starting point"),
        (lambda: sample_posterior(gaussian, torch.zeros(3, 2)), r"start must be a point \(d,\) or 8 points \(8, d\)"),
        (lambda: sample_posterior(gaussian, torch.zeros(2), draws=0), "draws must be"),
        (lambda: sample_posterior(gaussian, torch.zeros(2), method="hmc"), r"Pass HMC\(\)"),
        (
            lambda: sample_posterior(lambda x: 1 / 0, torch.zeros(2)),
            "raised ZeroDivisionError at the first starting point",
        ),
        (lambda: sample_posterior(gaussian, torch.zeros(2), method=StochasticGradientSampler()), "needs data"),
        (lambda: HMC(accept=1.5), "accept must be"),
        (lambda: Langevin(adjusted=True), "Pass friction=None"),
    ],
)
def test_bad_input_is_one_sentence(call, told):
    with pytest.raises(InputError, match=told):
        call()
