"""Intervals cover at the stated confidence, counted over all outcomes; scores by their definitions."""

from math import comb, inf

import pytest
import torch
from scipy.stats import t

from gnomon.core.metrics import (
    accuracy,
    binomial_interval,
    effective_rank,
    explained_variance,
    predicted_classes,
    relative_change,
    student_quantile,
)


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


def test_effective_rank_of_a_geometric_spectrum_is_its_closed_form():
    """p_i = 2^-i for i = 1 .. m and the rest on one more: the entropy is log 2 sum i 2^-i + m 2^-m log 2."""
    m = 20
    p = torch.tensor([2.0**-i for i in range(1, m + 1)] + [2.0**-m], dtype=torch.float64)
    entropy = sum(i * 2.0**-i for i in range(1, m + 1)) + m * 2.0**-m
    assert effective_rank(1e300 * p) == pytest.approx(2**entropy, rel=1e-12)  # the scale does not enter
    assert effective_rank(-p) == effective_rank(p) and effective_rank(0 * p) == 0


def test_relative_change_is_in_units_of_the_first():
    a, b = torch.tensor([[3.0, 0.0], [0.0, 4.0]]), torch.tensor([[3.0, 0.0], [0.0, 1.0]])
    assert relative_change(a, b) == pytest.approx(3 / 5) and relative_change(b, a) == pytest.approx(3 / 10**0.5)
    assert relative_change(0 * a, a) == inf and relative_change(0 * a, 0 * a) == 0


def test_accuracy_is_the_same_from_classes_and_from_one_hot_rows():
    outputs, classes = torch.tensor([[0.2, 0.1, 0.9], [3.0, 1.0, 2.0], [0.0, 1.0, 0.5]]), torch.tensor([2, 1, 1])
    assert accuracy(outputs, classes) == accuracy(outputs, torch.eye(3)[classes]) == pytest.approx(2 / 3)
    assert accuracy(outputs[:, :1], classes) is None and accuracy(outputs, outputs) is None
    assert accuracy(torch.tensor([[1.0], [-2.0]]), torch.tensor([[1.0], [1.0]])) == 0.5


def test_explained_variance_of_unequal_outputs_divides_by_the_mean_variance():
    """Columns (0, 2, 4) and (1, 1, 4) have variances 8/3 and 2; errors 1, 0, 2 and 0, 1, 1 have mean square 7/6."""
    y = torch.tensor([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    outputs = y + torch.tensor([[1.0, 0.0], [0.0, -1.0], [-2.0, 1.0]])
    assert explained_variance(outputs, y) == pytest.approx(1 - (7 / 6) / (7 / 3))
    constant = torch.ones(3, 1)
    assert explained_variance(constant, constant) == 1.0 and explained_variance(2 * constant, constant) == -inf


def test_decisions_are_the_largest_output_or_the_sign():
    assert predicted_classes(torch.tensor([[0.1, 0.3, 0.2], [5.0, -1.0, 4.0]])).tolist() == [1, 0]
    assert predicted_classes(torch.tensor([[-0.1], [0.0], [0.1]])).tolist() == [0, 0, 1]


def test_accuracy_of_signs_counts_every_output():
    outputs = torch.tensor([[0.5, -0.2], [-3.0, 0.1], [0.2, 0.3]])
    targets = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]])
    assert accuracy(outputs, targets) == pytest.approx(4 / 6)


def test_the_ends_of_the_interval_of_a_share():
    none, all_of_them = binomial_interval(0, 8, confidence=0.9), binomial_interval(8, 8, confidence=0.9)
    assert none.low == 0 and (1 - none.high) ** 8 == pytest.approx(0.05)
    assert all_of_them.high == 1 and all_of_them.low**8 == pytest.approx(0.05)
    assert binomial_interval(3, 9).confidence == 0.95


@pytest.mark.parametrize(("freedom", "confidence"), [(1, 0.95), (4, 0.9), (30, 0.99)])
def test_quantiles_of_students_t_are_those_of_its_distribution(freedom, confidence):
    quantile = student_quantile(freedom, confidence=confidence)
    assert t.cdf(quantile, freedom) - t.cdf(-quantile, freedom) == pytest.approx(confidence, rel=1e-9)
    assert quantile > 0
