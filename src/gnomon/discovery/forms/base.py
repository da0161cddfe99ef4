"""Defines the interface of methods that turn a differential equation into a linear regression."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.core.results.record import Record
from gnomon.discovery.grid import GridData
from gnomon.discovery.term import Term

__all__ = ["AbstractRegressionForm", "RegressionSystem"]


@dataclass(frozen=True, slots=True, eq=False)
class RegressionSystem(Record):
    """A linear regression for an equation: candidate terms as columns, the target, and the bootstrap block of each row.

    Rows of one block are close to each other; blocks are what a bootstrap draws. ``independent`` is how many rows
    would be independent if the noise were.

    >>> RegressionSystem(np.ones((4, 1)), np.ones(4), np.array([0, 0, 1, 1]), 4.0).count
    2
    """

    columns: np.ndarray
    target: np.ndarray
    blocks: np.ndarray
    independent: float

    @property
    def count(self) -> int:
        """Returns the number of blocks of rows that bootstrap samples draw."""
        return int(self.blocks.max()) + 1


class AbstractRegressionForm(ABC):
    """Interface of methods that turn a differential equation into a linear regression on the data."""

    @abstractmethod
    def systems(self, data: GridData, terms: Sequence[Term], time: int) -> dict[str, RegressionSystem]:
        """Returns the linear regression for each field, with the field's time derivative as target."""

    def wider(self, data: GridData) -> "list[AbstractRegressionForm]":
        """Returns the same method with wider and wider test functions, for data without noise; an empty list by
        default.
        """
        return []


def block_numbers(lengths: Sequence[int], pieces: Sequence[int]) -> np.ndarray:
    """Divides a grid into ``pieces`` blocks along each axis, and returns the block number of each point.

    >>> block_numbers((2, 4), (1, 2)).tolist()
    [0, 0, 1, 1, 0, 0, 1, 1]
    """
    number = np.zeros(tuple(lengths), dtype=np.int64)
    for axis, (length, piece) in enumerate(zip(lengths, pieces, strict=True)):
        shape = [1] * len(lengths)
        shape[axis] = length
        number = number * piece + (np.arange(length) * piece // length).reshape(shape)
    return number.ravel()
