"""Defines the interface of kernel solvers: they take a kernel, targets and a ridge, and return a fitted function.

A kernel is a square matrix, or a function of two index tensors: ``kernel(rows, columns)`` returns the tile
``K[rows][:, columns]``. It may compute it from anything; a solver asks for as much of it as it needs at a time.

``memory``, an option of every solver, is in bytes. A process grows by no more than 1.15 times as much and 32 MiB while
a solver runs, if the function of the kernel needs at most four times its tile to compute it; what a caller passes in
and gets back is not counted. Without it a solver takes half of what is free.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arrays import Array, as_tensor
from gnomon.core.inputs.checks import as_numbers, check_integer, check_number, check_real
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, free_bytes
from gnomon.core.results import Axis, Histogram, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.record import Record
from gnomon.linalg.square import as_square_matrix

TileFunction = Callable[[Tensor, Tensor], Tensor]
"""A function that returns the kernel for row and column indices."""

Kernel = Array | TileFunction
"""A kernel as a matrix or as a function of indices."""

__all__ = [
    "BYTES_PER_FLOAT64",
    "AbstractSolver",
    "FitScores",
    "IndexedKernel",
    "Kernel",
    "Solution",
    "TileFunction",
    "memory_budget",
    "row_blocks",
    "tile_bytes",
]

BYTES_PER_FLOAT64 = 8
"""Bytes of a float64."""
MEMORY_PARTS_PER_TILE = 8
"""One tile may take this fraction (1/8) of the memory, because the kernel function needs memory too."""
MIN_STRIP_BYTES = 2**22
"""Minimum bytes of a strip while a kernel is assembled; smaller strips need too many calls."""


@dataclass(frozen=True, slots=True, eq=False)
class FitScores(Record):
    """Scores of how well a kernel and a ridge fit the targets; None if a solver does not compute a score.

    ``leave_one_out`` are the residuals y_i - f_{-i}(x_i) of the functions fitted without point i; ``log_evidence`` is
    log p(y) under N(0, K + ridge), summed over outputs.

    >>> FitScores().log_evidence is None
    True
    """

    leave_one_out: Tensor | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)
    log_evidence: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Solution(Result):
    """A fitted function f(x) = sum_j K(x, x_j) coefficients_j over the points ``support``, and how it was computed.

    ``residual`` is |(K + ridge) c - y| / |y|, the largest over outputs, and None where c solves a smaller system.
    ``jitter`` was added to the diagonal in addition to the ridge; ``condition`` is an estimate in the 1-norm, or
    None if a
    solver has none.

    >>> from gnomon.linalg.solve import DirectSolver
    >>> solution = DirectSolver().solve(torch.eye(2), torch.tensor([2.0, 4.0]), ridge=1.0)
    >>> round(float(solution.predict(torch.tensor([[1.0, 1.0]]))), 12)      # 2 / (1 + 1) + 4 / (1 + 1)
    3.0
    """

    coefficients: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    support: Int[Tensor, " s"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    solver: str
    residual: float | None = None
    jitter: float = 0.0
    iterations: int = 0
    condition: float | None = None
    scores: FitScores = FitScores()

    @add_call_to_errors("solution.predict(tile)")
    def predict(self, tile: Array) -> Tensor:
        """Returns predictions at new points, from the kernel between the new points and the support points."""
        rows = as_tensor(tile).to(torch.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.support):
            what = f"the tile has shape {tuple(rows.shape)}, but the solution has {len(self.support)} support points"
            fix = "Pass the kernel between new points (rows) and the points solution.support (columns)"
            raise InputError(what, accepted="a column for each support point", fix=fix)
        return rows @ self.coefficients

    @property
    def verdict(self) -> str:
        """A sentence that says how the kernel system was solved."""
        parts = [f"{self.solver}: {len(self.support)} support points"]
        if self.residual is not None:
            parts.append(f"relative residual {self.residual:.1e}")
        if self.iterations:
            parts.append(f"{self.iterations} iterations")
        if self.condition is not None:
            parts.append(f"condition about {self.condition:.1e}")
        parts.append(f"jitter {self.jitter:.1e}" if self.jitter else "no jitter")
        return ", ".join(parts) + "."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the coefficients of the fitted function and, if computed, the leave-one-out residuals."""
        sizes = Histogram.of("coefficients", self.coefficients.abs().flatten())
        plots = [Plot("Coefficients", (sizes,), Axis("absolute coefficient"), Axis("count"), self.verdict)]
        if self.scores.leave_one_out is not None:
            residuals = Histogram.of("residuals", self.scores.leave_one_out.flatten())
            plots.append(Plot("Leave-one-out residuals", (residuals,), Axis("target - prediction"), Axis("count")))
        return tuple(plots)


class AbstractSolver(Record, ABC):
    """Interface of solvers, which fit a function of a kernel to targets."""

    @abstractmethod
    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:
        """Returns the function f of the kernel that minimizes |f(X) - y|^2 + ridge |f|^2, as coefficients.

        Integer targets (n,) are classes, taken as one-hot rows; floating-point ones are numbers.

        The ridge is in the units of K: for a loss that is a mean over n points with penalty alpha it is n alpha.
        """


