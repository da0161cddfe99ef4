"""Solves the kernel regression problem of an estimator; computes its kernel matrix only once.

With weights w, D = diag(sqrt(w)), N = sum w and a ridge r in the units of K, training to the end gives

    f(x) = K(x, X) D c,   (D K D + r) c = D y                                                          (1)

and gradient flow until time t, which is learning rate times steps on the loss
(1 / 2N) sum w_i |f(x_i) - y_i|^2 + (r / 2N) |f|^2, gives

    f(x, t) = K(x, X) D c(t),   c' = (D y - (D K D + r) c) / N,   c(0) = 0                             (2)

Hypotheses: squared loss, and a network so wide that its kernel does not change; it starts from the function zero.
Reference: [jacot2018neural], [lee2019wide].
Cost: n^2 kernel entries, once; the cost of the solver for (1); one eigendecomposition, 9 n^3, for (2).
"""

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import out_of_range_error
from gnomon.estimators.network import NetworkKernel
from gnomon.estimators.table import TableRows
from gnomon.linalg.ridge_modes import RidgeModes, ridge_modes
from gnomon.linalg.solve import AbstractSolver, DirectSolver, SolverChoice, choose_solver
from gnomon.linalg.solve.base import BYTES_PER_FLOAT64, memory_budget

MAX_SELECTION_ROWS = 1_500
"""Rows used for leave-one-out, evidence and calibration, at most; up to this many the Gram matrix is always stored."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedFunction:
    """The solution of a kernel regression: coefficients of its training points, and a sentence about how it was
    computed.
    """

    coefficients: Float[Tensor, "s k"]
    support: Int[Tensor, " s"]
    solver: AbstractSolver | None
    verdict: str


@dataclass(slots=True, eq=False)
class KernelRegression:
    """A kernel regression problem: kernel, rows and training time ``t``; computes the Gram matrix on first use.

    >>> from gnomon.models import mlp
    >>> from gnomon.program import InitializationLaw
    >>> x = torch.eye(2, dtype=torch.float64)
    >>> kernel = NetworkKernel(mlp(2, width=1, depth=0), InitializationLaw(1.0), "nngp")                  # x . x' / 2
    >>> KernelRegression(kernel, TableRows(x, x, torch.ones(2).double()), inf).gram
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]], dtype=torch.float64)
    """

    kernel: NetworkKernel
    rows: TableRows
    t: float
    _gram: Tensor | None = field(default=None, repr=False)
    _scale: float | None = None
    _modes: RidgeModes | None = field(default=None, repr=False)
    _examined: "KernelRegression | None" = field(default=None, repr=False)

    @property
    def gram(self) -> Float[Tensor, "n n"]:
        """Returns the kernel matrix of the training rows, without row weights."""
        if self._gram is None:
            self._gram = self.kernel(self.rows.x)
        return self._gram

    @property
    def scale(self) -> float:
        """Returns the weighted mean of the kernel matrix's diagonal, in which ridge penalties are measured."""
        if self._scale is None:
            held = self._gram is not None or len(self.rows) <= MAX_SELECTION_ROWS
            self._scale = self.rows.mean(self.gram.diagonal() if held else self.kernel.diagonal(self.rows.x))
        return self._scale

    @property
    def modes(self) -> RidgeModes:
        """Returns the regression problem in the basis of the kernel matrix's eigenvectors, which makes trying ridge
        penalties fast.
        """
        if self._modes is None:
            scale, rows = self.scale, self.rows
            self._modes = ridge_modes(self.gram / scale, rows.y, rows.weights, time=self.t * scale / rows.total)
        return self._modes

    def examined(self) -> "KernelRegression":
        """Returns the regression on a random part of the rows, for choosing network and ridge penalty if there are many
        rows.
        """
        if len(self.rows) <= MAX_SELECTION_ROWS:
            return self
        if self._examined is None:
            index = examined_rows(len(self.rows))
            part = None if self._gram is None else self._gram[index[:, None], index]
            self._examined = KernelRegression(self.kernel, self.rows[index], self.t, part)
        return self._examined

    def left_out(self, ridge: float) -> Float[Tensor, "n k"]:
        """Returns the leave-one-out errors: each target minus its prediction by a fit without this row."""
        return self.modes.left_out(ridge / self.scale)

    def solve(self, ridge: float, *, solver: Any) -> FittedFunction:
        """Solves the regression for a ridge penalty and returns the fitted function; frees the kernel matrix to save
        memory.
        """
        return self._gradient_flow(ridge) if self.t < inf else self._to_the_end(ridge, solver)

    def _to_the_end(self, ridge: float, solver: Any) -> FittedFunction:
        n, root = len(self.rows), self.rows.root
        choice = chosen_solver(solver, n)
        used, targets = choice.solver, root[:, None] * self.rows.y
        held = self._gram is not None
        if isinstance(used, DirectSolver) and (held or 3 * BYTES_PER_FLOAT64 * n * n <= 2 * memory_budget(used.memory)):
            gram, self._gram = self.gram, None
            matrix = gram if bool((root == 1).all()) else gram.mul_(root).mul_(root[:, None])
            solution = replace(used, overwrite=True).solve(matrix, targets, ridge=ridge)  # factored in place
        else:
            known = self._gram if n <= MAX_SELECTION_ROWS else None
            solution = used.solve(WeightedKernel(self.kernel, self.rows, known), targets, ridge=ridge)
        coefficients = root[solution.support, None] * solution.coefficients  # (1)
        return FittedFunction(coefficients, solution.support, choice.solver, f"{choice.reason} {solution.verdict}")

    def _gradient_flow(self, ridge: float) -> FittedFunction:
        n, scale = len(self.rows), self.scale
        c = self.modes.coefficients(ridge / scale) / scale  # the modes belong to the kernel divided by its scale
        verdict = f"Gradient flow until time {self.t:.4g}, in closed form from {n} eigenvectors of the kernel."
        return FittedFunction(self.rows.root[:, None] * c, torch.arange(n), None, verdict)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedKernel:
    """The kernel matrix with row weights, as a function of row and column indices; can be pickled.

    Entries are read from ``gram``, K(X, X), if it is known, and computed otherwise.

    >>> from gnomon.models import mlp
    >>> from gnomon.program import InitializationLaw
    >>> x = torch.eye(2, dtype=torch.float64)
    >>> kernel = NetworkKernel(mlp(2, width=1, depth=0), InitializationLaw(1.0), "nngp")                  # x . x' / 2
    >>> WeightedKernel(kernel, TableRows(x, x, torch.tensor([1.0, 4.0]).double()))(torch.arange(2), torch.arange(2))
    tensor([[0.5000, 0.0000],
            [0.0000, 2.0000]], dtype=torch.float64)
    """

    kernel: NetworkKernel
    rows: TableRows
    gram: Float[Tensor, "n n"] | None = None

    def __call__(self, rows: Int[Tensor, " a"], columns: Int[Tensor, " b"]) -> Float[Tensor, "a b"]:
        """Returns the entries of the weighted kernel for these row and column indices."""
        root, x = self.rows.root, self.rows.x
        tile = self.kernel(x[rows], x[columns]) if self.gram is None else self.gram[rows[:, None], columns]
        return root[rows, None] * tile * root[columns]


def examined_rows(n: int) -> Int[Tensor, " m"]:
    """Returns the indices of the rows used to choose network and ridge penalty: all, or a fixed random sample."""
    if n <= MAX_SELECTION_ROWS:
        return torch.arange(n)
    return torch.randperm(n, generator=torch.Generator().manual_seed(0))[:MAX_SELECTION_ROWS]


def training_time(t: Any) -> float:
    """Validates the training time and returns it; infinity for None, which means training to the end."""
    if t is None:
        return inf
    if isinstance(t, bool) or not isinstance(t, int | float) or not t >= 0:
        accepted = "None, to train to the end, or a number of at least 0, learning rate times steps"
        raise out_of_range_error("t", accepted, t)
    return float(t)


def chosen_solver(solver: Any, n: int) -> SolverChoice:
    """Returns the solver of kernel regression that the user passed; for "auto", a solver that suits n points."""
    if isinstance(solver, AbstractSolver):
        return SolverChoice(solver, f"{type(solver).__name__} for {n} points, as requested.")
    if isinstance(solver, str) and solver == "auto":
        return choose_solver(n)
    raise out_of_range_error("solver", '"auto" or an object of gnomon.linalg.solve', solver)
