"""Solves kernel systems approximately by the Nystrom method: a function of m of the n points, without an n x n matrix.

The function is a sum over m of the points, f(x) = sum_j K(x, z_j) c_j, and minimizes |f(X) - y|^2 + ridge |f|_H^2:

    (K_mn K_nm + ridge K_mm) c = K_mn y                                                        (1)

solved in the coordinates of K_mm = L L^T, where F = K_nm L^{-T} and c = L^{-T} w:

    (F^T F + ridge) w = F^T y                                                                  (2)

F^T F and F^T y are sums over rows, so rows are computed in tiles, and only the lower triangle of F^T F is computed.
With m = n, (1) is (K + ridge) c = y.

With ``dtype=torch.float32`` tiles are computed, transformed and multiplied in float32, at twice the speed, and the sums
over tiles in float64. A tile of F is then wrong by about eps sqrt(condition of K_mm), relatively, with eps = 6e-8; the
answer is as good as (2) with a ridge of eps tr(F^T F) more, so that it suits ridges that are not below that.

Hypotheses: K positive semidefinite. The centers are drawn without replacement. The part of K that they miss,
E = K - K_nm K_mm^{-1} K_mn, is positive semidefinite, and the fit on the n points differs from the fit with
the full kernel by at most |y| tr(E) / ridge (the resolvent identity).
Reference: [williams2001using], [rudi2015less].
Cost: n m kernel entries and 2 n m^2 operations; 32 m^2 bytes and four tiles, of 512 MiB together at most.

>>> import torch
>>> x = torch.linspace(-1, 1, 200, dtype=torch.float64)
>>> kernel = lambda rows, columns: 1 + x[rows, None] * x[columns]        # rank 2: three centers suffice
>>> solution = NystromSolver(3).solve(kernel, 2 * x + 1, ridge=1e-9)
>>> float((solution.predict(kernel(torch.arange(200), solution.support)) - 2 * x - 1).abs().max()) < 1e-6
True
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import BudgetError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.machine.memory import format_bytes
from gnomon.linalg.cholesky import cholesky, factor_with_least_jitter
from gnomon.linalg.solve.base import (
    BYTES_PER_FLOAT64,
    AbstractSolver,
    Kernel,
    KernelSystem,
    Solution,
    kernel_system,
    memory_budget,
    row_blocks,
)
from gnomon.linalg.solve.precondition import random_rows

MATRICES_IN_MEMORY = 4
"""Number of m x m matrices in memory at the same time: L, F^T F and two temporaries."""
TILE_BYTES = 2**29
"""Bytes of a tile; products of this size run at full speed."""
TILES_IN_MEMORY = 4
"""Number of tiles in memory: one of the kernel, its image F, and two for the kernel function."""


@dataclass(frozen=True, slots=True)
class NystromSolver(AbstractSolver):
    """Solver by the Nystrom method with m random or chosen points (centers); reads the kernel in tiles.

    ``jitter`` of the solution is the jitter that K_mm needed for its factorization. ``dtype`` is the dtype of the
    tiles, float64 or float32.

    >>> solution = NystromSolver(2).solve(torch.eye(2), torch.ones(2), ridge=1.0)  # all are centers: (K + 1)^{-1} y
    >>> [round(c, 12) for c in solution.coefficients.tolist()]
    [0.5, 0.5]
    """

    m: int
    seed: int = 0
    centers: tuple[int, ...] | None = None
    memory: int | None = None
    dtype: torch.dtype = torch.float64

    @add_call_to_errors
    def __post_init__(self) -> None:
        for name, value in (
            ("m", check_integer("m", self.m)),
            ("seed", check_seed(self.seed)),
        ):
            object.__setattr__(self, name, value)
        if self.dtype not in (torch.float64, torch.float32):
            accepted = "torch.float64 or torch.float32"
            raise out_of_range_error("dtype", accepted, self.dtype)

    @add_call_to_errors("linalg.solve.NystromSolver(m).solve(kernel, y)")
    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        system = kernel_system(kernel, y, ridge)
        stream, jitter = self.stream(system)
        gram, target = stream.sums(0, len(system.y), self.memory)
        return from_sums(stream, gram, target, jitter, "Nystrom")

    @add_call_to_errors("linalg.solve.NystromSolver(m).solve(kernel, y)")
    def stream(self, system: KernelSystem) -> "tuple[RowStream, float]":
        """Returns an object that computes sums over the kernel's rows, and the jitter of its Cholesky factorization."""
        n = len(system.y)
        support = random_rows(n, self.m, self.seed) if self.centers is None else _checked_centers(self.centers, n)
        inner = cholesky(system.tile(support, support))
        return RowStream(system, support, inner.lower, self.dtype), inner.jitter


