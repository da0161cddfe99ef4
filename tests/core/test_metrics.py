"""Intervals cover at the stated confidence, counted over all outcomes; scores by their definitions."""

from math import comb

import pytest
import torch

from gnomon.core.metrics import binomial_interval, explained_variance


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [1, 12, 60])
def test_the_interval_of_a_share_covers_it_by_exact_enumeration(share, n):
    chance = [comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    covered = sum(p for k, p in enumerate(chance) if share in binomial_interval(k, n, confidence=0.9))
    assert covered >= 0.9 - 1e-12


def test_the_tails_of_the_interval_are_exactly_half_the_risk():
    interval = binomial_interval(7, 20, confidence=0.9)
    above = sum(comb(20, k) * interval.low**k * (1 - interval.low) ** (20 - k) for k in range(7, 21))
    below = sum(comb(20, k) * interval.high**k * (1 - interval.high) ** (20 - k) for k in range(8))
    assert above == pytest.approx(0.05, rel=1e-9) and below == pytest.approx(0.05, rel=1e-9)


def test_explained_variance_by_hand():
    y = torch.tensor([[0.0], [2.0]])
    assert explained_variance(torch.tensor([[1.0], [1.0]]), y) == 0.0  # the mean explains nothing
    assert explained_variance(torch.tensor([[0.5], [1.5]]), y) == 0.75
