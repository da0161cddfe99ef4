"""Multiplies activations and gradients, and sums over positions and outputs, for all parts of the tangent kernel.

``mode`` says what becomes of the q outputs: "trace" and "pseudo" add them, (r, c); "diagonal" keeps them side by side,
(q, r, c); "full" pairs all of them, (q, r, q, c).
"""

import torch
from torch import Tensor

Pieces = list[Tensor]
"""Tensors (n, groups, positions, features) for successive examples."""

MULTIPLY_ADDS_PER_PASS = 16
"""Multiply-adds that cost as much as one pass over an entry that does not stay in cache."""

SLICE_BYTES = 16 * 2**20
"""Bytes of per-example gradients formed before they are multiplied."""


def outer(mode: str, left: list[Tensor], right: list[Tensor]) -> Tensor:
    """Returns products A B^T of two lists of matrices: their sum, one product per index, or products of all pairs.

    >>> one = [torch.ones(2, 3), torch.ones(2, 3)]
    >>> outer("trace", one, one)[0, 0], outer("diagonal", one, one).shape, outer("full", one, one).shape
    (tensor(6.), torch.Size([2, 2, 2]), torch.Size([2, 2, 2, 2]))
    """
    if mode == "full":
        product = torch.cat(left) @ torch.cat(right).T
        return product.reshape(len(left), len(left[0]), len(right), len(right[0]))
    if mode == "diagonal":
        return torch.stack([u @ v.T for u, v in zip(left, right, strict=True)])
    total = left[0] @ right[0].T
    for u, v in zip(left[1:], right[1:], strict=True):
        total.addmm_(u, v.T)
    return total


def strips(n: int, t: int, columns: int, q: int, mode: str, item: int, workspace: int, most: int) -> list[slice]:
    """Splits n rows into ranges for which tables of position pairs fit into the workspace memory.

    >>> strips(4, 1, 1, 1, "trace", 4, 24, 4)
    [slice(0, 2, None), slice(2, 4, None)]
    """
    copies = 2 + {"full": q * q, "diagonal": q}.get(mode, 1)
    strip = max(1, min(n, most, workspace // max(1, copies * t * columns * item)))
    return [slice(start, start + strip) for start in range(0, n, strip)]


def flat(t: Tensor) -> Tensor:
    """Merges all axes of a tensor except the last one.

    >>> flat(torch.zeros(2, 3, 4)).shape
    torch.Size([6, 4])
    """
    return t.reshape(-1, t.shape[-1])


def sum_over_positions(gradients: Tensor, activations: Tensor, t: int, s: int, mode: str) -> Tensor:
    """Returns products of activations and gradients, summed over the positions of each row and each column of the
    kernel.

    >>> sum_over_positions(torch.ones(2, 2), torch.ones(2, 2), 2, 2, "trace")
    tensor([[4.]])
    """
    product = gradients.mul_(activations.unsqueeze(1) if mode == "full" else activations)
    if t * s == 1:
        return product
    if mode == "full":
        q, rows, _, columns = gradients.shape
        return product.reshape(q, rows // t, t, q, columns // s, s).sum((2, 5))
    rows, columns = product.shape[-2:]
    return product.reshape(*product.shape[:-2], rows // t, t, columns // s, s).sum((-3, -1))
