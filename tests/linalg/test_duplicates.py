"""Duplicate rows against a comparison of all pairs."""

import pytest
import torch

from gnomon.linalg.duplicates import duplicate_rows

TOLERANCE = 1e-12


def all_pairs(matrix, tolerance):
    """Pairs of rows that agree, by two loops."""
    n = len(matrix)
    close = lambda i, j: bool((matrix[i] - matrix[j]).abs().max() <= tolerance * matrix[i].abs().max())  # noqa: E731
    return {(i, j) for i in range(n) for j in range(i + 1, n) if close(i, j)}


def pairs(groups):
    return {(i, j) for group in groups for i in group for j in group if i < j}


@pytest.mark.parametrize("seed", range(20))
def test_the_groups_are_those_of_all_pairs(seed):
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(6, 15, generator=g, dtype=torch.float64) * 10.0 ** torch.randint(-8, 8, (6, 1), generator=g)
    rows = base[torch.randint(6, (15,), generator=g)]  # most rows repeat; sizes spread over many powers of ten
    shaken = rows * (1 + 1e-15 * torch.randn(15, 15, generator=g, dtype=torch.float64))
    expected = all_pairs(shaken, TOLERANCE)
    assert expected and pairs(duplicate_rows(shaken, TOLERANCE)) == expected


def test_rows_just_outside_the_tolerance_are_not_duplicates():
    row = torch.linspace(-1, 1, 9, dtype=torch.float64)
    apart = row.clone()
    apart[4] += 2e-12
    inside = row.clone()
    inside[4] += 0.5e-12
    assert duplicate_rows(torch.stack([row, apart]), TOLERANCE) == ()
    assert duplicate_rows(torch.stack([row, apart, 1e20 * row]), TOLERANCE) == ()  # whatever the other rows hold
    assert duplicate_rows(torch.stack([row, inside]), TOLERANCE) == ((0, 1),)


def test_small_rows_beside_a_huge_one_are_compared_in_their_own_size():
    matrix = torch.diag(torch.tensor([1e20, 1.0, 1.0], dtype=torch.float64))
    assert duplicate_rows(matrix, TOLERANCE) == ()


def test_zero_rows_agree():
    assert duplicate_rows(torch.zeros(3, 3, dtype=torch.float64), TOLERANCE) == ((0, 1, 2),)


def test_rows_with_one_projection_are_still_compared():
    # a row and its reversal under a symmetric line would collide; the groups must not merge them
    row = torch.arange(5, dtype=torch.float64)
    assert duplicate_rows(torch.stack([row, row.flip(0), row]), TOLERANCE) == ((0, 2),)
