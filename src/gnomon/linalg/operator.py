"""Defines operators: symmetric matrices that are given only by their products with vectors.

>>> import torch
>>> a = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
>>> DenseOperator(a).dense()
tensor([[2., 1.],
        [1., 2.]])
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.results.record import Record

__all__ = ["AbstractOperator", "DenseOperator", "NegativeOperator"]


class AbstractOperator(ABC):
    """Interface of operators: a symmetric matrix A that is given only by its products with vectors."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of rows of the operator's matrix."""

    @property
    @abstractmethod
    def like(self) -> Tensor:
        """An empty tensor with the dtype and device of the operator's vectors."""

    @abstractmethod
    def matvec(self, v: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the product A v of the operator's matrix A with a vector v."""

    def dense(self) -> Float[Tensor, "n n"]:
        """Returns the operator as a dense matrix, column by column, from ``size`` products."""
        eye = torch.eye(self.size).to(self.like)
        return torch.stack([self.matvec(e) for e in eye], dim=1)


@dataclass(frozen=True, slots=True)
class DenseOperator(Record, AbstractOperator):
    """A matrix in memory, used as an operator that multiplies vectors."""

    matrix: Float[Tensor, "n n"]

    @property
    def size(self) -> int:
        """The number of rows of the operator's matrix."""
        return len(self.matrix)

    @property
    def like(self) -> Tensor:
        """An empty tensor with the dtype and device of the operator's vectors."""
        return self.matrix.new_empty(0)

    def matvec(self, v: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the product A v of the operator's matrix A with a vector v."""
        return self.matrix @ v


@dataclass(frozen=True, slots=True)
class NegativeOperator(Record, AbstractOperator):
    """The operator -A for an operator A; its largest eigenvalue is minus the smallest eigenvalue of A.

    >>> import torch
    >>> NegativeOperator(DenseOperator(torch.eye(1))).dense()
    tensor([[-1.]])
    """

    operator: AbstractOperator

    @property
    def size(self) -> int:
        """The number of rows of the operator's matrix."""
        return self.operator.size

    @property
    def like(self) -> Tensor:
        """An empty tensor with the dtype and device of the operator's vectors."""
        return self.operator.like

    def matvec(self, v: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the product -A v for the wrapped operator A and a vector v."""
        return -self.operator.matvec(v)
