"""Bounds and fits in closed form where a small case is known, and their limits with a case on each side."""

import pytest
import torch
from torch import nn

from gnomon.bounds import scaling_law
from gnomon.bounds.pacbayes import prior
from gnomon.bounds.pacbayes.prior import LearnedPrior
from gnomon.core.inputs.source import Batch


def test_the_largest_offset_that_is_tried_may_be_the_best_one():
    """Errors that fall to 99 % of the last one: 0.99 + 0.01 (n / 1600)^-1 at the last size 1600 is one."""
    sizes = [100.0, 200.0, 400.0, 800.0, 1600.0]
    found = scaling_law(sizes, [0.99 + 0.01 * 1600 / n for n in sizes])
    assert (found.floor, found.exponent) == pytest.approx((0.99, 1.0), rel=1e-6)


def test_three_points_leave_one_degree_of_freedom():
    """Without an offset the three lie at log sizes -1, 0, 1 around the mean and deviate by d (1, -2, 1) / 6 from a line."""
    law = scaling_law([1.0, 2.0, 4.0], [1.0, 0.5, 0.3])
    assert 0 < law.exponent_interval.width < float("inf") and "5 are needed" in law.reason


@pytest.mark.parametrize(("n", "steps"), [(1000, 300), (3001, 310), (3000, 300), (5000, 500)])
def test_a_learned_prior_is_trained_for_its_epochs_and_at_least_300_steps(n, steps, monkeypatch):
    """Ten epochs of batches of 100; the last batch of an epoch may be smaller."""
    made = []
    run = type("Run", (), {"raise_if_interrupted": lambda self: self, "model": None})()
    monkeypatch.setattr(prior, "train", lambda *_, **known: made.append((known["steps"], known["batch"])) or run)
    LearnedPrior().center(nn.Linear(1, 1), Batch(torch.zeros(n, 1), torch.zeros(n)), seed=0)
    assert made == [(steps, 100)]
