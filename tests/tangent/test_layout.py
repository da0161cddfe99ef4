"""Where the examples lie along an axis: all factorizations, and both sides of each tolerance."""

import pytest
import torch

from gnomon.tangent.layout import ExampleLayout, candidates, permuted_with, scaled_with

ROWS = ExampleLayout(0, 1, 1)


def test_every_factorization_of_an_axis_is_tried():
    """27 rows of 3 examples have 9 positions: 1 x 9, 3 x 3 or 9 x 1, and constant gradients do not tell which."""
    zeros = torch.zeros(27, 2)
    found = [(layout.axis, layout.before, layout.after) for layout in candidates(zeros, zeros, 3)]
    assert found == [(0, 1, 9), (0, 3, 3), (0, 9, 1)]
    zeros = torch.zeros(2, 6)
    assert [(c.axis, c.before, c.after) for c in candidates(zeros, zeros, 3)] == [(1, 1, 2), (1, 2, 1)]


def test_the_layout_is_the_one_that_scales_with_its_examples():
    g = torch.rand(4, 3, 5).double() + 1
    scaled = g * torch.tensor([1.0, 2.0, 4.0]).double()[None, :, None]
    flat, flat_scaled = g.reshape(12, 5), scaled.reshape(12, 5)
    assert [(c.axis, c.before, c.after) for c in candidates(flat, flat_scaled, 3)] == [(0, 4, 1)]
    parts = ExampleLayout(0, 4, 1).split(flat)
    assert parts.shape == (3, 4, 1, 5) and torch.equal(parts[:, :, 0], g.transpose(0, 1))


@pytest.mark.parametrize(("error", "agrees"), [(5e-4, True), (-5e-4, True), (2e-3, False), (-2e-3, False)])
def test_scaled_entries_agree_to_three_digits(error, agrees):
    g, scales = torch.tensor([[1.0], [-2.0]]).double(), torch.tensor([1.0, 2.0]).double()
    scaled = g * scales[:, None] * torch.tensor([[1.0], [1 + error]]).double()
    assert scaled_with(ROWS, g, scaled, scales) is agrees


@pytest.mark.parametrize(("error", "agrees"), [(5e-9, True), (5e-8, False)])
def test_permuted_entries_agree_to_half_the_digits_of_the_largest(error, agrees):
    """The square root of float64's eps is 1.5e-8, relative to the largest entry, here 4."""
    a = torch.tensor([[1.0], [-4.0], [2.0]]).double()
    moved = a[[1, 2, 0]] + torch.tensor([[0.0], [4 * error], [0.0]]).double()
    assert permuted_with(ROWS, a, moved, 3) is agrees


def test_a_value_that_appears_from_nothing_is_no_permutation():
    zeros = torch.zeros(3, 1)
    assert permuted_with(ROWS, zeros, zeros, 3)
    assert not permuted_with(ROWS, zeros, torch.tensor([[0.0], [0.0], [1e-12]]), 3)
    assert not permuted_with(ROWS, torch.tensor([[0.0], [0.0], [1e-12]]), zeros, 3)
    assert permuted_with(ROWS, torch.tensor([[5], [6], [7]]), torch.tensor([[6], [7], [5]]), 3)
    assert not permuted_with(ROWS, torch.tensor([[5], [6], [7]]), torch.tensor([[7], [5], [6]]), 3)


def test_an_axis_of_another_size_does_not_fit():
    layout = ExampleLayout(1, 2, 3)
    assert layout.positions == 6
    assert layout.fits(torch.zeros(5, 24), 4) and not layout.fits(torch.zeros(5, 23), 4)
    assert not layout.fits(torch.zeros(24), 4)
