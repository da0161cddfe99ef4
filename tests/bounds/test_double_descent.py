"""Double descent: risks near the threshold, means over repetitions, and what counts as a peak."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
import torch

from gnomon.bounds.double_descent import DoubleDescent, isotropic_risk, summarize_errors


@pytest.mark.parametrize(
    ("n", "p", "noise", "risk"),
    [
        (10, 11, 0.5, inf), (10, 10, 0.5, inf), (10, 9, 0.5, inf), (10, 8, 0.5, 4.0), (10, 12, 0.5, 3 / 6 + 5.0),
        (10, 10, 0.0, 0.0), (10, 9, 0.0, 0.0), (10, 11, 0.0, 3 / 11), (30, 10, 0.5, 5 / 19), (10, 40, 0.5, 2.25 + 5 / 29),
    ],
)  # fmt: skip
def test_the_risk_of_least_squares_near_the_threshold(n, p, noise, risk):
    assert isotropic_risk(n, p, noise=noise, signal=3.0) == pytest.approx(risk)


def test_errors_are_means_over_repetitions_with_their_standard_errors():
    rows = [torch.tensor([[1.0, 2.0], [3.0, 7.0], [5.0, 3.0]]) + i for i in range(3)]
    found = summarize_errors([1, 2, 4], rows, "width")
    assert found.train == (3.0, 4.0, 5.0) and found.test == (4.0, 5.0, 6.0) and found.lowest == (2.0, 3.0, 4.0)
    assert found.deviation == pytest.approx([np.std([2, 7, 3], ddof=1) / 3**0.5] * 3) and found.repetitions == 3
    assert summarize_errors([1, 2], [torch.ones(1, 2)] * 2, "width").deviation == (0.0, 0.0)


CURVE = DoubleDescent((1, 2, 3, 4, 5), (2.0, 1.0, 1.5, 1.3, 0.9), (0.0,) * 5, (1.0, 0.5, 0.009, 0.0, 0.0), "width", 1)


@pytest.mark.parametrize(
    ("changes", "peak"),
    [
        ({}, 3),
        ({"test": (2.0, 1.0, 1.21, 1.1, 0.9)}, 3),
        ({"test": (2.0, 1.0, 1.19, 1.1, 0.9)}, None),  # a rise below a fifth
        ({"deviation": (0, 0, 0.14, 0, 0)}, 3),
        ({"deviation": (0, 0, 0.16, 0.2, 0)}, None),  # within two deviations
        ({"deviation": (0, 0, 0.16, 0.2, 0), "lowest": (2, 1, 1.3, 1, 0.9)}, 3),  # above in every repetition
        ({"test": (1.0, 1.5, 1.9, 1.6, 1.8)}, 3),
        ({"test": (1.0, 1.5, 1.6, 1.7, 1.8)}, None),  # it does not fall again
    ],
)
def test_a_peak_rises_by_a_fifth_and_falls_again(changes, peak):
    assert replace(CURVE, **changes).peak == peak


@pytest.mark.parametrize(
    ("train", "threshold"),
    [
        ((1.0, 0.5, 0.009, 0.0, 0.0), 3),
        ((1.0, 0.5, 0.011, 0.0, 0.0), 4),
        ((0.0, 0.0, 0.011, 1.0, 1.0), 2),
        ((1.0, 1.0, 1.0, 1.0, 1.0), None),
        ((0.0,) * 5, None),
    ],
)
def test_training_data_are_fitted_at_a_hundredth_of_the_largest_error(train, threshold):
    assert replace(CURVE, train=train).threshold == threshold
