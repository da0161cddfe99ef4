"""Checks a kernel matrix, targets and initial outputs, and converts them to matching float64 tensors."""

from dataclasses import dataclass
from math import isnan

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, out_of_range_error
from gnomon.core.inputs.arrays import Array, as_tensor
from gnomon.core.inputs.checks import as_numbers, check_number, check_real
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.linalg.square import as_square_matrix, asymmetry, dense_matrix, symmetric_part


@dataclass(frozen=True, slots=True, eq=False)
class KernelProblem:
    """A checked kernel regression problem: kernel matrices, targets and initial outputs.

    The kernel is one of points, which all outputs share (r = n), or one of points and outputs (r = n k).
    """

    gram: Float[Tensor, "r r"]
    y: Float[Tensor, "n k"]
    f0: Float[Tensor, "n k"]
    cross: Float[Tensor, "s r"]
    f0_test: Float[Tensor, "m k"]
    eps: float
    flat: bool

    @property
    def full(self) -> bool:
        """Returns whether the kernel couples different outputs, so that its rows are pairs of a point and an output."""
        return len(self.gram) != len(self.y)

    def rows(self, values: Float[Tensor, "n k"]) -> Float[Tensor, "r q"]:
        """Reshapes outputs (n, k) to vectors that the kernel matrix can multiply."""
        return values.reshape(-1, 1) if self.full else values

    def outputs(self, values: Float[Tensor, "*t s q"]) -> Float[Tensor, "*t m k"]:
        """Reshapes vectors that the kernel matrix multiplies back to outputs (..., points, k)."""
        return values.reshape(*values.shape[:-2], -1, self.y.shape[1]) if self.full else values

    def train(self, c: Float[Tensor, "*t n k"]) -> Float[Tensor, "*t n k"]:
        """Returns how much kernel coefficients c change the outputs at the training points: kernel matrix times c."""
        return self.outputs(self.gram @ (c.flatten(-2).unsqueeze(-1) if self.full else c))

    def test(self, c: Float[Tensor, "*t n k"]) -> Float[Tensor, "*t m k"]:
        """Returns how much the kernel coefficients c change the outputs at the test points."""
        return self.outputs(self.cross @ (c.flatten(-2).unsqueeze(-1) if self.full else c))


def kernel_problem(ntk: Array, y: Array, test: Array | None, f0: Array | None, f0_test: Array | None) -> KernelProblem:
    """Checks kernels, targets and initial outputs, and converts them to a `KernelProblem`.

    Integer targets (n,) are classes, taken as one-hot rows.
    Kernels are (n, n) and (m, n), or (n, n, k, k) and (m, n, k, k) if they couple k outputs.
    """
    kernel = dense_matrix(ntk)
    shape = tuple(kernel.shape)
    coupled = len(shape) == 4 and shape[2] == shape[3]
    matrix = as_square_matrix(kernel_as_matrix(kernel) if coupled else kernel).detach()
    skew, allowed = asymmetry(matrix), torch.finfo(matrix.dtype).eps ** 0.5
    if skew > allowed:
        what = f"the kernel and its transpose differ by {skew:.1e} of the largest entry, over {allowed:.0e}"
        raise InputError(what, accepted="a symmetric kernel", fix="Pass the kernel of the training points")
    n = shape[0]
    targets = finite(targets_as_numbers(y, outputs=shape[2] if coupled else None), "y")
    flat = targets.ndim == 1
    targets = columns(targets, "y", n, shape[2] if coupled else None)
    k = targets.shape[1]
    if test is None:
        cross = torch.zeros(0, len(matrix), dtype=torch.float64)
    elif coupled:
        cross = kernel_as_matrix(of_shape(test, "test", (None, n, k, k)))
    else:
        cross = of_shape(test, "test", (None, n))
    start = torch.zeros_like(targets) if f0 is None else columns(finite(f0, "f0"), "f0", n, k)
    m = 0 if test is None else len(as_numbers(test, "test"))
    start_test = _initial_test_outputs(f0, f0_test, m, k, test is not None)
    eps = torch.finfo(matrix.dtype).eps
    return KernelProblem(symmetric_part(matrix.double().cpu()), targets, start, cross, start_test, eps, flat)


def _initial_test_outputs(
    f0: Array | None, f0_test: Array | None, m: int, k: int, has_test: bool
) -> Float[Tensor, "m k"]:
    if f0_test is not None and not has_test:
        fix = "Pass test as well, the kernel between test and training points"
        raise InputError(f"f0_test is passed without test. {fix}")
    if f0_test is not None:
        return columns(finite(f0_test, "f0_test"), "f0_test", m, k)
    if f0 is not None and m:
        fix = "Pass f0_test, the outputs at the test points before training"
        raise InputError(f"f0 is passed without f0_test. {fix}")
    return torch.zeros(m, k, dtype=torch.float64)


def time_grid(times: "Array | list[float] | tuple[float, ...]") -> Float[Tensor, " t"]:
    """Checks the times and returns them in increasing order; infinity is allowed."""
    values = check_real(as_numbers(times, "times"), "times")
    grid = values.detach().to(device="cpu", dtype=torch.float64).flatten()
    if len(grid) == 0 or any(isnan(t) or t < 0 for t in grid.tolist()):
        accepted = "numbers from 0 to math.inf (time is learning rate times steps)"
        raise out_of_range_error("times", accepted, grid.tolist()[:5])
    return grid.sort().values


def penalty_weight(penalty: float, *, name: str = "penalty") -> float:
    """Returns the weight of the L2 penalty as a float; raises an error if the weight is negative."""
    if not check_number(name, penalty) >= 0:
        raise out_of_range_error(name, "a finite number of at least 0", penalty)
    return float(penalty)


def kernel_as_matrix(kernel: Array) -> Float[Tensor, "r s"]:
    """Reshapes a kernel of points and outputs, (n, m, k, k), to a matrix (n k, m k)."""
    values = as_tensor(kernel)
    return values.transpose(1, 2).reshape(values.shape[0] * values.shape[2], -1)


def finite(values: Array, name: str) -> Tensor:
    """Returns the values as a float64 tensor on the CPU; raises an error for NaN or infinity."""
    tensor = check_real(as_numbers(values, name), name).detach().to(device="cpu", dtype=torch.float64)
    if not bool(tensor.isfinite().all()):
        what = f"{name} holds {int((~tensor.isfinite()).sum())} numbers that are not finite"
        raise NotFiniteError(what, accepted="finite data", fix=f"Look at {name}, and drop those points")
    return tensor


def columns(values: Tensor, name: str, n: int, k: int | None) -> Float[Tensor, "n k"]:
    """Checks values at n points and returns them as a matrix with one column per output."""
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2 or len(table) != n or (k is not None and table.shape[1] != k):
        accepted = f"of shape ({n},) or ({n}, {k if k is not None else 'k'}), one row for each point of the kernel"
        raise InputError(f"{name} must be {accepted}, but it has shape {tuple(values.shape)}")
    return table


def of_shape(values: Array, name: str, shape: tuple[int | None, ...]) -> Tensor:
    """Returns values as a float64 tensor after checking that they are finite and of this shape; None means any size."""
    table = finite(values, name)
    if table.ndim != len(shape) or any(
        size is not None and size != actual for size, actual in zip(shape, table.shape, strict=True)
    ):
        wanted = "(" + ", ".join("m" if size is None else str(size) for size in shape) + ")"
        accepted = f"of shape {wanted}, test points in rows, training points in columns"
        raise InputError(f"{name} must be {accepted}, but it has shape {tuple(table.shape)}")
    return table