@dataclass(frozen=True, slots=True, eq=False)
class IndexedKernel(Record):
    """A kernel as a function of the indices of points, made from a kernel function of two sets of points.

    It can be pickled, and so sent to other processes, if the function can.

    >>> x = torch.tensor([[1.0], [2.0]])
    >>> IndexedKernel(lambda a, b: a @ b.T, x)(torch.tensor([0, 1]), torch.tensor([1]))
    tensor([[2.],
            [4.]])
    """

    function: Callable[[Tensor, Tensor], Tensor]
    points: Float[Tensor, "n *d"] = field(repr=False)

    def __call__(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Returns the tile of the kernel matrix with the given rows and columns."""
        return self.function(self.points[rows], self.points[columns])


@dataclass(frozen=True, slots=True, eq=False)
class KernelSystem:
    """A checked kernel and targets of a linear system; ``flat`` says that the caller's targets had one axis."""

    kernel: Tensor | TileFunction
    y: Float[Tensor, "n k"]
    ridge: float
    flat: bool

    def tile(self, rows: Tensor, columns: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """Returns the tile of the kernel matrix with the given rows and columns; raises an error if it is
        not finite.
        """
        if isinstance(self.kernel, Tensor):
            return _part(self.kernel, rows, columns).to(dtype)
        made = torch.as_tensor(self.kernel(rows, columns)).detach().to(device="cpu", dtype=dtype)
        if made.shape != (len(rows), len(columns)):
            what = f"kernel(rows, columns) returned {tuple(made.shape)} for {len(rows)} rows and {len(columns)} columns"
            raise InputError(what, accepted="one entry for each pair", fix="Return the matrix K[rows][:, columns]")
        # A finite sum proves in one pass that all entries are finite. The sum may overflow; only then each entry is
        # checked.
        if not bool(made.sum().isfinite()) and not bool(made.isfinite().all()):
            row = int(rows[(~made.isfinite()).any(1).nonzero()[0, 0]])
            fix = f"Look at input {row}: a NaN or a very large feature there is the usual cause"
            raise NotFiniteError(f"the kernel of point {row} is not finite", accepted="finite entries", fix=fix)
        return made

    def as_given(self, table: Tensor) -> Tensor:
        """Returns a table of outputs in the shape of the caller's targets."""
        return table[:, 0] if self.flat else table


def kernel_system(kernel: Kernel, y: Array, ridge: float) -> KernelSystem:
    """Checks the arguments of a kernel solver and returns them as a `KernelSystem`.

    >>> kernel_system(torch.eye(2), torch.ones(2), 0.1).y.shape
    torch.Size([2, 1])
    """
    table = check_real(as_numbers(y, "y"), "y")
    targets = targets_as_numbers(table).to(device="cpu", dtype=torch.float64)
    if targets.ndim not in (1, 2) or len(targets) == 0:
        shape = tuple(targets.shape)
        raise InputError(f"y must have shape (n,) or (n, k) with n at least 1, but it has shape {shape}")
    if not bool(targets.isfinite().all()):
        raise NotFiniteError("y holds numbers that are not finite", accepted="finite data", fix="Drop those points")
    if not check_number("ridge", ridge) >= 0:
        raise out_of_range_error("ridge", "a finite number of at least 0", ridge)
    matrix = isinstance(kernel, Array) or not callable(kernel)
    source = as_square_matrix(kernel).detach().cpu() if matrix else cast(TileFunction, kernel)
    if isinstance(source, Tensor) and len(source) != len(targets):
        what = f"the kernel has {len(source)} points and y has {len(targets)}"
        raise InputError(what, accepted="one target for each point", fix="Pass the kernel of the same points")
    return KernelSystem(source, targets.reshape(len(targets), -1), float(ridge), targets.ndim == 1)


def row_blocks(n: int, width: int, most: int) -> Iterator[Tensor]:
    """Yields blocks of row indices such that a tile with ``width`` columns takes at most ``most`` bytes, or has one
    row.

    >>> [block.tolist() for block in row_blocks(5, 10, 2 * 10 * BYTES_PER_FLOAT64)]
    [[0], [1, 2], [3, 4]]
    """
    rows = max(1, min(n, most // (BYTES_PER_FLOAT64 * max(1, width))))
    count = -(-n // rows)
    for i in range(count):
        yield torch.arange(i * n // count, (i + 1) * n // count)


def tile_bytes(memory: int | None) -> int:
    """Returns the bytes that one tile of a kernel matrix may take, an eighth of the memory.

    >>> tile_bytes(800)
    100
    """
    return memory_budget(memory) // MEMORY_PARTS_PER_TILE


def full_kernel(system: KernelSystem, memory: int | None) -> Float[Tensor, "n n"]:
    """Returns the full kernel matrix in new memory, assembled from small strips."""
    n = len(system.y)
    full, every = torch.empty(n, n, dtype=torch.float64), torch.arange(n)
    for rows in row_blocks(n, n, max(MIN_STRIP_BYTES, memory_budget(memory) // MEMORY_PARTS_PER_TILE**2)):
        full[as_slice(rows)] = system.tile(rows, every)
    return full


def as_slice(rows: Tensor) -> slice:
    """Returns consecutive indices as a slice, which numpy and torch read without a copy."""
    return slice(int(rows[0]), int(rows[-1]) + 1)


def memory_budget(memory: int | None) -> int:
    """Returns the bytes to use: the given number, or half of the free memory.

    >>> memory_budget(1_000_000)
    1000000
    """
    return int(SHARE_OF_FREE_MEMORY * free_bytes()) if memory is None else check_integer("memory", memory)


def _part(matrix: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Returns the tile of a matrix with the given rows and columns, without a copy if their indices are consecutive."""
    if all(
        int(index[-1] - index[0]) + 1 == len(index) and bool((index.diff() == 1).all()) for index in (rows, columns)
    ):
        return matrix[as_slice(rows), as_slice(columns)]
    return matrix[rows[:, None], columns]
