"""Clauses of the scope on posteriors and Markov chains that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.bayesian import metropolis_hastings, posterior_sample_average
from gnomon.bayes import HMC, module_posterior, sample_posterior

NOISE_STD, PRIOR_STD = 0.4, 1.5


def test_the_log_posterior_is_squared_error_and_weight_decay_up_to_a_constant():
    """gaussian-noise-mse, gaussian-prior-weight-decay, map-objective: -log p = |y - f|^2 / 2g^2 + |w|^2 / 2s^2 + const."""
    g = torch.Generator().manual_seed(0)
    x, y, weights = (torch.randn(*s, generator=g, dtype=torch.float64) for s in ((9, 3), (9,), (5, 3)))
    given = module_posterior(nn.Linear(3, 1, bias=False).double(), (x, y), prior_std=PRIOR_STD, noise=NOISE_STD)
    noise, prior = (
        torch.distributions.Normal(*torch.tensor([0.0, s], dtype=torch.float64)) for s in (NOISE_STD, PRIOR_STD)
    )
    normal = [float(noise.log_prob(y - x @ w).sum() + prior.log_prob(w).sum()) for w in weights]
    formula = [
        float((y - x @ w).square().sum() / (2 * NOISE_STD**2) + w.square().sum() / (2 * PRIOR_STD**2)) for w in weights
    ]
    assert np.ptp(np.add(normal, formula)) < 1e-10 and np.ptp(formula) > 1
    assert np.ptp([float(given(w)) + f for w, f in zip(weights, formula, strict=True)]) < 1e-10


def test_density_weights_are_biased_and_importance_weights_are_not():
    """posterior-sample-average: weights p(w_i) on draws from p err by > 10 s.e.; on uniform draws, weights p / q are right."""
    equal, dense = posterior_sample_average.observed(1.0, 500, 0), posterior_sample_average.control(1.0, 500, 0)
    off = [abs(float((e.mean() - 2.0) / (e.std() / len(e) ** 0.5))) for e in (equal, dense)]
    assert off[0] < 3 < 10 < off[1]
    w = -7 + 16 * torch.rand(40, 4000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = ((-(w - 1).square() / 2).softmax(1) * w.square()).sum(1)
    assert abs(float((found.mean() - 2.0) / (found.std() / 40**0.5))) < 3


def test_metropolis_hastings_as_a_matrix_and_as_a_chain():
    """metropolis-hastings: P = R a off the diagonal, the rest stays; q_i P_ij = q_j P_ji to 1e-12; TV <= 0.02."""
    rng = np.random.default_rng(0)
    q, proposal = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6), size=6)
    accept = np.minimum(1, 17 * q * proposal.T / (17 * q[:, None] * proposal))  # the unknown factor 17 cancels
    moves = proposal * accept * (1 - np.eye(6))
    chain = moves + np.diag(1 - moves.sum(1))
    assert np.abs(q[:, None] * chain - (q[:, None] * chain).T).max() < 1e-12 > np.abs(q @ chain - q).max()
    free = proposal * np.minimum(1, q / q[:, None]) * (1 - np.eye(6))
    free += np.diag(1 - free.sum(1))
    assert np.abs(q @ free - q).max() > 0.01
    shares = metropolis_hastings.observed(400, 400, 0).mean(0)
    assert float((shares - metropolis_hastings.predicted()).abs().sum()) / 2 <= 0.02


def test_a_chain_with_a_period_has_one_law_but_does_not_come_to_it():
    """detailed-balance: uniqueness needs that all states are reached; convergence needs in addition that there is no period."""
    chain = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.allclose([0.5, 0.5] @ chain, [0.5, 0.5]) and np.sum(np.abs(np.linalg.eigvals(chain) - 1) < 1e-9) == 1
    assert np.array_equal(np.linalg.matrix_power(chain, 101), chain)


def test_hamiltonian_samples_have_the_covariance_of_a_correlated_gaussian():
    """hamiltonian-monte-carlo: covariance [[1, 0.9], [0.9, 2]] within 5 %."""
    covariance = torch.tensor([[1.0, 0.9], [0.9, 2.0]], dtype=torch.float64)
    precision = torch.linalg.inv(covariance)
    run = sample_posterior(
        lambda x: -x @ precision @ x / 2, torch.zeros(2), method=HMC(), chains=100, draws=100, warmup=100, seed=0
    )
    draws = run.values.reshape(-1, 2)
    np.testing.assert_allclose(torch.cov(draws.T), covariance, rtol=0.05)


@pytest.mark.parametrize("batch", [4, 12])
def test_gradient_noise_widens_the_law_unless_it_is_subtracted(batch):
    """stochastic-gradient-langevin: v' = (1 - e c) v - e grad + sqrt(2 c e) z; minibatches add e^2 var(grad) to the noise."""
    rng, step, friction, chains = np.random.default_rng(0), 0.05, 1.0, 4000
    values = rng.normal(size=12)  # E = sum (w - y)^2 / 2 over 12 values, so the law has variance 1 / 12
    spread = 12**2 / batch * values.var() * (12 - batch) / 11  # variance of 12 / batch times a sum without replacement

    def variance(extra):
        w, v, total = np.zeros(chains), np.zeros(chains), []
        for t in range(400):
            drawn = np.argpartition(rng.random((chains, 12)), batch - 1, axis=1)[:, :batch]
            gradient = 12 * w - 12 * values[drawn].mean(1)
            noise = max(2 * friction * step - extra, 0.0) ** 0.5
            v = (1 - step * friction) * v - step * gradient + noise * rng.normal(size=chains)
            w = w + step * v
            total.append(w.var() if t > 200 else 0.0)
        return 12 * np.sum(total) / 199

    corrected, raw = variance(step**2 * spread), variance(0.0)
    assert corrected == pytest.approx(1, abs=0.08)
    assert raw > 1.2 if batch == 4 else raw == pytest.approx(corrected, abs=0.05)
