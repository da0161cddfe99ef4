from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.machine import memory
from gnomon.core.machine.memory import MatrixTile, format_bytes, free_bytes, matrix_tiles

SIDE = st.integers(1, 60)
PAIR_BYTES = st.integers(1, 64)
PAIRS = st.integers(1, 5000)  # how many pairs fit; below, at and far above a whole table of 60 x 60


def count(n: int, m: int, cut: list[MatrixTile]) -> np.ndarray:
    """How many tiles cover each pair."""
    table = np.zeros((n, m), dtype=int)
    for tile in cut:
        assert 0 <= tile.row < tile.row_end <= n and 0 <= tile.col < tile.col_end <= m
        table[tile.row : tile.row_end, tile.col : tile.col_end] += 1
    return table


@given(SIDE, SIDE, PAIR_BYTES, PAIRS)
def test_tiles_cover_every_pair_once_under_the_budget(n, m, pair_bytes, pairs):
    cut = list(matrix_tiles(n, m, pair_bytes=pair_bytes, budget=pair_bytes * pairs))
    assert (count(n, m, cut) == 1).all()
    assert all(tile.shape[0] * tile.shape[1] <= pairs for tile in cut)


@given(SIDE, PAIR_BYTES, PAIRS)
def test_symmetric_tiles_cover_the_lower_triangle_once(n, pair_bytes, pairs):
    cut = list(matrix_tiles(n, n, pair_bytes=pair_bytes, budget=pair_bytes * pairs, symmetric=True))
    table = count(n, n, cut)
    assert (table[np.tril_indices(n)] == 1).all()
    assert table.max() == 1
    assert all(tile.shape[0] * tile.shape[1] <= pairs for tile in cut)
    assert all(tile.col < tile.row_end for tile in cut), "a tile above the diagonal is work for nothing"


@given(SIDE, PAIRS)
def test_the_mirror_of_symmetric_tiles_fills_the_table(n, pairs):
    table = np.zeros((n, n))
    for tile in matrix_tiles(n, n, pair_bytes=1, budget=pairs, symmetric=True):
        rows, cols = slice(tile.row, tile.row_end), slice(tile.col, tile.col_end)
        table[rows, cols] = table[cols, rows].T + 1 if tile.row != tile.col else 1
        table[cols, rows] = table[rows, cols].T
    assert (table == 1).all()


@given(st.integers(1, 40), st.integers(1, 40))
def test_one_tile_where_the_table_fits(n, m):
    assert list(matrix_tiles(n, m, pair_bytes=8, budget=8 * n * m)) == [MatrixTile(0, n, 0, m)]


@given(st.integers(50, 400), st.integers(16, 2000))
def test_tiles_are_few(n, pairs):
    # Rounding a side up to whole tiles at most doubles their number, on each of two sides.
    assert len(list(matrix_tiles(n, n, pair_bytes=1, budget=pairs))) <= 4 * -(-n * n // pairs)


def test_a_pair_over_the_budget_still_gets_its_own_tile():
    assert len(list(matrix_tiles(3, 4, pair_bytes=100, budget=1))) == 12


def test_a_tile_is_frozen():
    with pytest.raises(AttributeError):
        MatrixTile(0, 1, 0, 1).row = 2


def test_free_memory_is_read_or_assumed():
    assert free_bytes() > 2**20
    with patch.object(memory, "open", side_effect=OSError, create=True):
        assert free_bytes() > 2**20
        with patch.object(memory.os, "sysconf", side_effect=ValueError):
            assert free_bytes() == memory.FALLBACK_FREE_BYTES


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1.5 * 2**20, "1.5 MiB"),
        (2**40, "1.0 TiB"),
        (2**51, "2048.0 TiB"),
    ],
)
def test_sizes_as_people_write_them(size, text):
    assert format_bytes(size) == text
