"""Clauses of the scope on predictions and samplers of Bayesian networks that no claim measures."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from gnomon.atlas.claims.bayesian import (
    bayesian_predictive,
    gaussian_process_definition,
    stochastic_gradient_langevin,
)
from gnomon.bayes import Langevin, module_posterior, posterior_predictive
from gnomon.bayes.draws import PosteriorDraws


def test_means_and_variances_of_posterior_draws_are_within_two_percent():
    """bayesian-predictive: mean and variance of f(x) over draws of p(w | S) = p(S | w) p(w) / p(S), closed form, 2 %."""
    x, y, new = bayesian_predictive.problem(12, 0)
    noise = bayesian_predictive.NOISE_STD
    law = module_posterior(nn.Linear(3, 1, bias=False).double(), (x, y), noise=noise)
    covariance = torch.linalg.inv(x.T @ x / noise**2 + torch.eye(3).double())
    center = covariance @ x.T @ y / noise**2
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(400, 3, generator=generator, dtype=torch.float64)
    z = z @ torch.linalg.inv(torch.linalg.cholesky(z.T @ z / 400)).T  # now their second moments are exact
    half = (z @ torch.linalg.cholesky(covariance).T).reshape(4, 100, 3)
    found = posterior_predictive(
        law, PosteriorDraws(center + torch.cat([half, -half], 1), "exact", 1.0, 0, 0, 0), new, most=800
    )
    np.testing.assert_allclose(found.mean[:, 0], new @ center, rtol=1e-9)  # draws come in pairs around the center
    np.testing.assert_allclose(found.epistemic, (new @ covariance * new).sum(1), rtol=0.02)
    np.testing.assert_allclose(found.aleatoric, noise**2)
    points = center + half.reshape(-1, 3)[:50]
    logs = torch.stack([law(w) for w in points])  # log p(S | w) + log p(w): the evidence p(S) is a constant
    exact = torch.distributions.MultivariateNormal(center, covariance).log_prob(points)
    assert float((logs - exact).std()) < 1e-9 < float(exact.std())


def test_draws_from_a_proposal_are_weighted_by_the_ratio_of_densities():
    """posterior-sample-average: sum w_i f_i / sum w_i with w = p / q, for q = N(0, 2^2) and p = N(1, 1); without q it errs."""
    w = 2 * torch.randn(60, 4000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p, q = -(w - 1).square() / 2, -w.square() / 8
    off = []
    for logs in (p - q, p):
        found = (logs.softmax(1) * w.square()).sum(1)
        off.append(abs(float((found.mean() - 2) / (found.std() / 60**0.5))))
    assert off[0] < 3 < 10 < off[1]


@pytest.mark.full
def test_the_bias_of_langevin_steps_is_proportional_to_their_size():
    """stochastic-gradient-langevin: (variance - 1 / h) has slope 1 +- 0.3 in the step; the mean stays at the posterior's."""
    steps, h, biases = np.array([0.03, 0.06, 0.12]), 9, []
    for step in steps:
        rows = stochastic_gradient_langevin.variances(lambda e: Langevin(e, None), step, 8, 5000, 60, 0)
        biases.append(float(rows.mean()) - 1 / h)
    assert min(biases) > 0 and abs(np.polyfit(np.log(steps), np.log(biases), 1)[0] - 1) <= 0.3


def test_combinations_of_outputs_of_wide_networks_are_gaussian():
    """gaussian-process-definition: every a f(x_1) + b f(x_2) is N(0, a^2 k_11 + 2 a b k_12 + b^2 k_22); narrow ones are not."""
    kernel = gaussian_process_definition.predicted(0).reshape(2, 2).numpy()
    for width, passes in ((400, True), (2, False)):
        f = gaussian_process_definition.outputs(width, 3000, 0).numpy()
        found = []
        for weights in ((1.0, 0.0), (0.7, -0.7), (1.0, 2.0)):
            a = np.array(weights)
            found.append(stats.kstest(f @ a, stats.norm(0, (a @ kernel @ a) ** 0.5).cdf).pvalue)
            assert width == 2 or np.mean((f @ a) ** 2) == pytest.approx(a @ kernel @ a, rel=0.1)
        assert (min(found) > 1e-3) == passes
