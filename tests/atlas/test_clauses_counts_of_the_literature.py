"""Counts that lecture notes print as numbers, by a search of its own for each; the ledger names these tests."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from gnomon.atlas.claims.basics import cover_counting
from gnomon.robustness import maximal_regions


def test_covers_numbers_for_planes_in_three_dimensions():
    """cover-counting: C(n, 3) = 2, 4, 8, 14, 22, 32, 44, 58, 74, 92, 112, 134; C(10, 5) = 512, half of all at n = 2 d."""
    sizes = [k for n in range(1, 13) for k in (n, 3)]
    assert cover_counting.predicted(sizes) == [2, 4, 8, 14, 22, 32, 44, 58, 74, 92, 112, 134]
    assert cover_counting.predicted((10, 5)) == [512] == [2**10 // 2]
    x = np.random.default_rng(0).normal(size=(6, 3))
    found = sum(
        linprog(np.zeros(3), -np.array(s)[:, None] * x, -np.ones(6), bounds=[(None, None)] * 3).status == 0
        for s in product((-1, 1), repeat=6)
    )
    assert found == 32


@pytest.mark.parametrize(("d", "planes", "regions"), [(2, 3, 7), (2, 4, 11), (2, 6, 22), (3, 5, 26), (3, 6, 42)])
def test_planes_in_general_position_cut_space_into_the_printed_numbers_of_regions(d, planes, regions):
    """zaslavsky-regions: 7, 11, 22 in the plane and 26, 42 in space: one region more for each set of planes that meet."""
    normals, offsets = (
        np.random.default_rng(planes).normal(size=(planes, d)),
        np.random.default_rng(1).normal(size=planes),
    )
    meeting = 0  # each intersection of k <= d planes is the lowest point of one region, after a general turn
    for k in range(d + 1):
        for rows in combinations(range(planes), k):
            rank = np.linalg.matrix_rank(normals[list(rows)]) if rows else 0
            meeting += rank == k
    inside = 0
    for signs in product((-1.0, 1.0), repeat=planes):
        s = np.array(signs)
        c = np.r_[np.zeros(d), -1.0]  # the largest margin t with s (n.x - b) >= t
        rows = np.c_[-s[:, None] * normals, np.ones(planes)]
        best = linprog(c, rows, -s * offsets, bounds=[(None, None)] * d + [(None, 1)])
        inside += best.status == 0 and -best.fun > 1e-9
    assert inside == regions == meeting == maximal_regions(d, planes)


def test_montufars_number_for_two_layers_of_four_units_in_the_plane():
    """montufar-regions: R(4) floor(4 / 2)^(2 (2 - 1)) = 11 x 4 = 44 for n = 2, m = 4, L = 2."""
    assert maximal_regions(2, 4, 2) == 44 == 11 * (4 // 2) ** 2
