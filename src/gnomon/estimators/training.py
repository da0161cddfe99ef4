"""From rows to the coefficients of a function: solved to the end, or followed by gradient flow until a time.

With weights w, D = diag(sqrt(w)), N = sum w and a ridge r in the units of K, the network trained to the end is

    f(x) = K(x, X) D c,   (D K D + r) c = D y                                                          (1)

and until time t, which is learning rate times steps on the loss (1 / 2N) sum w_i |f(x_i) - y_i|^2 + (r / 2N) |f|^2,

    f(x, t) = K(x, X) D c(t),   c' = (D y - (D K D + r) c) / N,   c(0) = 0                             (2)

Hypotheses: squared loss, and a network so wide that its kernel does not move; it starts from the function zero.
Reference: [jacot2018neural], [lee2019wide].
Cost: that of the solver for (1); one eigendecomposition, 9 n^3, for (2).
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import InputError, lesson
from gnomon.dynamics import modes
from gnomon.dynamics.squared import gains
from gnomon.estimators.network import NetworkKernel
from gnomon.estimators.rows import Rows, WeightedKernel
from gnomon.linalg.solve import AbstractSolver, Choice, Direct, auto
from gnomon.linalg.solve.base import FLOAT, budget


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """f(x) = sum_j K(x, x_j) coefficients_j over the rows ``support``, and a sentence on how it was found."""

    coefficients: Float[Tensor, "s k"]
    support: Int[Tensor, " s"]
    solver: AbstractSolver | None
    verdict: str


def solved(kernel: NetworkKernel, rows: Rows, *, ridge: float, solver: Any, call: str) -> Trained:
    """The function of (1), by a solver object or the one that ``linalg.solve.auto`` chooses."""
    n = len(rows.x)
    chosen = _chosen(solver, n, call)
    weighted = WeightedKernel(kernel, rows)
    # A matrix is computed once and by symmetry, and the direct solver factors it where it is.
    whole = isinstance(chosen.solver, Direct) and 3 * FLOAT * n * n <= 2 * budget(chosen.solver.memory)
    solver = replace(chosen.solver, overwrite=True) if isinstance(chosen.solver, Direct) and whole else chosen.solver
    found = solver.solve(weighted.matrix() if whole else weighted, rows.root[:, None] * rows.y, ridge=ridge)
    coefficients = rows.root[found.support, None] * found.coefficients  # (1)
    return Trained(coefficients, found.support, chosen.solver, f"{chosen.reason} {found.verdict}")


def followed(kernel: NetworkKernel, rows: Rows, *, ridge: float, t: float) -> Trained:
    """The function of (2) at one time."""
    n = len(rows.x)
    found = modes(WeightedKernel(kernel, rows).matrix(), rows.root[:, None] * rows.y, penalty=ridge / n)
    time = torch.tensor([t * n / rows.total], dtype=torch.float64)  # modes are those of K / n, and (2) has K / N
    c = found.vectors @ (gains(found, time, n)[0, :, None] * found.coefficients)  # (2)
    verdict = f"Gradient flow until time {t:.4g}, in closed form: {found.rank} of {n} modes are learned at all."
    return Trained(rows.root[:, None] * c, torch.arange(n), None, verdict)


def instant(t: Any, call: str) -> float:
    """The time of training, infinite where it is None."""
    if t is None:
        return inf
    if isinstance(t, bool) or not isinstance(t, int | float) or not t >= 0:
        cure = "Pass None to train to the end, or a time: learning rate times steps, zero or more"
        raise InputError(lesson(call, f"t is {t!r}", "a time", cure))
    return float(t)


def _chosen(solver: Any, n: int, call: str) -> Choice:
    if isinstance(solver, AbstractSolver):
        return Choice(solver, f"{type(solver).__name__} for {n} points, as asked for.")
    if isinstance(solver, str) and solver == "auto":
        return auto(n)
    cure = 'Pass "auto" or an object such as gnomon.linalg.solve.Nystrom(1000)'
    raise InputError(lesson(call, f"solver is {solver!r}", "a solver", cure))
