"""Solves kernel systems directly, by one Cholesky factorization in the memory of the kernel matrix.

    L L^T = A = K + ridge + jitter,    c = A^{-1} y                                            (1)
    log p(y) = -y^T c / 2 - sum log L_ii - n log(2 pi) / 2                                     (2)
    y_i - f_{-i}(x_i) = c_i / [A^{-1}]_ii                                                      (3)

A fills one buffer of n^2 numbers. The factor takes its lower triangle and leaves the upper one, from which A comes back
when the factorization fails and jitter must be added; the inverse in (3) overwrites the factor.

Hypotheses: K positive semidefinite up to rounding.
Reference: [rasmussen2006gaussian], algorithm 2.1 for (1) and (2), section 5.4.2 for (3).
Cost: n^3 / 3 operations, 8 n^2 bytes, five tables like y and a strip of the kernel, a 64th of the memory or 4 MiB;
(3) adds 2 n^3 / 3 operations and no memory.

>>> import torch
>>> K, y = torch.tensor([[2.0, 1.0], [1.0, 2.0]]), torch.tensor([1.0, 0.0])
>>> DirectSolver(leave_one_out=True).solve(K, y).scores.leave_one_out                 # 1 - 0 / 2 and 0 - 1 x 1 / 2
tensor([ 1.0000, -0.5000], dtype=torch.float64)
"""

from dataclasses import dataclass
from math import isqrt, log, pi
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import BudgetError, InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import check_number
from gnomon.core.machine.memory import format_bytes
from gnomon.linalg.solve.base import (
    BYTES_PER_FLOAT64,
    AbstractSolver,
    FitScores,
    Kernel,
    KernelSystem,
    Solution,
    full_kernel,
    kernel_system,
    memory_budget,
    row_blocks,
)

CACHE_TILE_BYTES = 2**20
"""Bytes of a tile that stays in the second-level cache while it is transposed."""
# Tolerance for symmetry: half of the digits of float32, the lowest precision of kernels. Rounding errors stay below
# this tolerance for networks of any reasonable depth; kernels that are not symmetric exceed it.
SYMMETRIC = float(torch.finfo(torch.float32).eps) ** 0.5
JITTER_POWERS = 12
"""Number of jitters to try, in powers of ten, from float precision to 1e-4 of the mean diagonal."""


@dataclass(frozen=True, slots=True)
class DirectSolver(AbstractSolver):
    """Direct solver: Cholesky factorization in place, exact up to rounding, if the n x n kernel matrix fits into
    memory.

    ``jitter`` None adds powers of ten, from small to large, until the factorization succeeds, and reports the amount; a
    number is added as it is.
    ``leave_one_out`` asks for the residuals (3). ``memory`` is in bytes. ``overwrite`` lets a float64 matrix become the
    buffer, which saves a copy and destroys it; only its lower triangle is read, without a check of the upper one.

    >>> print(DirectSolver().solve(torch.eye(3), torch.ones(3)))
    Cholesky: 3 support points, relative residual 0.0e+00, condition about 1.0e+00, no jitter.
    """

    jitter: float | None = None
    leave_one_out: bool = False
    memory: int | None = None
    overwrite: bool = False

    @add_call_to_errors("linalg.solve.DirectSolver().solve(kernel, y)")
    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        from scipy.linalg import lapack  # slow to import

        system = kernel_system(kernel, y, ridge)
        buffer = _assemble(system, self.memory, overwrite=self.overwrite)
        n, k = system.y.shape
        diagonal = buffer.diagonal().copy() + system.ridge
        added = self._factorize(buffer, diagonal, lapack)
        factor = buffer.T  # The factor is a transposed view, because LAPACK expects column order.
        c, _ = lapack.dpotrs(factor, system.y.numpy(), lower=1)  # (1)
        residual, norm = _residual(buffer, diagonal, c, system.y.numpy())
        reciprocal, _ = lapack.dpocon(factor, norm + added, uplo="L")
        log_evidence = -float((system.y.numpy() * c).sum()) / 2 - k * (
            float(np.log(factor.diagonal()).sum()) + n * log(2 * pi) / 2
        )  # (2)
        left = None
        if self.leave_one_out:
            inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
            left = system.as_given(torch.from_numpy(c / inverse.diagonal()[:, None]))  # (3)
        return Solution(
            system.as_given(torch.from_numpy(np.ascontiguousarray(c))), torch.arange(n), "Cholesky", residual, added,
            condition=1 / reciprocal if reciprocal > 0 else float("inf"), scores=FitScores(left, log_evidence),
        )  # fmt: skip

    def _factorize(self, buffer: np.ndarray, diagonal: np.ndarray, lapack: Any) -> float:
        """Writes the Cholesky factor over the kernel matrix, and returns the jitter that was added to the diagonal."""
        unit = float(np.abs(diagonal).mean()) or 1.0
        amounts = [0.0, *(unit * float(f"1e{p}") for p in range(-16, -16 + JITTER_POWERS))]
        for added in amounts if self.jitter is None else [check_number("jitter", self.jitter)]:
            np.fill_diagonal(buffer, diagonal + added)
            _, info = lapack.dpotrf(buffer.T, lower=1, clean=0, overwrite_a=1)
            if info == 0 and np.isfinite(buffer.diagonal()).all():
                return float(added)
            _restore(buffer)
        what = f"the Cholesky factorization fails even after adding {added:.1e} to a diagonal of mean {unit:.1e}"
        fix = "Raise the ridge, or read linalg.diagnose_matrix(K) for the reason"
        raise InputError(what, accepted="a positive semidefinite kernel", fix=fix)


