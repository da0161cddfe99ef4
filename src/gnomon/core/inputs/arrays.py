"""Converts torch tensors, numpy arrays and tables with named columns to tensors or arrays of numbers.

>>> import numpy
>>> as_tensor(numpy.ones(2))
tensor([1., 1.], dtype=torch.float64)
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import InputError

__all__ = ["Array", "as_array", "as_tensor"]


@runtime_checkable
class Table(Protocol):
    """A table or column of another library, such as a DataFrame or Series of pandas or polars."""

    def to_numpy(self) -> np.ndarray:
        """Returns the values of the table as a numpy array."""


Array = Tensor | np.ndarray | Table
"""A table of numbers: a torch tensor, a numpy array, or a table of another library."""


def as_tensor(values: Array) -> Tensor:
    """Converts numbers to a tensor without gradients; copies numpy arrays, because they may be write-protected.

    Cost: a copy of an array or a table; none for a tensor.

    >>> as_tensor(torch.zeros(1, requires_grad=True)).requires_grad
    False
    """
    return values.detach() if isinstance(values, Tensor) else torch.from_numpy(np.array(as_array(values)))


def as_array(values: Any) -> Any:
    """Converts a table of another library to a numpy array; returns anything else unchanged.

    Cost: one call of the table's ``to_numpy``.

    >>> as_array(3.0)
    3.0
    """
    if isinstance(values, Tensor | np.ndarray) or not isinstance(values, Table):
        return values
    array = np.asarray(values.to_numpy())
    # Tables with mixed column types, such as booleans and numbers, become arrays of objects. This makes them numeric.
    if array.dtype.kind == "O":
        array = np.array(array.tolist())
    if array.dtype.kind not in "biufc":
        found = f"a {type(values).__name__} of shape {array.shape} holds values that are not numbers ({array.dtype})"
        fix = "Encode or drop columns of text and dates, and fill missing values"
        raise InputError(found, accepted="numbers", fix=fix)
    return array
