"""Defines the interface of a layer's kernel formula: second moments and the tangent kernel after the layer from before.

Arrays have batch axes first, (n,) for points with themselves and (n, m) for pairs, then the grid of positions: once
("diagonal": covariances at equal positions) or twice ("full": all pairs of positions).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

ROWS_PER_STRIP = 64
"""Number of rows that are mirrored together, so that both parts stay in a cache."""


@dataclass(frozen=True, slots=True)
class KernelPair:
    """Kernels after one layer: second moments of its output and the tangent kernel (None before the first
    parameter).
    """

    nngp: Tensor
    ntk: Tensor | None = None


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What the kernel formula of a layer receives: batch axes, which covariances are needed, statistics of both points.

    ``batch`` counts the batch axes, ``full`` says which form the result must have, ``left`` and ``right`` are the
    statistics of the two sides, ``same`` marks pairs that are one and the same sample (None: all of them are).
    """

    batch: int
    full: bool
    tangent: bool
    left: Tensor | None
    right: Tensor | None
    same: Tensor | None

    def sides(self, rank: int) -> tuple[Tensor, Tensor]:
        """Returns statistics of both points, reshaped to broadcast against covariances between grid positions."""
        assert self.left is not None and self.right is not None  # A plan always measures what its rules need.
        a, b = self.left, self.right
        if self.batch == 2:
            a, b = a.unsqueeze(1), b.unsqueeze(0)
        if self.full and rank:
            a = a.reshape(*a.shape, *(1,) * rank)
            b = b.reshape(*b.shape[: self.batch], *(1,) * rank, *b.shape[self.batch :])
        return a, b


class AbstractRule(ABC):
    """Interface of a layer's kernel formula, which computes covariances after one layer from covariances before it."""

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns for each input of a layer whether covariances between all pairs of positions (pixels, tokens) are
        needed.
        """
        return (full,)

    def watches(self) -> tuple[bool | None, ...]:
        """Returns for each layer input what is needed of a point's covariance with itself: all, variances only, or
        nothing.
        """
        return (None,)

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns statistics of each point that a layer needs, computed from the point's covariances with itself."""
        return None

    def features(self, data: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns statistics of each point that a layer needs and that come directly from the data."""
        return None

    @abstractmethod
    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns covariances and the tangent kernel after a layer, from the ones before the layer."""


def diagonal(array: Tensor, batch: int, rank: int) -> Tensor:
    """Returns the entries at equal positions (pixels, tokens) from covariances between all pairs of positions."""
    if rank == 0:
        return array
    grid = array.shape[batch : batch + rank]
    size = grid.numel()
    square = array.reshape(*array.shape[:batch], size, size)
    return square.diagonal(dim1=-2, dim2=-1).reshape(*array.shape[:batch], *grid)


def mirror(array: Tensor) -> None:
    """Makes a matrix symmetric in place by copying the part below the diagonal to above the diagonal.

    >>> square = torch.tensor([[1.0, 9.0], [2.0, 3.0]])
    >>> mirror(square)
    >>> square
    tensor([[1., 2.],
            [2., 3.]])
    """
    for left in range(0, len(array), ROWS_PER_STRIP):
        rows, right = slice(left, left + ROWS_PER_STRIP), min(left + ROWS_PER_STRIP, len(array))
        square = array[rows, rows]
        below = torch.ones(square.shape[:2], dtype=torch.bool, device=array.device).tril()
        below = below.reshape(*square.shape[:2], *(1,) * (array.dim() - 2))
        array[rows, rows] = torch.where(below, square, square.transpose(0, 1))
        array[rows, right:] = array[right:, rows].transpose(0, 1)


def pad(array: Tensor, dim: int, before: int, after: int, *, circular: bool) -> Tensor:
    """Pads one dimension of an array with zeros, or periodically."""
    if before == after == 0:
        return array
    size = array.shape[dim]
    if circular:
        index = torch.arange(-before, size + after, device=array.device) % size
        return array.index_select(dim, index)
    widths = [0, 0] * (array.dim() - dim)
    widths[-2:] = [before, after]
    return torch.nn.functional.pad(array, widths)
