"""Cuts are found where a function is not smooth, and only there."""

import pytest
import torch
from torch.nn import functional

from gnomon.expectations.functions import Derivative
from gnomon.expectations.pieces import find


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
    found = find(function, reach / 10, reach).hard
    expected = [k for k in corners if abs(k) < reach]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_jumps_are_found_to_the_last_digit_and_measured():
    k = torch.pi / 7
    pieces = find(lambda x: 2.5 * (x > k).double() + torch.sin(x), 1.0, 10.0)
    jumps = pieces.cuts[pieces.jump != 0]
    assert jumps.tolist() == pytest.approx([k], rel=4e-15)
    assert pieces.jump[pieces.jump != 0].tolist() == pytest.approx([2.5], rel=1e-9)
    assert not bool(find(functional.elu, 1.0, 10.0).jump.any())
    assert find(Derivative(functional.selu), 1.0, 10.0).jump.count_nonzero() == 1


@pytest.mark.parametrize("k", [0.1, 0.3, torch.pi / 7, 0.7])
@pytest.mark.parametrize("least", [1.0, 1 / 64])
def test_no_piece_is_too_narrow_for_its_polynomial(k, least):
    """Between edges a few roundings apart, a place has no coordinate, and a polynomial of degree 15 no value."""
    edges, found = find(lambda x: functional.threshold(x, k, 0.2), least, 200.0).polynomials(
        lambda x: functional.threshold(x, k, 0.2)
    )
    assert bool((edges.diff() > 1e-13 * edges[1:].abs()).all())
    assert bool((found[:, 2:] == 0).all())  # lines, without roundings


def test_a_pulse_of_one_percent_is_seen():
    for k in (0.4, 0.43, 0.5, 0.5002, 0.57, 0.66, 0.79):
        pieces = find(lambda x, k=k: ((x > k) & (x < 1.01 * k)).double(), 1.0, 10.0)
        assert pieces.hard.tolist() == pytest.approx([k, 1.01 * k], rel=1e-12)


def test_a_feature_beside_a_plateau_is_not_lost():
    """A wide interval samples tanh at -1 only; its parts tell."""
    cuts = find(torch.tanh, 200.0, 2000.0).cuts
    assert int((cuts.abs() < 5).sum()) >= 4


def test_soft_cuts_are_needed_by_coarse_rules_only():
    pieces = find(torch.tanh, 1.0, 10.0)
    assert len(pieces.within(10.0, 4.0)) > 0
    assert len(pieces.within(10.0, 1e-3)) == 0


def test_pieces_serve_all_deviations_of_their_range():
    """Polynomials found for a wide range fit everywhere to the size that the function has there, not at the ends."""
    pieces = find(torch.relu, 1e-3, 1e5)
    edges, coefficients = pieces.polynomials(torch.relu)
    x = torch.cat([-torch.logspace(-5, 5, 301, dtype=torch.float64), torch.logspace(-5, 5, 301, dtype=torch.float64)])
    at = (torch.searchsorted(edges, x, right=True) - 1).clamp(0, len(edges) - 2)
    unit = (2 * x - edges[at] - edges[at + 1]) / (edges[at + 1] - edges[at])
    found = (coefficients[at] * unit[:, None] ** torch.arange(16)).sum(1)
    assert bool(((found - torch.relu(x)).abs() <= 1e-13 * x.abs().clamp(min=1e-3)).all())


def test_noise_of_cancellation_is_no_feature():
    """x - tanh(x) loses digits near zero, where no Gaussian of these deviations looks closely."""
    assert not len(find(functional.tanhshrink, 0.3, 10.0).hard)
