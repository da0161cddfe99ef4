"""Finds equal rows of a kernel matrix, which belong to inputs that the kernel does not distinguish.

Rows that agree within a tolerance also agree after projection on a line, so rows are sorted by one random projection
and only neighbors are compared: n^2 operations for the projection, n for each comparison.

>>> import torch
>>> duplicate_rows(torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]], dtype=torch.float64), 1e-12)
((0, 2),)
"""

import torch
from torch import Tensor


def duplicate_rows(matrix: Tensor, tolerance: float) -> tuple[tuple[int, ...], ...]:
    """Returns groups of nearly equal rows of a matrix, as row numbers.

    Closeness is not transitive: each row of a group agrees with the leading one, two others may differ by twice as
    much. Groups have two rows or more, and are sorted.
    """
    sizes = matrix.abs().amax(1)
    line = torch.rand(matrix.shape[1], generator=torch.Generator().manual_seed(0), dtype=matrix.dtype) + 0.5
    line = line / line.sum()  # Scaled to sum 1, so that projections differ at most as much as single entries do.
    shadow = matrix @ line
    order = shadow.argsort().tolist()
    # Twice the tolerance, because two rows may have different scales; then the rounding error of the projection.
    reach = (2 * tolerance + 2 * len(matrix) * torch.finfo(matrix.dtype).eps) * sizes
    shadows, reaches = shadow.tolist(), reach.tolist()
    taken: set[int] = set()
    groups = []
    for place, leader in enumerate(order):
        if leader in taken:
            continue
        near = _close_rows(order, shadows, place, reaches[leader], taken)
        if not near:
            continue
        close = (matrix[near] - matrix[leader]).abs().amax(1) <= tolerance * sizes[leader]
        members = [row for row, agrees in zip(near, close.tolist(), strict=True) if agrees]
        if members:
            taken.update(members)
            groups.append(tuple(sorted([leader, *members])))
    return tuple(sorted(groups))


def _close_rows(order: list[int], shadows: list[float], place: int, reach: float, taken: set[int]) -> list[int]:
    """Returns rows that may equal a given row: rows without a group whose random projection is close to the row's."""
    near = []
    for row in order[place + 1 :]:
        if shadows[row] - shadows[order[place]] > reach:
            break
        if row not in taken:
            near.append(row)
    return near
