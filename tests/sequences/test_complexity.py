"""Cost against length: parts found from counts that are known, and the fused count of an LSTM."""

from math import inf, log

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.core.errors import InputError
from gnomon.sequences.complexity import ComplexityProfile, _fused_operations, _parts


def test_constant_linear_and_quadratic_parts_of_counts_are_recovered():
    lengths = [3, 5, 11, 20]
    counts = tuple(700.0 + 30.0 * t + 2.0 * t**2 for t in lengths)
    assert _parts(lengths, counts) == pytest.approx((700.0, 30.0, 2.0), rel=1e-9)


def test_parts_below_a_millionth_of_the_last_count_are_zero():
    """A linear part of which the share at length 20 is 2e-6 is kept, one of 0.5e-6 is not."""
    lengths = [2, 4, 9, 20]
    for share, kept in ((2e-6, True), (5e-7, False)):
        slope = share * 400e3 / 20
        constant, linear, quadratic = _parts(lengths, tuple(slope * t + 1e3 * t**2 for t in lengths))
        assert constant == 0.0 and quadratic == pytest.approx(1e3, rel=1e-5)
        assert (linear == pytest.approx(slope, rel=1e-3)) if kept else linear == 0.0


def test_parts_are_fitted_by_relative_errors():
    """Four counts that no parabola meets: weighted least squares by the normal equations."""
    t, y = np.array([2.0, 4.0, 9.0, 20.0]), np.array([10.0, 70.0, 150.0, 2000.0])
    design = np.stack([np.ones(4), t, t**2], 1) / y[:, None]
    expected = np.linalg.solve(design.T @ design, design.T @ np.ones(4))
    assert _parts([2, 4, 9, 20], tuple(y)) == pytest.approx(tuple(expected), rel=1e-8)
    assert _parts([2, 4, 9, 20], (0.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)
    small = np.array([0.25, 0.5, 0.75, 3.0])  # counts below one are not divided by themselves
    design = np.stack([np.ones(4), t, t**2], 1) / np.maximum(small, 1.0)[:, None]
    expected = np.linalg.solve(design.T @ design, design.T @ (small / np.maximum(small, 1.0)))
    assert _parts([2, 4, 9, 20], tuple(small)) == pytest.approx(tuple(expected), rel=1e-8)


def test_a_fused_lstm_multiplies_both_matrices_at_every_step():
    """Five steps, three sequences, inputs of 7 and states of 2: weights (8, 7) and (8, 2)."""
    assert _fused_operations((5, 3, 7), (8, 7), (8, 2)) == 2 * 5 * 3 * (8 * 7 + 8 * 2)


def test_power_and_crossover_are_those_of_the_last_lengths():
    found = ComplexityProfile((4, 10, 30), (7.0, 50.0, 600.0), (1.0, 2.0, 3.0), (5.0, 12.0, 3.0), (0.0, 0.0, 0.0))
    assert found.power == pytest.approx(log(12) / log(3)) and found.crossover == 4.0
    assert ComplexityProfile((4, 10), (1.0, 2.0), (1.0, 1.0), (5.0, 12.0, 0.0), (0.0,) * 3).crossover == inf
    assert ComplexityProfile((4, 10), (1.0, 2.0), (1.0, 1.0), (5.0, 12.0, -1.0), (0.0,) * 3).crossover == inf


def test_operations_and_kept_bytes_of_a_linear_layer_are_counted_by_hand():
    """Autograd keeps the input (3 floats a step) and the tanh output (5 floats a step), the parameters not."""
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh())
    found = sequences.complexity_profile(net, torch.randn(2, 9, 3), lengths=[1, 4, 9])
    assert found.lengths == (1, 4, 9) and found.operations == tuple(2.0 * 3 * 5 * t for t in (1, 4, 9))
    own = 4 * 2 * 9 * 3  # the storage of all inputs, of which a beginning is a view
    assert found.kept == tuple(own + 4.0 * 5 * t for t in (1, 4, 9))
    assert found.kept_parts == pytest.approx((own, 20.0, 0.0))


def test_lengths_are_the_whole_and_its_half_quarter_and_eighth():
    net = nn.Linear(3, 5)
    assert sequences.complexity_profile(net, torch.zeros(1, 24, 3)).lengths == (3, 6, 12, 24)
    assert sequences.complexity_profile(net, torch.zeros(1, 4, 3), lengths=[1, 2, 4]).lengths == (1, 2, 4)
    for lengths in ([1, 2, 5], [2, 4, 4]):
        with pytest.raises(InputError, match="at least three"):
            sequences.complexity_profile(net, torch.zeros(1, 4, 3), lengths=lengths)
