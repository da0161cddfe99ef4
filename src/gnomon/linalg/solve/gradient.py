"""Conjugate gradients with a preconditioner: a system solved by products with the kernel.

    A = K + ridge,    stop where |y - A c| <= tolerance |y| for every output                   (1)

All outputs move in one product with the kernel, each with its own step; an output that has arrived stands still. The
residual that is reported is computed anew from c at the end.

Hypotheses: A positive definite. The error falls by a constant factor in about sqrt(condition of P^{-1} A) iterations.
Reference: [hestenes1952methods].
Cost: n^2 k operations and one pass over the kernel for an iteration. The kernel is held where 8 n^2 bytes fit the
memory, and asked for again, strip by strip, where they do not.
"""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, lesson
from gnomon.linalg.solve.base import FLOAT, AbstractSolver, Kernel, Solution, System, blocks, budget, system
from gnomon.linalg.solve.precondition import AbstractPreconditioner, PivotedCholesky, diagonal, inverse

CALL = "linalg.solve.ConjugateGradient().solve(kernel, y)"


@dataclass(frozen=True, slots=True)
class ConjugateGradient(AbstractSolver):
    """Conjugate gradients, stopped on a relative residual; ``limit`` iterations without arriving are an error.

    >>> found = ConjugateGradient(tolerance=1e-10).solve(2 * torch.eye(3), torch.ones(3))
    >>> [round(c, 9) for c in found.coefficients.tolist()], found.residual <= 1e-10
    ([0.5, 0.5, 0.5], True)
    """

    tolerance: float = 1e-8
    preconditioner: AbstractPreconditioner = field(default_factory=PivotedCholesky)
    limit: int = 1000
    memory: int | None = None

    def solve(self, kernel: Kernel, y: Tensor | np.ndarray, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        given = held(system(kernel, y, ridge, CALL), self.memory)
        trace = float(diagonal(given, CALL).sum())
        apply = inverse(self.preconditioner.factor(given, self.memory, CALL), trace, given.ridge)
        sizes = given.y.norm(dim=0)
        goal = self.tolerance * sizes
        c, r = torch.zeros_like(given.y), given.y.clone()
        z = apply(r)
        p, rz, count = z, (r * z).sum(0), 0
        while bool((r.norm(dim=0) > goal).any()) and count < self.limit:
            moving = (r.norm(dim=0) > goal).double()
            product = product_with(given, p, self.memory)
            curvature = (p * product).sum(0)
            _check_curvature(curvature[moving > 0])
            step = moving * rz / torch.where(moving > 0, curvature, 1.0)
            c, r = c + step * p, r - step * product
            z = apply(r)
            new = (r * z).sum(0)
            p = z + torch.where(moving > 0, new / torch.where(moving > 0, rz, 1.0), 0.0) * p
            rz, count = new, count + 1
        true = (given.y - product_with(given, c, self.memory)).norm(dim=0)  # (1)
        residual = float((true / torch.where(sizes > 0, sizes, 1.0)).max())
        # The recursion drifts from the true residual by rounding; a factor of 10 beyond it is another matter.
        if residual > 10 * self.tolerance:
            found = f"the relative residual is {residual:.1e} after {count} iterations, over {self.tolerance:.0e}"
            cure = "Raise the ridge, the rank of the preconditioner or the limit; or use Direct() where n^2 fits"
            raise InputError(lesson(CALL, found, f"a condition number under about {self.limit**2:.0e}", cure))
        return Solution(given.shaped(c), torch.arange(len(c)), "Conjugate gradients", residual, iterations=count)


def product_with(given: System, p: Float[Tensor, "n k"], memory: int | None) -> Float[Tensor, "n k"]:
    """(K + ridge) p, strip by strip."""
    n = len(p)
    if isinstance(given.kernel, Tensor) and given.kernel.dtype == torch.float64:
        return given.kernel @ p + given.ridge * p
    every = torch.arange(n)
    strips = [given.tile(rows, every, CALL) @ p for rows in blocks(n, n, memory)]
    return torch.cat(strips) + given.ridge * p


def held(given: System, memory: int | None) -> System:
    """The same system with its kernel in memory, where it fits."""
    n = len(given.y)
    if isinstance(given.kernel, Tensor) or FLOAT * n * n > budget(memory):
        return given
    full, every = torch.empty(n, n, dtype=torch.float64), torch.arange(n)
    for rows in blocks(n, n, max(FLOAT * n, 2**26)):
        full[rows] = given.tile(rows, every, CALL)
    return System(full, given.y, given.ridge, given.flat)


def _check_curvature(curvature: Tensor) -> None:
    if bool((curvature <= 0).any()):
        found = f"a direction with p^T A p = {float(curvature.min()):.1e}"
        size = sqrt(torch.finfo(torch.float64).eps)
        cure = f"Raise the ridge, to {size:.0e} of the mean diagonal at least, or read linalg.diagnose(K)"
        raise InputError(lesson(CALL, found, "a positive definite kernel", cure))
