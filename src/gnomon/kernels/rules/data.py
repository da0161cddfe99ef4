"""Computes the kernel of the data before any layer: second moments of the inputs, averaged over their features.

    K(x, x')[p, q] = (1/C) sum_c x[c, p] x'[c, q]                                   (1)
                   = (v(x)[p] + v(x')[q]) / 2 - |x[:, p] - x'[:, q]|^2 / 2C         (2)

(2) is used for nearly equal rows of many features, because the rounding of (1) would be magnified by every arccos.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.rules.base import mirror, pad
from gnomon.program.steps import ConvolutionWindow, Input

MAX_SHORT_FEATURES = 16
"""Number of features above which two summation orders may differ by more than the duals tolerate."""
ROWS_PER_STRIP = 64
"""Number of rows that are processed together."""
ALIGNED_COSINE_TOLERANCE = 1e-9
"""Pairs with a cosine within this distance of one are recomputed by (2)."""


@dataclass(frozen=True, slots=True)
class DataRule:
    """Computes the kernel of the data before any layer: Gram matrices of the inputs, with no tangent kernel yet."""

    op: Input

    def features(self, x: Tensor) -> Tensor:
        """Returns the data, or the patches that the first convolution sees, as (n, channels, *grid)."""
        data = self.op.function(x).movedim(self.op.channel, 1)
        return data if self.op.window is None else _patches(data, self.op.window)

    def own(self, x: Tensor, full: bool) -> Tensor:
        """Returns the second moments of each input with itself, averaged over its features."""
        n, c, *grid = x.shape
        if not full or not grid:
            return (x * x).sum(1) / c
        flat = x.reshape(n, c, -1)
        return (flat.transpose(1, 2) @ flat).reshape(n, *grid, *grid) / c  # (1)

    def cross(self, x: Tensor, y: Tensor, full: bool) -> Tensor:
        """Returns the second moments of all pairs of inputs, averaged over their features."""
        (n, c, *grid), m = x.shape, y.shape[0]
        a, b = x.reshape(n, c, -1), y.reshape(m, c, -1)
        if full and grid:
            moments = torch.einsum("icp,jcq->ijpq", a, b) / c  # (1)
            return moments.reshape(n, m, *grid, *grid)
        moments = torch.einsum("icp,jcp->ijp", a, b) / c
        if c > MAX_SHORT_FEATURES:
            moments = _near_equal(a, b, moments)
        if x is y:
            mirror(moments)  # Matrix products may round the two triangles differently, so one is copied.
        return moments.reshape(n, m, *grid)


def _patches(data: Tensor, window: ConvolutionWindow) -> Tensor:
    """Returns the patches that a convolution sees at each position, (n, channels * taps, *output grid)."""
    for axis, (before, after) in enumerate(window.padding):
        data = pad(data, 2 + axis, before, after, circular=window.mode == "circular")
    rank = len(window.kernel)
    for axis, (kernel, stride, dilation) in enumerate(zip(window.kernel, window.stride, window.dilation, strict=True)):
        data = data.unfold(2 + axis, dilation * (kernel - 1) + 1, stride)[
            ..., ::dilation
        ]  # The positions inside the convolution's kernel become the last dimension
    return data.permute(0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank)).flatten(1, 1 + rank)


def _near_equal(a: Tensor, b: Tensor, moments: Tensor) -> Tensor:
    """Recomputes second moments of nearly equal inputs from their differences, which avoids cancellation."""
    c = a.shape[1]
    va, vb = (a * a).sum(1)[:, None] / c, (b * b).sum(1)[None] / c
    found = []
    for top in range(0, len(a), ROWS_PER_STRIP):  # Takes few rows at a time, which fit into the cache.
        rows = slice(top, top + ROWS_PER_STRIP)
        i, j, p = torch.nonzero(moments[rows] > (1 - ALIGNED_COSINE_TOLERANCE) / 2 * (va[rows] + vb), as_tuple=True)
        found.append((i + top, j, p))
    i, j, p = (torch.cat(parts) for parts in zip(*found, strict=True))
    if len(i) == 0 or len(i) > a.shape[0] * b.shape[0]:
        return moments
    half = (va[i, 0, p] + vb[0, j, p]) / 2
    exact = half - (a[i, :, p] - b[j, :, p]).square().sum(1) / (2 * c)  # (2)
    return moments.index_put_((i, j, p), exact)
