"""Pads signals and images with the modes of ``numpy.pad``, for any size and width.

Most modes copy values: then the padded signal is x[index] with the index that numpy makes of 0, 1, 2, ... The others
are sums ("constant", "linear_ramp", "mean"), which are a matrix, or statistics of the whole line.

>>> import torch
>>> pad(torch.tensor([1.0, 2.0, 3.0]), 5, 2, -1, "reflect")                       # wider than the signal itself
tensor([2., 1., 2., 3., 2., 1., 2., 3., 2., 1.])
"""

import numpy as np
import torch
from torch import Tensor

__all__ = ["pad"]

COPIES = ("reflect", "symmetric", "wrap", "edge")
SUMS = ("constant", "linear_ramp", "mean")
STATISTICS = ("maximum", "minimum", "median")
MODES = (*COPIES, *SUMS, *STATISTICS)


def pad(x: Tensor, before: int, after: int, dim: int, mode: str) -> Tensor:
    """Pads a tensor with a number of values before and after the data along one dimension.

    Cost: a copy; for sums a matrix product.

    >>> pad(torch.tensor([[1.0], [2.0]]), 1, 0, 0, "constant").T
    tensor([[0., 1., 2.]])
    """
    if not before and not after:
        return x
    n, width = x.shape[dim], (before, after)
    if mode in COPIES:
        index = torch.from_numpy(np.pad(np.arange(n), width, mode=mode))  # type: ignore[call-overload]
        return x.index_select(dim, index.to(x.device))
    if mode in SUMS:
        matrix = np.pad(np.eye(n), (width, (0, 0)), mode=mode)  # type: ignore[call-overload]
        moved = x.movedim(dim, -1)
        return (moved @ torch.from_numpy(matrix.T.copy()).to(moved)).movedim(-1, dim)
    if mode == "median":  # For an even count, torch's median is not the mean of the two middle values; numpy's is.
        ordered = x.sort(dim).values
        middle = (ordered.narrow(dim, (n - 1) // 2, 1) + ordered.narrow(dim, n // 2, 1)) / 2
    else:
        middle = x.amax(dim, keepdim=True) if mode == "maximum" else x.amin(dim, keepdim=True)
    ends = [middle.expand(*[w if d == dim % x.dim() else -1 for d in range(x.dim())]) for w in width]
    return torch.cat([ends[0], x, ends[1]], dim)
