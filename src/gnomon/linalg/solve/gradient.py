"""Solves kernel systems by preconditioned conjugate gradients, which need only products with the kernel matrix.

    A = K + ridge,    stop where |y - A c| <= tolerance |y| for every output                   (1)

All outputs share one product with the kernel, each with its own step; an output that has converged is not changed any
more. The residual of the recursion differs from the true one by rounding, so at its convergence the true residual is
computed, and if it is still above (1) the iteration restarts from it. If that does not halve the true
residual, rounding limits it: then, or at the limit of iterations, NotConvergedError carries the solution that was
reached. What is returned satisfies (1).

Hypotheses: A positive definite. The error falls by a constant factor in about sqrt(condition of P^{-1} A) iterations.
Reference: [hestenes1952methods].
Cost: n^2 k operations and one pass over the kernel for an iteration. The kernel is held where 8 n^2 bytes fit the
memory, and computed again, strip by strip, if they do not; in addition 8 n rank bytes of the preconditioner, a
quarter of the memory at most, and ten tables like y.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, NotConvergedError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.linalg.solve.base import (
    BYTES_PER_FLOAT64,
    AbstractSolver,
    Kernel,
    KernelSystem,
    Solution,
    as_slice,
    full_kernel,
    kernel_system,
    memory_budget,
    row_blocks,
    tile_bytes,
)
from gnomon.linalg.solve.precondition import AbstractPreconditioner, PivotedCholeskyPreconditioner, inverse_of

MIN_RESTART_GAIN = 0.5
"""Minimum factor by which a restart must reduce the true residual."""

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class ConjugateGradient(AbstractSolver):
    """Solver by conjugate gradients up to a relative residual; raises an error after ``limit`` iterations.

    >>> solution = ConjugateGradient(tolerance=1e-10).solve(2 * torch.eye(3), torch.ones(3))
    >>> [round(c, 9) for c in solution.coefficients.tolist()], solution.residual <= 1e-10
    ([0.5, 0.5, 0.5], True)
    """

    tolerance: float = 1e-8
    preconditioner: AbstractPreconditioner = field(default_factory=PivotedCholeskyPreconditioner)
    limit: int = 1000
    memory: int | None = None

    @add_call_to_errors("linalg.solve.ConjugateGradient().solve(kernel, y)")
    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        system = in_memory(kernel_system(kernel, y, ridge), self.memory)
        return self.descend(system, lambda p: product_with(system, p, self.memory), "Conjugate gradients")

    def descend(self, system: KernelSystem, product: Map, name: str) -> Solution:
        """Solves the kernel system from products with K + ridge I, wherever these products are computed."""
        apply = inverse_of(self.preconditioner, system, self.memory)
        sizes = system.y.norm(dim=0)
        goal, scale = self.tolerance * sizes, torch.where(sizes > 0, sizes, 1.0)
        c, left, count = torch.zeros_like(system.y), system.y, 0
        while True:
            before = left.norm(dim=0)
            step, taken = recursion(product, apply, left, goal, self.limit - count)
            c, count = c + step, count + taken
            left = system.y - product(c)  # (1)
            now = left.norm(dim=0)
            residual = float((now / scale).max())
            solution = Solution(system.as_given(c), torch.arange(len(c)), name, residual, iterations=count)
            if bool((now <= goal).all()):
                return solution
            if count >= self.limit or not bool((now <= MIN_RESTART_GAIN * before)[now > goal].all()):
                raise _not_converged(solution, self.tolerance, self.limit)


def recursion(
    product: Map, apply: Map, y: Float[Tensor, "n k"], goal: Float[Tensor, " k"], limit: int
) -> tuple[Float[Tensor, "n k"], int]:
    """Runs conjugate gradients until the residual of every output is small enough, or the limit is reached."""
    c, r = torch.zeros_like(y), y.clone()
    z = apply(r)
    p, rz, count = z, (r * z).sum(0), 0
    while bool((moving := r.norm(dim=0) > goal).any()) and count < limit:
        image = product(p)
        curvature = (p * image).sum(0)
        _check_curvature(curvature[moving])
        step = torch.where(moving, rz / torch.where(moving, curvature, 1.0), 0.0)
        c, r = c + step * p, r - step * image
        z = apply(r)
        new = (r * z).sum(0)
        p = z + torch.where(moving, new / torch.where(moving, rz, 1.0), 0.0) * p
        rz, count = new, count + 1
    return c, count


def product_with(system: KernelSystem, p: Float[Tensor, "n k"], memory: int | None) -> Float[Tensor, "n k"]:
    """Returns the product (K + ridge I) p for the kernel matrix K of a system, one strip of rows at a time."""
    n = len(p)
    if isinstance(system.kernel, Tensor) and system.kernel.dtype == torch.float64:
        return system.kernel @ p + system.ridge * p
    every, out = torch.arange(n), system.ridge * p
    for rows in row_blocks(n, n, tile_bytes(memory)):
        out[as_slice(rows)] += system.tile(rows, every) @ p
    return out


def in_memory(system: KernelSystem, memory: int | None) -> KernelSystem:
    """Returns the system with its kernel matrix in memory if the matrix fits, otherwise unchanged."""
    n = len(system.y)
    if isinstance(system.kernel, Tensor) or BYTES_PER_FLOAT64 * n * n > memory_budget(memory):
        return system
    return replace(system, kernel=full_kernel(system, memory))


def _not_converged(solution: Solution, tolerance: float, limit: int) -> NotConvergedError:
    reached = f"the relative residual is {solution.residual:.1e} after {solution.iterations} iterations"
    fix = "Raise the ridge, the tolerance, the rank of the preconditioner or the limit; or use DirectSolver() if K fits"
    accepted = f"a condition number under about {limit**2:.0e}"
    return NotConvergedError(f"{reached}, more than {tolerance:.0e}", accepted=accepted, fix=fix, reached=solution)


def _check_curvature(curvature: Tensor) -> None:
    if bool((curvature <= 0).any()):
        what = f"the kernel has a direction p with p^T A p = {float(curvature.min()):.1e}"
        size = sqrt(torch.finfo(torch.float64).eps)
        fix = f"Raise the ridge to at least {size:.0e} of the mean diagonal, or read linalg.diagnose_matrix(K)"
        raise InputError(what, accepted="a positive definite kernel", fix=fix)
