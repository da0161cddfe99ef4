"""Conjugate gradients with a preconditioner: a system solved by products with the kernel.

    A = K + ridge,    stop where |y - A c| <= tolerance |y| for every output                   (1)

All outputs move in one product with the kernel, each with its own step; an output that has arrived stands still. The
residual of the recursion drifts from the true one by rounding, so when the recursion says that it has arrived the true
residual is computed, and where that is still above (1) the iteration starts again from it. A start that does not halve
the true residual has met the rounding of the products: then, or at the limit of iterations, NotConvergedError carries
the solution that was reached. What is returned satisfies (1).

Hypotheses: A positive definite. The error falls by a constant factor in about sqrt(condition of P^{-1} A) iterations.
Reference: [hestenes1952methods].
Cost: n^2 k operations and one pass over the kernel for an iteration. The kernel is held where 8 n^2 bytes fit the
memory, and asked for again, strip by strip, where they do not; beside it 8 n rank bytes of the preconditioner, a
quarter of the memory at most, and ten tables like y.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.arrays import Array
from gnomon.core.errors import InputError, NotConvergedError, lesson
from gnomon.linalg.solve.base import (
    FLOAT,
    AbstractSolver,
    Kernel,
    Solution,
    System,
    blocks,
    budget,
    span,
    system,
    tile_room,
    whole,
)
from gnomon.linalg.solve.precondition import AbstractPreconditioner, PivotedCholesky, preconditioned

CALL = "linalg.solve.ConjugateGradient().solve(kernel, y)"
GAIN = 0.5  # of the true residual, at least, for another start to be worth it

Map = Callable[[Tensor], Tensor]


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

    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        given = held(system(kernel, y, ridge, CALL), self.memory)
        return self.descend(given, lambda p: product_with(given, p, self.memory), "Conjugate gradients", CALL)

    def descend(self, given: System, product: Map, name: str, call: str) -> Solution:
        """The solution by products p -> (K + ridge) p, wherever they are computed; ``name`` is the solver's."""
        apply = preconditioned(self.preconditioner, given, self.memory, call)
        sizes = given.y.norm(dim=0)
        goal, scale = self.tolerance * sizes, torch.where(sizes > 0, sizes, 1.0)
        c, left, count = torch.zeros_like(given.y), given.y, 0
        while True:
            before = left.norm(dim=0)
            step, taken = recursion(product, apply, left, goal, self.limit - count, call)
            c, count = c + step, count + taken
            left = given.y - product(c)  # (1)
            now = left.norm(dim=0)
            residual = float((now / scale).max())
            found = Solution(given.shaped(c), torch.arange(len(c)), name, residual, iterations=count)
            if bool((now <= goal).all()):
                return found
            if count >= self.limit or not bool((now <= GAIN * before)[now > goal].all()):
                raise NotConvergedError(_message(found, self.tolerance, self.limit, call), found)


def recursion(
    product: Map, apply: Map, y: Float[Tensor, "n k"], goal: Float[Tensor, " k"], limit: int, call: str
) -> tuple[Float[Tensor, "n k"], int]:
    """Steps from zero until the residual of the recursion is below the goal for every output, or the limit."""
    c, r = torch.zeros_like(y), y.clone()
    z = apply(r)
    p, rz, count = z, (r * z).sum(0), 0
    while bool((moving := r.norm(dim=0) > goal).any()) and count < limit:
        image = product(p)
        curvature = (p * image).sum(0)
        _check_curvature(curvature[moving], call)
        step = torch.where(moving, rz / torch.where(moving, curvature, 1.0), 0.0)
        c, r = c + step * p, r - step * image
        z = apply(r)
        new = (r * z).sum(0)
        p = z + torch.where(moving, new / torch.where(moving, rz, 1.0), 0.0) * p
        rz, count = new, count + 1
    return c, count


def product_with(given: System, p: Float[Tensor, "n k"], memory: int | None) -> Float[Tensor, "n k"]:
    """(K + ridge) p, strip by strip."""
    n = len(p)
    if isinstance(given.kernel, Tensor) and given.kernel.dtype == torch.float64:
        return given.kernel @ p + given.ridge * p
    every, out = torch.arange(n), given.ridge * p
    for rows in blocks(n, n, tile_room(memory)):
        out[span(rows)] += given.tile(rows, every, CALL) @ p
    return out


def held(given: System, memory: int | None) -> System:
    """The same system with its kernel in memory, where it fits."""
    n = len(given.y)
    if isinstance(given.kernel, Tensor) or FLOAT * n * n > budget(memory):
        return given
    return replace(given, kernel=whole(given, memory, CALL))


def _message(found: Solution, tolerance: float, limit: int, call: str) -> str:
    said = f"the relative residual is {found.residual:.1e} after {found.iterations} iterations, over {tolerance:.0e}"
    cure = "Raise the ridge, the tolerance, the rank of the preconditioner or the limit; or use Direct() where n^2 fits"
    return lesson(call, said, f"a condition number under about {limit**2:.0e}", cure)


def _check_curvature(curvature: Tensor, call: str) -> None:
    if bool((curvature <= 0).any()):
        found = f"a direction with p^T A p = {float(curvature.min()):.1e}"
        size = sqrt(torch.finfo(torch.float64).eps)
        cure = f"Raise the ridge, to {size:.0e} of the mean diagonal at least, or read linalg.diagnose(K)"
        raise InputError(lesson(call, found, "a positive definite kernel", cure))
