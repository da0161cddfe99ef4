"""Cuts are found where a function is not smooth, and only there."""

import pytest
import torch
from torch.nn import functional

from gnomon.kernels.duals.numeric.functions import Derivative
from gnomon.kernels.duals.numeric.pieces import find

CPU = torch.device("cpu")


@pytest.mark.parametrize("reach", [0.9, 10.0, 1500.0])
@pytest.mark.parametrize(
    "function, corners",
    [
        (torch.tanh, []),
        (torch.sin, []),
        (functional.elu, [0.0]),
        (functional.softsign, [0.0]),
        (functional.hardtanh, [-1.0, 1.0]),
        (functional.hardswish, [-3.0, 3.0]),
        (lambda x: torch.relu(x - 0.3), [0.3]),
        (lambda x: (x > torch.pi / 7).double(), [torch.pi / 7]),
    ],
)
def test_hard_cuts(function, corners, reach):
    found = find(function, reach, CPU).hard
    expected = [k for k in corners if abs(k) < reach]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_jumps_are_found_to_the_last_digit_and_measured():
    k = torch.pi / 7
    pieces = find(lambda x: 2.5 * (x > k).double() + torch.sin(x), 10.0, CPU)
    jumps = pieces.cuts[pieces.jump != 0]
    assert jumps.tolist() == pytest.approx([k], rel=4e-15)
    assert pieces.jump[pieces.jump != 0].tolist() == pytest.approx([2.5], rel=1e-9)
    assert not bool(find(functional.elu, 10.0, CPU).jump.any())
    assert find(Derivative(functional.selu), 10.0, CPU).jump.count_nonzero() == 1


def test_a_pulse_of_one_percent_is_seen():
    for k in (0.4, 0.43, 0.5, 0.5002, 0.57, 0.66, 0.79):
        pieces = find(lambda x, k=k: ((x > k) & (x < 1.01 * k)).double(), 10.0, CPU)
        assert pieces.hard.tolist() == pytest.approx([k, 1.01 * k], rel=1e-12)


def test_a_feature_beside_a_plateau_is_not_lost():
    """A wide interval samples tanh at -1 only; its parts tell."""
    cuts = find(torch.tanh, 2000.0, CPU).cuts
    assert int((cuts.abs() < 5).sum()) >= 4


def test_soft_cuts_are_needed_by_coarse_rules_only():
    pieces = find(torch.tanh, 10.0, CPU)
    assert len(pieces.within(10.0, 4.0)) > 0
    assert len(pieces.within(10.0, 1e-3)) == 0
