"""Inclusion probabilities and intervals against a bootstrap that solves every replicate anew."""

import numpy as np
import pytest

from gnomon.discovery.forms.base import RegressionSystem
from gnomon.discovery.regression import TermSelection
from gnomon.discovery.stability import resample_terms


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_spreads_are_those_of_least_squares_on_resampled_blocks(complex_numbers):
    """Columns of very different size: the deviation of a coefficient is in the units of its own column."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((120, 3)) * [1.0, 50.0, 0.02]
    if complex_numbers:
        rows = rows + 1j * rng.standard_normal((120, 3)) * [1.0, 50.0, 0.02]
    target = rows @ [2.0, -0.03, 0.0] + 0.3 * rng.standard_normal(120)
    blocks = np.arange(120) // 6
    inclusion, spread = resample_terms(
        RegressionSystem(rows, target, blocks, 120.0), (0, 1), TermSelection(draws=40, seed=5)
    )
    drawn, made = np.random.default_rng(5).integers(20, size=(40, 20)), []
    for choice in drawn:
        index = np.concatenate([np.flatnonzero(blocks == b) for b in choice])
        made.append(np.linalg.lstsq(rows[index][:, :2], target[index], rcond=None)[0])
    np.testing.assert_allclose(spread, np.std(made, axis=0), rtol=1e-6)
    assert spread[0] / spread[1] > 20 and inclusion[0] == inclusion[1] == 1.0 and inclusion[2] < 0.5


@pytest.mark.parametrize(("independent", "used"), [(60.0, 60.0), (1.0, 2.718)])
def test_inclusion_is_the_share_of_replicates_that_choose_a_term(independent, used):
    """Against elimination by least squares on the rows of every replicate, with a weak third term."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((60, 4)) * [1.0, 30.0, 0.1, 2.0]
    target = rows @ [1.0, 0.02, 1.5, 0.0] + 0.9 * rng.standard_normal(60)
    blocks = np.repeat(np.arange(12), 5)[rng.permutation(60)]
    floor = 0.3
    selection = TermSelection(draws=30, seed=2, floor=floor)
    inclusion, _ = resample_terms(RegressionSystem(rows, target, blocks, independent), (0,), selection)
    counts = np.zeros(4)
    for draw in np.random.default_rng(2).integers(12, size=(30, 12)):
        index = np.concatenate([np.flatnonzero(blocks == b) for b in draw])
        a, y = rows[index], target[index]

        def left(chosen, a=a, y=y):
            rest = a[:, chosen] @ np.linalg.lstsq(a[:, chosen], y, rcond=None)[0] - y if chosen else y
            return float(rest @ rest / (y @ y))

        chosen, met = [0, 1, 2, 3], []
        while True:
            met.append((used * np.log(left(chosen) + floor**2) + len(chosen) * np.log(used), list(chosen)))
            if not chosen:
                break
            chosen = min(([c for c in chosen if c != j] for j in chosen), key=left)
        counts[min(met)[1]] += 1
    np.testing.assert_allclose(inclusion, counts / 30)
    assert len(set(counts)) >= 3


def test_spreads_do_not_depend_on_the_units_of_columns():
    rng = np.random.default_rng(0)
    rows, blocks = rng.standard_normal((30, 2)), np.arange(30) // 3
    target, units = rows @ [1.0, -2.0] + rng.standard_normal(30), np.array([1e6, 1e-6])
    one, other = (
        resample_terms(RegressionSystem(r, target, blocks, 30.0), (0, 1), TermSelection(draws=9))
        for r in (rows, rows * units)
    )
    np.testing.assert_allclose(other[1] * units, one[1], rtol=1e-6)
    np.testing.assert_array_equal(one[0], other[0])


def test_the_sign_of_a_seed_does_not_matter():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20, 2))
    system = RegressionSystem(rows, rows[:, 0] + rng.standard_normal(20), np.arange(20) // 2, 20.0)
    spreads = [resample_terms(system, (0,), TermSelection(draws=5, seed=s))[1].tolist() for s in (-4, 4, 5)]
    assert spreads[0] == spreads[1] != spreads[2]


def test_without_replicates_nothing_is_known_and_an_empty_support_has_no_spread():
    rows = np.random.default_rng(0).standard_normal((20, 2))
    system = RegressionSystem(rows, rows[:, 0], np.arange(20) // 5, 20.0)
    inclusion, spread = resample_terms(system, (0,), TermSelection(draws=0))
    assert np.isnan(inclusion).all() and np.isnan(spread).all() and len(inclusion) == 2
    assert resample_terms(system, (), TermSelection(draws=3))[1].shape == (0,)
    empty = RegressionSystem(rows * [1.0, 0.0], 0 * rows[:, 0], np.arange(20) // 5, 20.0)
    inclusion, spread = resample_terms(empty, (0,), TermSelection(draws=3))
    assert inclusion.tolist() == [0.0, 0.0] and spread.tolist() == [0.0]
