"""Checks matrices: returns a square, finite, floating-point tensor, or raises an error that says what is wrong.

>>> as_square_matrix([[2.0, 1.0], [1.0, 2.0]]).dtype
torch.float64
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.core.inputs.checks import as_numbers

__all__ = ["asymmetry", "dense_matrix", "lapack_dtype", "as_square_matrix", "symmetric_part"]

ROWS_PER_STRIP = 64
"""Number of rows compared per step."""


def as_square_matrix(K: Any) -> Tensor:
    """Returns a matrix as a dense tensor, with its device, dtype and autograd graph, after checking it.

    Arrays that torch can read as they are share their memory; others, of another byte order, with gaps or write
    protection, are copied, and long doubles become float64.

    Cost: one pass over the matrix.

    >>> as_square_matrix(torch.eye(2)).shape
    torch.Size([2, 2])
    """
    matrix = dense_matrix(K)
    _check_dtype(matrix.dtype, matrix.is_floating_point())
    _check_shape(tuple(matrix.shape))
    values = matrix.detach().to(lapack_dtype(matrix.dtype))
    # A finite sum proves in one pass that all entries are finite. The sum may overflow; only then each entry is
    # checked.
    if not bool(values.sum().isfinite()) and not bool((finite := values.isfinite()).all()):
        row, column = (~finite).nonzero()[0].tolist()
        count = int((~finite).sum())
        entry = matrix.detach()[row, column].item()
        what = f"K has {count} entries that are not finite, the first is K[{row}, {column}] = {entry}"
        fix = f"Look at inputs {row} and {column}: a NaN or a very large feature there is the usual cause"
        raise NotFiniteError(what, accepted="finite entries", fix=fix)
    return matrix


def dense_matrix(K: Any) -> Tensor:
    """Converts an array, a list or a tensor (also sparse) to a dense tensor.

    Cost: a copy, but for dense tensors and arrays that torch can read.

    >>> dense_matrix(torch.eye(2).to_sparse()).layout
    torch.strided
    """
    if isinstance(K, np.ndarray) and _readable(K):
        return torch.from_numpy(K)
    sparse = isinstance(K, Tensor) and not K.is_nested and K.layout not in (torch.strided, torch.jagged)
    return as_numbers(K.to_dense() if sparse else K, "K")


def _readable(array: np.ndarray) -> bool:
    """Whether torch can use an array without copying it."""
    known = array.dtype.kind == "f" and array.dtype.isnative and array.dtype.itemsize <= 8
    return known and array.flags.behaved and array.flags.forc and not isinstance(array, np.ma.MaskedArray)


def symmetric_part(matrix: Tensor) -> Tensor:
    """Returns the symmetric part (K + K^T) / 2 of a matrix K, without overflow for very large entries.

    Cost: one copy.

    >>> symmetric_part(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
    tensor([[1., 1.],
            [1., 1.]])
    """
    half = matrix / 2
    return half + half.mT


def asymmetry(matrix: Tensor) -> float:
    """Returns how far a matrix is from symmetric: the largest |K - K^T| over the largest |K|; 0 for the zero matrix.

    Cost: one pass, in strips.

    >>> asymmetry(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
    1.0
    """
    detached = matrix.detach().to(lapack_dtype(matrix.dtype))
    largest = _size(detached)
    if largest == 0:
        return 0.0
    # Entries are divided by the largest one first, because the difference of two large floats may overflow.
    strips = zip(detached.split(ROWS_PER_STRIP), detached.mT.split(ROWS_PER_STRIP), strict=True)
    return max(_size(rows / largest - columns / largest) for rows, columns in strips)


def _size(matrix: Tensor) -> float:
    """Returns the largest absolute entry of a matrix, without a copy."""
    low, high = matrix.aminmax()
    return max(float(high), -float(low))


def lapack_dtype(dtype: torch.dtype) -> torch.dtype:
    """Returns a dtype in which matrices can be factorized: the given dtype, or float32 if LAPACK does not support it.

    >>> lapack_dtype(torch.bfloat16)
    torch.float32
    """
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def _check_dtype(dtype: object, floating: bool) -> None:
    if floating:
        return
    if "complex" in str(dtype):
        fix = "Pass K.real after checking that K.imag is zero: the kernel of a real network is real"
    else:
        fix = "Convert it: K.double() for a tensor, K.astype(float) for an array"
    raise InputError(f"K holds {str(dtype).removeprefix('torch.')}", accepted="real floating-point entries", fix=fix)


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) > 2:
        what = f"K has {len(shape)} axes, shape {shape}"
        fix = "Pass one matrix at a time, K[i] of a stack; or merge outputs into rows, (n, n, k, k) to (n k, n k)"
    elif len(shape) < 2 or shape[0] != shape[1]:
        what = f"K has shape {shape}, which is not square"
        fix = "Pass the kernel of one set of points with itself, without a second set"
    elif shape[0] == 0:
        what, fix = "K has shape (0, 0) and contains no points", "Pass at least one point"
    else:
        return
    raise InputError(what, accepted="one square matrix", fix=fix)