def _assemble(system: KernelSystem, memory: int | None, *, overwrite: bool) -> np.ndarray:
    """Returns the kernel matrix in a buffer for the factorization, a copy unless the matrix may be overwritten."""
    n = len(system.y)
    own = system.kernel
    if overwrite and isinstance(own, Tensor) and own.dtype == torch.float64 and own.is_contiguous():
        return own.numpy()
    if BYTES_PER_FLOAT64 * n * n > memory_budget(memory):
        what = (
            f"{n} points need {format_bytes(BYTES_PER_FLOAT64 * n * n)}, but only "
            f"{format_bytes(memory_budget(memory))} may be used"
        )
        fix = "Use gnomon.linalg.solve.NystromSolver(m), or gnomon.linalg.solve.choose_solver(n) to choose a solver"
        raise BudgetError(what, accepted="a kernel that fits into memory", fix=fix)
    buffer: np.ndarray = full_kernel(system, memory).numpy()
    skew, largest = _skew(buffer)
    if skew > SYMMETRIC * largest:
        what = f"K[i, j] and K[j, i] differ by up to {skew:.1e}"
        raise InputError(what, accepted="a symmetric kernel", fix="Pass the kernel of one set of points with itself")
    return buffer


def _skew(buffer: np.ndarray) -> tuple[float, float]:
    """Returns the largest difference between K and its transpose, and the largest entry of K below the diagonal."""
    n, side = len(buffer), isqrt(CACHE_TILE_BYTES // BYTES_PER_FLOAT64)
    skew = largest = 0.0
    for i in range(0, n, side):
        for j in range(0, i + 1, side):
            tile = buffer[i : i + side, j : j + side]
            difference = tile - buffer[j : j + side, i : i + side].T
            skew = max(skew, float(difference.max()), -float(difference.min()))
            largest = max(largest, float(tile.max()), -float(tile.min()))
    return skew, largest


def _restore(buffer: np.ndarray) -> None:
    """Copies the unchanged triangle of the matrix over the triangle that a failed factorization overwrote."""
    for i in range(len(buffer)):
        buffer[i, i + 1 :] = buffer[i + 1 :, i]


def _residual(buffer: np.ndarray, diagonal: np.ndarray, c: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Returns the relative residual of the solution c for A = K + ridge I, and the largest absolute row sum of A."""
    n = len(y)
    product, sums = diagonal[:, None] * c, np.abs(diagonal)
    for rows in row_blocks(n, n, CACHE_TILE_BYTES):
        first, last = int(rows[0]), int(rows[-1]) + 1
        # Reads only entries strictly below the diagonal, which the factorization did not change.
        strip = np.tril(buffer[first:last, :last], first - 1)
        product[first:last] += strip @ c[:last]
        product[:last] += strip.T @ c[first:last]
        np.abs(strip, out=strip)
        sums[first:last] += strip.sum(1)
        sums[:last] += strip.sum(0)
    sizes = np.linalg.norm(y, axis=0)
    residual = float((np.linalg.norm(product - y, axis=0) / np.where(sizes > 0, sizes, 1.0)).max())
    if not np.isfinite(residual):
        fix = "Raise the ridge, or divide the kernel by its largest entry"
        raise NotFiniteError("the coefficients are not finite", accepted="a well-scaled kernel", fix=fix)
    return residual, float(sums.max())
