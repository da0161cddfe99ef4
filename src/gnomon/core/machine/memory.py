"""Measures free memory, and divides matrices into blocks that fit into it.

>>> [t.shape for t in matrix_tiles(3, 5, pair_bytes=8, budget=8 * 6)]
[(2, 3), (2, 2), (1, 3), (1, 2)]
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isqrt

__all__ = ["SHARE_OF_FREE_MEMORY", "MatrixTile", "free_bytes", "format_bytes", "matrix_tiles"]

SHARE_OF_FREE_MEMORY = 0.5
"""Share of the free memory that a computation may take if the caller sets no limit."""
FALLBACK_FREE_BYTES = 4 * 2**30
"""Free memory that is assumed if the system does not report it."""


@dataclass(frozen=True, slots=True)
class MatrixTile:
    """A rectangular block of a matrix, given by its first row and column and the row and column after its last."""

    row: int
    row_end: int
    col: int
    col_end: int

    @property
    def shape(self) -> tuple[int, int]:
        """Returns the numbers of rows and columns of the block of the matrix."""
        return self.row_end - self.row, self.col_end - self.col


def free_bytes() -> int:
    """Returns how many bytes of memory can be allocated without swapping; 4 GiB if the system does not report a number.

    Cost: one read of a system file.

    >>> free_bytes() > 0
    True
    """
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return FALLBACK_FREE_BYTES


def matrix_tiles(n: int, m: int, *, pair_bytes: int, budget: int, symmetric: bool = False) -> Iterator[MatrixTile]:
    """Divides an n x m matrix into nearly square blocks of at most ``budget / pair_bytes`` entries each.

    Hypotheses: ``budget >= pair_bytes``, so that one pair fits. With ``symmetric`` only tiles that meet the lower
    triangle are given.
    Cost: none; tiles are made as they are asked for.

    >>> sum(t.shape[0] * t.shape[1] for t in matrix_tiles(10, 7, pair_bytes=1, budget=12))
    70
    """
    pairs = max(1, budget // max(1, pair_bytes))
    side = max(1, isqrt(pairs))
    rows = min(n, side if side < m else max(1, pairs // m))
    cols = min(m, max(1, pairs // rows))
    if symmetric:
        rows = cols = min(n, side)
    # Makes all blocks nearly equal in size, so that all threads finish at about the same time.
    rows, cols = ceil(n / ceil(n / rows)), ceil(m / ceil(m / cols))
    for i in range(0, n, rows):
        last = min(n, i + rows)
        for j in range(0, min(m, last) if symmetric else m, cols):
            yield MatrixTile(i, last, j, min(m, j + cols))


def format_bytes(size: float) -> str:
    """Formats a number of bytes as text, such as "1.5 MiB".

    >>> format_bytes(3 * 2**30)
    '3.0 GiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}" if unit != "B" else f"{int(size)} B"
        size /= 1024
    return f"{size:.1f} TiB"
