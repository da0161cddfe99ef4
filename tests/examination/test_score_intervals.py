"""Intervals of explained variance, perplexity and shares: against resampling, by coverage, and at their limits."""

from math import exp

import pytest
import torch

from gnomon.core.metrics import binomial_interval, explained_variance
from gnomon.examination.score_intervals import explained_variance_interval, perplexity_interval, share_interval


def draws(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def resampled(score, n, *, seed=0, resamples=2000):
    """The middle 95 % of a score over samples of n examples with replacement (the bootstrap)."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.tensor([score(torch.randint(n, (n,), generator=generator)) for _ in range(resamples)])
    return found.double().quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()


def test_explained_variance_has_the_interval_of_the_bootstrap():
    y = draws(400, 2)
    f = y + 0.4 * draws(400, 2, seed=1)
    found = explained_variance_interval(f, y)
    low, high = resampled(lambda i: explained_variance(f[i], y[i]), 400)
    assert found.low == pytest.approx(low, abs=0.1 * (high - low))
    assert found.high == pytest.approx(high, abs=0.1 * (high - low))


def test_perplexity_and_shares_of_tokens_have_the_intervals_of_the_bootstrap():
    """Examples of different lengths, whose tokens are right together."""
    counts = torch.arange(400).remainder(7) + 3
    skill = torch.sigmoid(draws(400))
    right = (skill * counts).round()
    losses = counts * (1.5 - skill)
    low, high = resampled(lambda i: float(right[i].sum() / counts[i].sum()), 400)
    found = share_interval(right, counts)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))
    low, high = resampled(lambda i: exp(float(losses[i].sum() / counts[i].sum())), 400)
    found = perplexity_interval(losses, counts)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_ninety_five_percent_of_the_intervals_hold_the_true_explained_variance():
    """y = x + noise of variance 1 / 4, predicted by x: 1 - 0.25 / 1.25 = 0.8 of the variance is explained."""
    runs = 1000
    held = 0
    for seed in range(runs):
        x, noise = draws(2, 80, 1, seed=seed)
        held += 0.8 in explained_variance_interval(x, x + 0.5 * noise)
    assert 0.925 < held / runs < 0.975


def test_ninety_five_percent_of_the_intervals_hold_the_true_share_of_tokens():
    """60 examples of 12 tokens that are all right or all wrong with probability 0.9: tokens are not independent."""
    held, naive = 0, 0
    for seed in range(1000):
        right = 12.0 * (torch.rand(60, generator=torch.Generator().manual_seed(seed)) < 0.9)
        held += 0.9 in share_interval(right, torch.full((60,), 12))
        naive += 0.9 in binomial_interval(int(right.sum()), 720)
    assert held / 1000 > 0.935 and naive / 1000 < 0.5


def test_examples_of_one_token_have_the_exact_interval_of_a_share():
    right = torch.tensor([1.0] * 30 + [0.0] * 10)
    found, exact = share_interval(right, torch.ones(40)), binomial_interval(30, 40)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.005)  # n - 1 instead of n
    for share in (0.0, 1.0):
        found, exact = share_interval(torch.full((40,), share), torch.ones(40)), binomial_interval(int(40 * share), 40)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_without_enough_examples_there_is_no_interval():
    assert explained_variance_interval(draws(2, 1), draws(2, 1, seed=1)) is None
    assert explained_variance_interval(draws(9, 1), torch.ones(9, 1, dtype=torch.float64)) is None
    assert (
        share_interval(torch.ones(2), torch.ones(2)) is None and share_interval(torch.zeros(9), torch.zeros(9)) is None
    )
    assert perplexity_interval(torch.ones(2), torch.ones(2)) is None
