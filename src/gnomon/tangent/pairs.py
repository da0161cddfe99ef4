"""The kernel of a weight matrix from pairs of positions: Gram matrices of activations and of gradients.

    <dW_i, dW_j> = sum_{t,s} (a_it . a_js) (g_it . g_js)                                              (1)

A bias is an input that is always one: it adds 1 to a_it . a_js. All products are of matrices on contiguous memory.
"""

from torch import Tensor

from gnomon.tangent.sums import MULTIPLY_ADDS_PER_PASS, Pieces, flat, outer, strips, summed

ROWS_PER_STRIP = 128
"""Rows per strip of a symmetric product of which only the lower triangle is formed; fewer would slow the product."""


def pairs(a1: Tensor, a2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, bias: bool, workspace: int) -> Tensor:
    """Equation (1), in strips of examples so that the table of position pairs stays within the workspace.

    Where both sides are the same, only the lower triangle is sure to be filled.

    >>> import torch
    >>> a, g = torch.full((2, 1, 1, 1), 3.0), [torch.ones(2, 1, 1, 1)]
    >>> pairs(a, a, g, g, "trace", True, 2**20)                     # 3 * 3 * 1 * 1 and one for the bias
    tensor([[10., 10.],
            [10., 10.]])
    """
    n, groups, t, _ = a1.shape
    m, _, s, _ = a2.shape
    triangle = a1 is a2 and g1 is g2 and mode != "full"  # its upper part is the mirror of the lower one
    q = len(g1)
    total = a1.new_zeros({"full": (q, n, q, m), "diagonal": (q, n, m)}.get(mode, (n, m)))
    for rows in strips(n, t, m * s, q, mode, a1.element_size(), workspace, ROWS_PER_STRIP if triangle else n):
        columns = slice(0, min(n, rows.stop)) if triangle else slice(0, m)
        place = total[:, rows, :, columns] if mode == "full" else total[..., rows, columns]
        for r in range(groups):
            activations = flat(a1[rows, r]) @ flat(a2[columns, r]).T
            gradients = outer(mode, [flat(g[rows, r]) for g in g1], [flat(g[columns, r]) for g in g2])
            place += summed(gradients, activations.add_(1) if bias else activations, t, s, mode)  # (1)
    return total


def pairs_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str) -> int:
    """Multiply-adds of (1).

    >>> import torch
    >>> a, g = [torch.zeros(10, 1, 1, 5)], [[torch.zeros(10, 1, 1, 7)]]
    >>> pairs_cost(a, a, g, "trace") - MULTIPLY_ADDS_PER_PASS * 100
    1200
    """
    _, groups, positions, d = a1[0].shape
    n, m = sum(map(len, a1)), sum(map(len, a2))
    q = len(grads) ** 2 if mode == "full" else len(grads)
    return n * m * groups * positions * a2[0].shape[2] * (d + q * grads[0][0].shape[3] + MULTIPLY_ADDS_PER_PASS)
