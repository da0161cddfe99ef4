"""Clauses of the scope on Bayesian inference that no claim measures; the ledger names these tests."""

from math import gamma

import numpy as np
import torch
from torch import nn

import gnomon
from gnomon.bayes import effective_sample_size
from gnomon.dynamics.posterior import gp_posterior


def test_a_reducible_chain_keeps_several_laws():
    """detailed-balance: q P = q for more than one q if states of one part never reach the other."""
    rng = np.random.default_rng(0)
    chain = np.zeros((5, 5))
    for part in (slice(0, 2), slice(2, 5)):
        block = rng.uniform(size=chain[part, part].shape)
        block = block + block.T  # symmetric, so that the row sums are in detailed balance with it
        chain[part, part] = block / block.sum(1, keepdims=True)
        law = np.zeros(5)
        law[part] = block.sum(1) / block.sum()
        np.testing.assert_allclose(law @ chain, law, atol=1e-12)
    assert np.sum(np.abs(np.linalg.eigvals(chain) - 1) < 1e-9) == 2  # two independent stationary laws


def test_the_effective_sample_size_has_a_best_step_and_falls_tenfold_beside_it():
    """mh-slow-mixing: ESS is largest at an acceptance of 0.234 to 0.5, and falls tenfold for bad steps."""
    rng = np.random.default_rng(0)
    scales = np.array([0.05, 0.3, 1.0, 2.4, 6.0, 40.0])
    x, path, accepted = np.zeros((len(scales), 8)), [], np.zeros(len(scales))
    for _ in range(2000):
        new = x + scales[:, None] * rng.normal(size=x.shape)
        take = np.log(rng.uniform(size=x.shape)) < (x**2 - new**2) / 2
        x, accepted = np.where(take, new, x), accepted + take.mean(1) / 2000
        path.append(x)
    draws = torch.from_numpy(np.array(path)).permute(1, 2, 0)[..., None]
    sizes = np.array([float(effective_sample_size(chains)) for chains in draws])
    best = sizes.argmax()
    assert 0.234 <= accepted[best] <= 0.5 and np.all(np.diff(accepted) < 0)
    assert sizes[0] < sizes[best] / 10 and sizes[-1] < sizes[best] / 10


def test_explicit_euler_multiplies_the_energy_of_a_well():
    """hamiltonian-monte-carlo: H grows as (1 + step^2)^t on H = (x^2 + v^2) / 2: 1.01^100 = 2.7048."""
    x, v = 0.3, 0.7
    start = x * x + v * v
    for _ in range(100):
        x, v = x + 0.1 * v, v - 0.1 * x
    assert abs((x * x + v * v) / start - 2.70481382942) < 1e-9


def test_the_covariance_of_fewer_points_is_a_part_of_the_matrix():
    """gaussian-process-definition: leaving out points leaves the covariance of the others as it is."""
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)).double()
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    whole, part = gnomon.limit(net).nngp(x), gnomon.limit(net).nngp(x[[0, 2, 5]])
    assert torch.allclose(part, whole[[0, 2, 5]][:, [0, 2, 5]], rtol=1e-12)


def test_the_mean_of_a_gaussian_process_is_kernel_ridge():
    """gp-regression: the posterior mean is k^T (K + s^2)^-1 y, the prediction of kernel ridge with ridge s^2."""
    rng = np.random.default_rng(0)
    x, y, new, noise = rng.normal(size=(12, 2)), rng.normal(size=12), rng.normal(size=(5, 2)), 0.3
    kernel = lambda a, b: np.exp(-((a[:, None] - b[None]) ** 2).sum(2))  # noqa: E731
    c = np.zeros(12)
    for _ in range(4000):  # descent on |K c - y|^2 / 2 + (noise / 2) c K c, whose minimum is kernel ridge
        c -= 0.1 * (kernel(x, x) @ c - y + noise * c)
    found = gp_posterior(kernel(x, x), y, nngp_test=kernel(new, x), nngp_test_test=np.ones(5), noise=noise)
    np.testing.assert_allclose(np.asarray(found.mean).ravel(), kernel(new, x) @ c, rtol=1e-8)


def test_langevin_dynamics_samples_an_energy_that_is_not_quadratic():
    """langevin-dynamics: E x^2 = 2 Gamma(3/4) / Gamma(1/4) = 0.676 and E v^2 = 1 for the energy x^4 / 4."""
    rng, step, total = np.random.default_rng(0), 0.1, np.zeros(2)
    x, v, kept = np.zeros(2000), np.zeros(2000), np.exp(-0.1)
    for t in range(1200):
        v = v - step / 2 * x**3
        x = x + step / 2 * v
        v = kept * v + np.sqrt(1 - kept**2) * rng.normal(size=2000)
        x = x + step / 2 * v
        v = v - step / 2 * x**3
        total += (t >= 200) * np.array([(x**2).mean(), (v**2).mean()])
    np.testing.assert_allclose(total / 1000, [2 * gamma(0.75) / gamma(0.25), 1], atol=0.02)
