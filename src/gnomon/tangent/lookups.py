"""The kernel of a table of rows, such as an embedding: positions that hold the same index share a row.

<dW_i, dW_j> = sum_{t,s: v_it = v_js} g_it . g_js                                                 (1)
"""

import torch
from torch import Tensor

from gnomon.tangent.sums import MULTIPLY_ADDS_PER_PASS, flat, outer, strips, summed


def lookups(v1: Tensor, v2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, workspace: int) -> Tensor:
    """Equation (1), by comparing indices, or by adding up the gradients of each index first, whichever is cheaper.

    >>> v, g = torch.tensor([[0, 1], [1, 1]]), [torch.ones(2, 2, 1)]
    >>> lookups(v, v, g, g, "trace", 2**20)
    tensor([[2., 2.],
            [2., 4.]])
    """
    (n, t), (m, s) = v1.shape, v2.shape
    vocabulary, where = torch.unique(torch.cat([v1.flatten(), v2.flatten()]), return_inverse=True)
    f, q = g1[0].shape[-1], len(g1)
    table = len(vocabulary) * f
    if t * s * (f + MULTIPLY_ADDS_PER_PASS) > table and table * (n + m) * q * g1[0].element_size() <= workspace:
        d1 = [_table(where[: n * t].reshape(n, t), g, len(vocabulary)) for g in g1]
        d2 = d1 if g1 is g2 else [_table(where[n * t :].reshape(m, s), g, len(vocabulary)) for g in g2]
        return outer(mode, d1, d2)
    parts = []
    for rows in strips(n, t, m * s, q, mode, g1[0].element_size(), workspace, n):
        equal = (v1[rows].reshape(-1, 1) == v2.reshape(1, -1)).to(g1[0].dtype)
        gradients = outer(mode, [flat(g[rows]) for g in g1], [flat(g) for g in g2])
        parts.append(summed(gradients, equal, t, s, mode))
    return torch.cat(parts, dim=1 if mode in ("diagonal", "full") else 0)


def _table(index: Tensor, g: Tensor, rows: int) -> Tensor:
    table = g.new_zeros(len(g), rows, g.shape[-1])
    return table.scatter_add_(1, index.unsqueeze(-1).expand_as(g), g).flatten(1)
