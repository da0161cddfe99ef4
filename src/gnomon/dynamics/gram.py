"""The door of the room: a kernel, targets and initial outputs as float64 tensors that fit each other."""

from dataclasses import dataclass
from math import inf, isnan

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.arrays import Array, as_tensor
from gnomon.core.errors import InputError, NotFiniteError, lesson
from gnomon.linalg.square import asymmetry, square, symmetric_part


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A kernel problem: outputs always have a column for each output; ``flat`` says that the caller's had none."""

    gram: Float[Tensor, "n n"]
    y: Float[Tensor, "n k"]
    f0: Float[Tensor, "n k"]
    cross: Float[Tensor, "m n"]
    f0_test: Float[Tensor, "m k"]
    eps: float
    flat: bool


def problem(call: str, ntk: Array, y: Array, test: Array | None, f0: Array | None, f0_test: Array | None) -> Problem:
    """Check and convert; the test kernel has test points in rows and training points in columns."""
    matrix = square(ntk, call).detach()
    skew, allowed = asymmetry(matrix), torch.finfo(matrix.dtype).eps ** 0.5
    if skew > allowed:
        found = f"the kernel and its transpose differ by {skew:.1e} of the largest entry, over {allowed:.0e}"
        raise InputError(lesson(call, found, "a symmetric kernel", "Pass the kernel of the training points"))
    n = len(matrix)
    targets = dense(y, "y", call)
    flat = targets.ndim == 1
    targets = columns(targets, "y", n, None, call)
    k = targets.shape[1]
    cross = torch.zeros(0, n, dtype=torch.float64) if test is None else rectangle(test, "test", (None, n), call)
    start = torch.zeros_like(targets) if f0 is None else columns(dense(f0, "f0", call), "f0", n, k, call)
    m = len(cross)
    if f0_test is not None and test is None:
        cure = "Pass test as well, the kernel between test and training points"
        raise InputError(lesson(call, "f0_test is given and test is not", "a kernel to the test points", cure))
    if f0_test is not None:
        start_test = columns(dense(f0_test, "f0_test", call), "f0_test", m, k, call)
    elif f0 is not None and m:
        cure = "Pass f0_test, the outputs at the test points before training: training starts from them"
        raise InputError(lesson(call, "f0 is given and f0_test is not", "one function f0 on all points", cure))
    else:
        start_test = torch.zeros(m, k, dtype=torch.float64)
    eps = torch.finfo(matrix.dtype).eps
    return Problem(symmetric_part(matrix.double().cpu()), targets, start, cross, start_test, eps, flat)


def instants(times: "Array | list[float] | tuple[float, ...]", call: str) -> Float[Tensor, " t"]:
    """Times in increasing order, from 0 to infinity."""
    grid = torch.as_tensor(times, dtype=torch.float64).detach().cpu().flatten()
    if len(grid) == 0 or any(isnan(t) or t < 0 for t in grid.tolist()):
        cure = "Pass numbers from 0 to math.inf; time is learning rate times steps"
        raise InputError(lesson(call, f"times are {grid.tolist()[:5]}", "times that are zero or more", cure))
    return grid.sort().values


def weight(penalty: float, call: str) -> float:
    """The L2 penalty, zero or more."""
    if not 0 <= penalty < inf:
        raise InputError(lesson(call, f"penalty is {penalty}", "a finite penalty, zero or more", "Pass such a number"))
    return float(penalty)


def dense(values: Array, name: str, call: str) -> Tensor:
    """A finite float64 tensor on the CPU."""
    tensor = as_tensor(values).to(device="cpu", dtype=torch.float64)
    if not bool(tensor.isfinite().all()):
        found = f"{name} holds {int((~tensor.isfinite()).sum())} numbers that are not finite"
        raise NotFiniteError(lesson(call, found, "finite data", f"Look at {name}, and drop those points"))
    return tensor


def columns(values: Tensor, name: str, n: int, k: int | None, call: str) -> Float[Tensor, "n k"]:
    """Values at n points as a matrix with a column for each of k outputs."""
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2 or len(table) != n or (k is not None and table.shape[1] != k):
        wanted = f"({n},) or ({n}, {k if k is not None else 'k'})"
        cure = f"Pass {name} of shape {wanted}: one row for each point of the kernel"
        raise InputError(lesson(call, f"{name} has shape {tuple(values.shape)}", "one row for each point", cure))
    return table


def rectangle(values: Array, name: str, shape: tuple[int | None, int | None], call: str) -> Tensor:
    """A finite float64 matrix of a stated shape, None meaning any size."""
    table = dense(values, name, call)
    if table.ndim != 2 or any(want is not None and want != have for want, have in zip(shape, table.shape, strict=True)):
        wanted = "(" + ", ".join("m" if want is None else str(want) for want in shape) + ")"
        cure = f"Pass {name} of shape {wanted}: test points in rows, training points in columns"
        raise InputError(lesson(call, f"{name} has shape {tuple(table.shape)}", "kernels of the same points", cure))
    return table