@dataclass(frozen=True, slots=True, eq=False)
class RowStream:
    """Computes sums over rows of a kernel for the Nystrom method; can run in other processes."""

    system: KernelSystem
    support: Tensor
    lower: Tensor
    dtype: torch.dtype

    @add_call_to_errors("linalg.solve.NystromSolver(m).solve(kernel, y)")
    def sums(self, first: int, last: int, memory: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Returns the sums F^T F and F^T y over some rows, for features F of the Nystrom method and targets y."""
        from scipy.linalg import blas  # slow to import

        m, single = len(self.support), self.dtype == torch.float32
        room = _room(m, memory)
        factor = np.asfortranarray(self.lower.numpy().astype(np.float32 if single else np.float64))
        solve, square = (blas.strsm, blas.ssyrk) if single else (blas.dtrsm, blas.dsyrk)
        gram, target = np.zeros((m, m), order="F"), np.zeros((m, self.system.y.shape[1]))
        part = np.zeros((m, m), dtype=np.float32, order="F") if single else gram
        for block in row_blocks(last - first, TILES_IN_MEMORY * m, room * BYTES_PER_FLOAT64 // self.dtype.itemsize):
            rows = block + first
            # The kernel may have returned a view of the caller's matrix, which must not change, so it is copied.
            F = np.array(self.system.tile(rows, self.support, self.dtype).numpy(), order="C").T
            F = solve(1.0, factor, F, lower=1, overwrite_b=1)  # now the solution F, transposed, in the copy's memory
            square(1.0, F, beta=0.0 if single else 1.0, c=part, lower=1, overwrite_c=1)  # (2)
            if single:
                gram += part
            target += F @ self.system.y[rows].numpy().astype(F.dtype)  # (2)
        return gram, target


def from_sums(stream: RowStream, gram: np.ndarray, target: np.ndarray, jitter: float, name: str) -> Solution:
    """Returns the Nystrom solution from the sums F^T F and F^T y of features F and targets y over all rows."""
    matrix = torch.from_numpy(gram)
    matrix.diagonal().add_(stream.system.ridge)
    outer = factor_with_least_jitter(matrix)
    w = torch.cholesky_solve(torch.from_numpy(target), outer.lower)  # (2)
    c = torch.linalg.solve_triangular(stream.lower.T, w, upper=True)
    return Solution(stream.system.as_given(c), stream.support, name, jitter=jitter)


def _room(m: int, memory: int | None) -> int:
    """Returns the bytes left for a tile in addition to the m x m matrices of the Nystrom method."""
    taken = BYTES_PER_FLOAT64 * MATRICES_IN_MEMORY * m * m
    room = memory_budget(memory) - taken
    if room < BYTES_PER_FLOAT64 * m:
        what = f"{m} centers need {format_bytes(taken)}, but only {format_bytes(memory_budget(memory))} may be used"
        raise BudgetError(what, accepted="m x m matrices that fit into memory", fix="Use fewer centers")
    return min(room, max(TILE_BYTES, BYTES_PER_FLOAT64 * m))


def _checked_centers(centers: tuple[int, ...], n: int) -> Tensor:
    if len(set(centers)) != len(centers) or not all(0 <= i < n for i in centers) or not centers:
        raise out_of_range_error("centers", f"different row numbers from 0 to {n - 1}", centers[:5])
    return torch.tensor(centers)
