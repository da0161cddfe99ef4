"""Computes preconditioners of a kernel system: a low-rank factor of the kernel, and the inverse of its approximation.

    K ~ F F^T,    P = F F^T + d,    d = ridge + (tr K - |F|_F^2) / n                           (1)
    P^{-1} r = (r - F (d + F^T F)^{-1} F^T r) / d                                              (2)

d contains, in addition to the ridge, the mean of what the factor leaves out. The factor is made of some columns of
K: those that
a Cholesky factorization picks when it always takes the largest remaining diagonal entry, or random ones. It has
the columns that were asked for, or as many as fit into a quarter of the memory.

Hypotheses: K positive semidefinite.
Reference: [harbrecht2012low] for the pivots, [williams2001using] for random points; (2) is the Woodbury identity.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import check_integer
from gnomon.linalg.cholesky import cholesky
from gnomon.linalg.solve.base import BYTES_PER_FLOAT64, KernelSystem, as_slice, memory_budget, row_blocks, tile_bytes

DIAGONAL_TILE_POINTS = 256
"""Points per diagonal tile: few calls, at the cost of 255 unused entries per row."""
EPS = torch.finfo(torch.float64).eps
TINY = torch.finfo(torch.float64).tiny  # keeps the preconditioner invertible if the kernel is zero


class AbstractPreconditioner(ABC):
    """Interface of preconditioners, which compute a low-rank factor of a kernel matrix."""

    rank: int
    """Number of columns of the factor."""

    @abstractmethod
    def factor(self, system: KernelSystem, memory: int | None) -> Float[Tensor, "n r"]:
        """Returns a factor F with kernel matrix ~ F F^T and at most ``rank`` columns."""


@dataclass(frozen=True, slots=True)
class PivotedCholeskyPreconditioner(AbstractPreconditioner):
    """Preconditioner by a partial Cholesky factorization that picks the largest remaining diagonal entry each time.

    That is one call of the kernel for each column; if the kernel is a function, Landmarks, with one call, is faster.

    >>> from gnomon.linalg.solve.base import kernel_system
    >>> system = kernel_system(torch.diag(torch.tensor([1.0, 9.0])), torch.ones(2), 0.0)
    >>> PivotedCholeskyPreconditioner(1).factor(system, None).T              # the larger one first: sqrt(9)
    tensor([[0., 3.]], dtype=torch.float64)
    """

    rank: int = 100

    def __post_init__(self) -> None:
        _check("PivotedCholeskyPreconditioner", self.rank)

    def factor(self, system: KernelSystem, memory: int | None) -> Float[Tensor, "n r"]:  # noqa: D102
        n = len(system.y)
        left = diagonal(system, memory)
        F = torch.zeros(n, columns(self.rank, n, memory), dtype=torch.float64)
        enough = EPS * float(left.sum())  # a remaining diagonal whose sum is below this is only rounding error
        for j in range(F.shape[1]):
            pivot = int(left.argmax())
            if float(left[pivot]) <= enough:
                return F[:, :j]
            column = system.tile(torch.arange(n), torch.tensor([pivot]))[:, 0]
            F[:, j] = (column - F[:, :j] @ F[pivot, :j]) / left[pivot].sqrt()
            left = (left - F[:, j].square()).clamp_min(0)
            left[pivot] = 0
        return F


@dataclass(frozen=True, slots=True)
class LandmarkPreconditioner(AbstractPreconditioner):
    """Preconditioner from random points, the Nystrom approximation of the kernel matrix.

    >>> from gnomon.linalg.solve import ConjugateGradient
    >>> ConjugateGradient(preconditioner=LandmarkPreconditioner(2)).solve(torch.eye(2), torch.ones(2)).iterations
    1
    """

    rank: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        _check("LandmarkPreconditioner", self.rank)

    def factor(self, system: KernelSystem, memory: int | None) -> Float[Tensor, "n r"]:  # noqa: D102
        n = len(system.y)
        centers = random_rows(n, columns(self.rank, n, memory), self.seed)
        lower = cholesky(system.tile(centers, centers)).lower
        F = torch.empty(n, len(centers), dtype=torch.float64)
        for rows in row_blocks(n, len(centers), tile_bytes(memory)):
            strip = system.tile(rows, centers)
            F[as_slice(rows)] = torch.linalg.solve_triangular(lower, strip.T, upper=False).T
        return F


@dataclass(frozen=True, slots=True, eq=False)
class PreconditionerInverse:
    """The inverse of a preconditioner, in factorized form, as a function of vectors."""

    F: Float[Tensor, "n r"]
    lower: Float[Tensor, "r r"]
    d: float

    def __call__(self, r: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Applies the inverse of the preconditioner to each column of r."""
        return (r - self.F @ torch.cholesky_solve(self.F.T @ r, self.lower)) / self.d  # (2)


def inverse_of(kind: AbstractPreconditioner, system: KernelSystem, memory: int | None) -> PreconditionerInverse:
    """Returns the inverse of a preconditioner for a kernel system."""
    trace = float(diagonal(system, memory).sum())
    return inverse(kind.factor(system, memory), trace, system.ridge)


def inverse(F: Float[Tensor, "n r"], trace: float, ridge: float) -> PreconditionerInverse:
    """Returns the inverse of F F^T + d I for a low-rank factor F, with d from the kernel's trace and the ridge."""
    mean = trace / len(F)
    # This difference of two traces has the rounding error of a sum of n numbers, so it may be slightly negative.
    left = trace - float(torch.linalg.vector_norm(F)) ** 2
    d = ridge + max(left / len(F), EPS * len(F) * mean, TINY)  # (1)
    inner = F.T @ F
    inner.diagonal().add_(d)
    return PreconditionerInverse(F, cholesky(inner).lower if F.shape[1] else inner, d)


def diagonal(system: KernelSystem, memory: int | None) -> Float[Tensor, " n"]:
    """Returns the diagonal of the kernel matrix, computed from small tiles."""
    side = max(1, min(DIAGONAL_TILE_POINTS, isqrt(tile_bytes(memory) // BYTES_PER_FLOAT64)))
    entries = torch.empty(len(system.y), dtype=torch.float64)
    for rows in torch.arange(len(entries)).split(side):
        entries[as_slice(rows)] = system.tile(rows, rows).diagonal()
    if float(entries.min()) < 0:
        row = int(entries.argmin())
        fix = "Check how the kernel is computed: its diagonal must not be negative"
        raise InputError(
            f"K[{row}, {row}] = {float(entries[row]):.2e}", accepted="a positive semidefinite kernel", fix=fix
        )
    return entries


def columns(rank: int, n: int, memory: int | None) -> int:
    """Returns the number of columns of the low-rank factor, limited by ``rank``, the number of points, and memory."""
    return max(1, min(rank, n, memory_budget(memory) // (4 * BYTES_PER_FLOAT64 * n)))


def random_rows(n: int, m: int, seed: int) -> Tensor:
    """Draws min(n, m) different row numbers, in increasing order."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return order[:m].sort().values


def _check(name: str, rank: int) -> None:
    check_integer("rank", rank)
