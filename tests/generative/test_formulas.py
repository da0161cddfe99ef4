"""Numbers of generative models and their instruments against closed forms, distributions of torch and brute force."""

from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn
from torch.distributions import Normal, kl_divergence

from gnomon.generative import Diffusion
from gnomon.generative.diffusion.schedule import NoiseSchedule
from gnomon.generative.instruments import jensen_shannon_lower_bound, ratio_calibration, sample_coverage


def schedule():
    return NoiseSchedule(torch.tensor([0.1, 0.3, 0.2, 0.45]).double())


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(0.3))

    def forward(self, x, t):
        return (self.factor * x + t[:, None]).detach()


def test_the_weight_of_a_step_is_that_of_an_error_of_the_noise_in_its_divergence():
    """|m(x_0) - m(x_0')|^2 / (2 v) for two values of the noise that explain the same x_k."""
    s, xk, noises = schedule(), torch.tensor([0.7]).double(), (0.3, -1.1)
    for k in range(1, 5):
        a = s.kept[k]
        means = [s.posterior_mean(k, (xk - (1 - a).sqrt() * e) / a.sqrt(), xk) for e in noises]
        wanted = float((means[0] - means[1]).square()) / (2 * 0.25) / (noises[0] - noises[1]) ** 2
        assert_allclose(s.weight(k, 0.25), wanted, rtol=1e-9)


def test_the_posterior_of_a_step_is_that_of_bayes_rule():
    """q(x_{k-1} | x_k, x_0) from the joint normal distribution of x_{k-1} and x_k given x_0."""
    s, x0, xk = schedule(), torch.tensor([0.8]).double(), torch.tensor([-0.4]).double()
    for k in range(2, 5):
        before, beta = float(s.kept[k - 1]), float(s.betas[k - 1])
        mean, variance = before**0.5 * float(x0), 1 - before
        gain = variance * (1 - beta) ** 0.5 / ((1 - beta) * variance + beta)
        assert_allclose(s.posterior_mean(k, x0, xk), mean + gain * (float(xk) - (1 - beta) ** 0.5 * mean), rtol=1e-9)
        assert_allclose(s.posterior_variance[k - 1], variance - gain * (1 - beta) ** 0.5 * variance, rtol=1e-9)


@pytest.mark.parametrize("target", ["noise", "data", "velocity"])
@pytest.mark.parametrize("variance", ["posterior", "forward"])
def test_the_terms_of_the_bound_are_divergences_of_normal_distributions(target, variance):
    s = schedule()
    model = Diffusion(Linear(), s, shape=(3,), target=target, variance=variance).double()
    x = torch.randn(5, 3).double()
    found, generator = model.terms(x, seed=4), model.generator(4)
    for k in range(1, 5):
        a = float(s.kept[k])
        xk = a**0.5 * x + (1 - a) ** 0.5 * model.noise(5, (3,), generator)
        output = model.network(xk, torch.full((5,), k / 4).double())
        x0 = {
            "noise": (xk - (1 - a) ** 0.5 * output) / a**0.5,
            "data": output,
            "velocity": a**0.5 * xk - (1 - a) ** 0.5 * output,
        }[target]
        b = s.posterior_variance[max(k, 2) - 1] if variance == "posterior" else s.betas[k - 1]
        model_step = Normal(s.posterior_mean(k, x0, xk), b.sqrt())
        if k == 1:
            wanted = -model_step.log_prob(x)
        else:
            wanted = kl_divergence(Normal(s.posterior_mean(k, x, xk), s.posterior_variance[k - 1].sqrt()), model_step)
        assert_allclose(found[k - 1], wanted.sum(1), rtol=1e-7)
    end = s.kept[-1]
    prior = kl_divergence(Normal(end.sqrt() * x, (1 - end).sqrt()), Normal(0.0, 1.0)).sum(1)
    assert_allclose(found[4], prior, rtol=1e-9)
    assert_allclose(model.log_prob(x), -model.terms(x).sum(0), rtol=1e-12)


def test_the_interval_of_a_divergence_is_that_of_a_mean_of_two_samples():
    x, y = torch.randn(40, 1), 0.5 + 2 * torch.randn(70, 1)
    found = jensen_shannon_lower_bound(lambda z: 1.5 * z[:, 0] - 0.2, x, y)
    a, b = ((1.5 * z.double().numpy()[:, 0] - 0.2) for z in (x, y))
    a, b = -np.log1p(np.exp(-a)), -np.log1p(np.exp(b))
    value = np.log(2) + (a.mean() + b.mean()) / 2
    error = np.sqrt(a.var(ddof=1) / 40 + b.var(ddof=1) / 70) / 2
    assert_allclose(found.value, value, rtol=1e-5)
    assert_allclose([found.interval.low, found.interval.high], [value - 1.96 * error, value + 1.96 * error], rtol=1e-5)


def test_the_calibration_of_a_ratio_is_counted_bin_by_bin():
    x, y = torch.randn(40, 1).double(), (1 + torch.randn(45, 1)).double()
    found = ratio_calibration(lambda z: 0.8 - 1.7 * z[:, 0], x, y, bins=3)
    logits = np.concatenate([0.8 - 1.7 * z.numpy()[:40, 0] for z in (x, y)])
    order = np.argsort(logits)
    p, real = 1 / (1 + np.exp(-logits[order])), (order < 40).astype(float)
    parts = np.array_split(np.arange(80), 3)
    predicted, observed = (np.array([v[part].mean() for part in parts]) for v in (p, real))
    errors = np.array([np.sqrt((p[part] * (1 - p[part])).mean() / len(part)) for part in parts])
    assert_allclose(found.predicted, predicted, rtol=1e-9)
    assert_allclose(found.observed, observed, rtol=1e-9)
    assert_allclose(found.errors, errors, rtol=1e-9)
    sizes = np.array([len(part) for part in parts])
    assert_allclose(found.error, (np.abs(predicted - observed) * sizes).sum() / 80, rtol=1e-9)
    ratio = np.exp(logits[40:])
    assert_allclose([found.mean_ratio, found.ratio_error], [ratio.mean(), ratio.std(ddof=1) / 40**0.5], rtol=1e-9)
    assert_allclose(found.worst, (np.abs(predicted - observed) / errors).max(), rtol=1e-9)


def test_coverage_and_its_expectation_are_those_of_counting():
    data, samples, k = torch.randn(5, 2).double(), torch.randn(3, 2).double(), 2
    found = sample_coverage(samples, data, neighbors=k)
    reached = 0
    for i in range(5):
        own = sorted(float((data[i] - data[j]).norm()) for j in range(5) if j != i)[k - 1]
        reached += min(float((data[i] - s).norm()) for s in samples) <= own
    assert found.coverage == reached / 5
    # of the 4 other data points and 3 samples every pair is equally likely to be the two nearest
    nearest = list(combinations(range(4 + 3), k))
    expected = np.mean([any(i >= 4 for i in pair) for pair in nearest])
    assert_allclose(found.expected, expected, rtol=1e-12)
    assert_allclose(found.error, max(expected * (1 - expected) / 5, 1 / 25) ** 0.5, rtol=1e-12)
