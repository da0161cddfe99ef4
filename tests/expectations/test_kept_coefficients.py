"""Coefficients of the last tiles are kept: the same numbers, less work, and a limit on memory."""

import numpy as np
import pytest
import torch

from gnomon.expectations import mehler
from gnomon.expectations.line import Sampler
from gnomon.expectations.mehler import coefficients


def roots(count, start=0.5):
    return torch.linspace(start, 2 * start, count, dtype=torch.float64)


def test_the_same_deviations_are_computed_once_and_others_again():
    sampler = Sampler(torch.tanh)
    first = coefficients(sampler, roots(5), 16)
    assert coefficients(sampler, roots(5), 16) is first
    longer, other = coefficients(sampler, roots(5), 64), coefficients(sampler, roots(5, 0.7), 16)
    assert longer.alpha.shape == (5, 64) and other is not first and not np.array_equal(other.alpha, first.alpha)
    fresh = coefficients(Sampler(torch.tanh), roots(5), 16)
    assert np.array_equal(fresh.alpha, first.alpha) and np.array_equal(fresh.tail, first.tail)
    assert coefficients(Sampler(torch.sin), roots(5), 16).alpha[0, 1] != first.alpha[0, 1]  # by function


@pytest.mark.parametrize(("limit", "kept"), [(16 * 5 * 3, 3), (16 * 5 * 3 + 16, 3), (16 * 5 - 1, 0)])
def test_no_more_numbers_are_kept_than_the_limit_allows(monkeypatch, limit, kept):
    monkeypatch.setattr(mehler, "MAX_NUMBERS_HELD", limit)
    sampler = Sampler(torch.tanh)
    for start in (0.5, 0.6, 0.7, 0.8, 0.9):
        coefficients(sampler, roots(5, start), 16)
    assert len(sampler.series) == kept
    assert sum(made.alpha.size for made in sampler.series.values()) <= limit
    coefficients(sampler, roots(5), 16 * 2)
    assert sum(made.alpha.size for made in sampler.series.values()) <= limit
    coefficients(sampler, roots(5, 1.5), 16)
    assert sum(made.alpha.size for made in sampler.series.values()) <= limit


def test_the_oldest_numbers_are_dropped_first(monkeypatch):
    monkeypatch.setattr(mehler, "MAX_NUMBERS_HELD", 16 * 5 * 3)
    sampler = Sampler(torch.tanh)
    for start in (0.5, 0.6, 0.7, 0.8, 0.9):
        coefficients(sampler, roots(5, start), 16)
    assert [key[0] for key in sampler.series] == [roots(5, start).numpy().tobytes() for start in (0.7, 0.8, 0.9)]
