"""Validates points, and the vectors that a vector field returns at these points."""

from math import prod
from typing import Any

from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs

__all__ = ["as_examples", "check_vectors", "finite_points"]


def finite_points(x: Any, name: str, *, least: int = 1) -> Tensor:
    """Returns examples (n, ...) as a tensor of finite numbers in their own dtype.

    Cost: one pass over the numbers.

    >>> finite_points([[1.0, 2.0]], "x").shape
    torch.Size([1, 2])
    """
    given = as_numbers(x, name)
    if given.dim() < 2 or len(given) < least:
        found = f"{name} has shape {tuple(given.shape)}"
        wanted = f"at least {least} example{'s' if least > 1 else ''} as rows (n, ...)"
        raise InputError(found, accepted=wanted, fix=f"Pass {name} as (n, d)")
    check_finite_inputs(given.detach())
    return given


def as_examples(output: Tensor, n: int, shape: tuple[int, ...], *, what: str) -> Tensor:
    """Reshapes the output of a submodule to n examples, or raises an error if its size is wrong.

    >>> import torch
    >>> as_examples(torch.zeros(3, 4), 3, (1, 2, 2), what="the decoder").shape
    torch.Size([3, 1, 2, 2])
    """
    if not isinstance(output, Tensor) or output.numel() != n * prod(shape):
        given = tuple(output.shape) if isinstance(output, Tensor) else f"a {type(output).__name__}"
        numbers, wanted = f"{prod(shape)} number{'s' if prod(shape) > 1 else ''} for each row", tuple((n, *shape))
        raise InputError(f"{what} returned {given} for {n} rows", accepted=numbers, fix=f"Let it return {wanted}")
    return output.reshape(n, *shape)


def check_vectors(vectors: Any, x: Tensor, *, what: str = "the field") -> None:
    """Raises an error if a vector field does not return one vector in the shape of each point.

    >>> import torch
    >>> check_vectors(torch.zeros(3, 2), torch.ones(3, 2))
    """
    if not isinstance(vectors, Tensor) or vectors.shape != x.shape:
        shape = tuple(vectors.shape) if isinstance(vectors, Tensor) else f"a {type(vectors).__name__}"
        found = f"{what} returned {shape} for points {tuple(x.shape)}"
        raise InputError(found, accepted="a vector at each point", fix="Return the shape of x")
