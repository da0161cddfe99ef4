"""The solver of Nystrom: n points seen through m centers, in tiles, never n x n.

The function stands on m of the points, f(x) = sum_j K(x, z_j) c_j, and minimizes |f(X) - y|^2 + ridge |f|_H^2:

    (K_mn K_nm + ridge K_mm) c = K_mn y                                                        (1)

solved in the coordinates of K_mm = L L^T, where F = K_nm L^{-T} and c = L^{-T} w:

    (F^T F + ridge) w = F^T y                                                                  (2)

F^T F and F^T y are sums over rows, so that rows come and go in tiles. With m = n, (1) is (K + ridge) c = y.

Hypotheses: K positive semidefinite. The centers are drawn without replacement; for n >> m the error against the full
kernel is that of its rank-m approximation, up to constants.
Reference: [williams2001using], [rudi2015less].
Cost: n m kernel entries and n m^2 operations; 8 (tile rows x 2 m + 3 m^2) bytes.

>>> import torch
>>> x = torch.linspace(-1, 1, 200, dtype=torch.float64)
>>> kernel = lambda rows, columns: 1 + x[rows, None] * x[columns]        # rank 2: three centers see everything
>>> found = Nystrom(3).solve(kernel, 2 * x + 1, ridge=1e-9)
>>> float((found.predict(kernel(torch.arange(200), found.support)) - 2 * x - 1).abs().max()) < 1e-6
True
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import BudgetError, InputError, lesson
from gnomon.core.memory import human
from gnomon.linalg.cholesky import cholesky
from gnomon.linalg.solve.base import FLOAT, AbstractSolver, Kernel, Solution, System, blocks, budget, system
from gnomon.linalg.solve.precondition import chosen

CALL = "linalg.solve.Nystrom(m).solve(kernel, y)"


@dataclass(frozen=True, slots=True)
class Nystrom(AbstractSolver):
    """m random centers, or those given by number, and n rows streamed against them in tiles.

    ``jitter`` of the solution is what K_mm needed to be factorized.

    >>> found = Nystrom(2).solve(torch.eye(2), torch.ones(2), ridge=1.0)  # all points are centers: (K + 1)^{-1} y
    >>> [round(c, 12) for c in found.coefficients.tolist()]
    [0.5, 0.5]
    """

    m: int
    seed: int = 0
    centers: tuple[int, ...] | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.m < 1:
            raise InputError(lesson("linalg.solve.Nystrom(m)", f"m is {self.m}", "at least one center", "Pass m >= 1"))

    def solve(self, kernel: Kernel, y: Tensor | np.ndarray, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        given = system(kernel, y, ridge, CALL)
        n = len(given.y)
        support = chosen(n, self.m, self.seed) if self.centers is None else _given(self.centers, n)
        inner = cholesky(given.tile(support, support, CALL))
        gram, target = accumulated(given, support, inner.lower, self.memory)
        gram.diagonal().add_(given.ridge)
        outer = cholesky(gram)
        w = torch.cholesky_solve(target, outer.lower)  # (2)
        c = torch.linalg.solve_triangular(inner.lower.T, w, upper=True)
        return Solution(given.shaped(c), support, "Nystrom", jitter=inner.jitter)


def accumulated(
    given: System, support: Tensor, lower: Float[Tensor, "m m"], memory: int | None
) -> tuple[Float[Tensor, "m m"], Float[Tensor, "m k"]]:
    """F^T F and F^T y of (2), one tile of rows after another."""
    m = len(support)
    room = budget(memory) - 3 * FLOAT * m * m
    if room < 2 * FLOAT * m:
        found = f"{m} centers need {human(3 * FLOAT * m * m)}, and {human(budget(memory))} may be used"
        raise BudgetError(lesson(CALL, found, "m^2 numbers that fit into memory", "Take fewer centers"))
    gram = torch.zeros(m, m, dtype=torch.float64)
    target = torch.zeros(m, given.y.shape[1], dtype=torch.float64)
    for rows in blocks(len(given.y), 2 * m, room):  # a tile and its image F
        F = torch.linalg.solve_triangular(lower, given.tile(rows, support, CALL).T, upper=False)
        gram.addmm_(F, F.T)
        target.addmm_(F, given.y[rows])
    return gram, target


def _given(centers: tuple[int, ...], n: int) -> Tensor:
    if len(set(centers)) != len(centers) or not all(0 <= i < n for i in centers) or not centers:
        found = f"centers are {centers[:5]}"
        raise InputError(lesson(CALL, found, f"different numbers from 0 to {n - 1}", "Pass such numbers"))
    return torch.tensor(centers)
