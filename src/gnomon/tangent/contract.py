"""Computes the contribution of one layer to the tangent kernel, by the cheaper of two orders of summation.

With gradients dW_i = sum_t g_it a_it^T of a weight matrix, and dW_i = sum_t e(v_it) g_it^T of a table whose row v is
looked up, such as an embedding:

    <dW_i, dW_j> = sum_{t,s} (a_it . a_js) (g_it . g_js)                                              (1)
    <dW_i, dW_j> = sum_{t,s: v_it = v_js} g_it . g_js                                                 (2)

(1) costs n m T^2 (d + q o) multiply-adds from pairs of positions, or (n + m) T d o q + n m d o q from per-example
gradients (`gnomon.tangent.per_example`), for T positions, d inputs, o units, q outputs. With one position pairs are
always cheaper; for an image with many positions and few channels per-example gradients are. A bias is an input that is
always one: it adds 1 to a_it . a_js. All products are of matrices on contiguous memory.
"""

import torch
from torch import Tensor

from gnomon.tangent.block import Block, Gradients
from gnomon.tangent.per_example import per_example, per_example_cost
from gnomon.tangent.plan import KernelTerm
from gnomon.tangent.sums import MULTIPLY_ADDS_PER_PASS, Pieces, flat, outer, strips, sum_over_positions

ROWS_PER_STRIP = 128
"""Rows per strip of a symmetric product of which only the lower triangle is formed; fewer would slow the product."""


def contract(
    term: KernelTerm,
    one: Block,
    two: Block,
    first: list[list[Gradients]],
    second: list[list[Gradients]],
    mode: str,
    workspace: int,
) -> Tensor:
    """Computes the contribution of one group of parameters to the tangent kernel between two blocks of examples.

    Cost: the smaller of the two counts of the module's docstring; temporary memory near ``workspace`` bytes.
    """
    same = second is first
    if term.kind == "matrix":
        g1 = [one.grads(term, g) for g in first]
        g2 = g1 if same else [two.grads(term, g) for g in second]
        a1 = one.inputs(term)
        a2 = a1 if same else two.inputs(term)
        # Computes only one triangle of the kernel if the kernel is symmetric and large.
        triangle = same and mode != "full" and len(one) > ROWS_PER_STRIP
        if _exceeds_per_example_cost(a1, a2, g1, mode, triangle=triangle):
            return per_example(a1, a2, g1, g2, mode, term.bias, workspace)
        left, joined = _join(a1), [_join(g) for g in g1]
        right, other = (left, joined) if same else (_join(a2), [_join(g) for g in g2])
        return pairs(left, right, joined, other, mode, term.bias, workspace)
    if term.kind == "lookup":
        t1 = [one.token_grads(term, g) for g in first]
        t2 = t1 if same else [two.token_grads(term, g) for g in second]
        return lookups(one.tokens(term), two.tokens(term), t1, t2, mode, workspace)
    d1 = [one.per_example(term, g) for g in first]
    return outer(mode, d1, d1 if same else [two.per_example(term, g) for g in second])


def pairs(a1: Tensor, a2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, bias: bool, workspace: int) -> Tensor:
    """Computes a layer's contribution to the tangent kernel from pairs of positions, within the given workspace memory.

    If both sides are the same, only the lower triangle is guaranteed to be filled.

    >>> a, g = torch.full((2, 1, 1, 1), 3.0), [torch.ones(2, 1, 1, 1)]
    >>> pairs(a, a, g, g, "trace", True, 2**20)                     # 3 * 3 * 1 * 1 and one for the bias
    tensor([[10., 10.],
            [10., 10.]])
    """
    n, groups, t, _ = a1.shape
    m, _, s, _ = a2.shape
    # Only the lower triangle is needed, because the upper triangle is its mirror image.
    triangle = a1 is a2 and g1 is g2 and mode != "full"
    q = len(g1)
    total = a1.new_zeros({"full": (q, n, q, m), "diagonal": (q, n, m)}.get(mode, (n, m)))
    for rows in strips(n, t, m * s, q, mode, a1.element_size(), workspace, ROWS_PER_STRIP if triangle else n):
        columns = slice(0, min(n, rows.stop)) if triangle else slice(0, m)
        place = total[:, rows, :, columns] if mode == "full" else total[..., rows, columns]
        for r in range(groups):
            activations = flat(a1[rows, r]) @ flat(a2[columns, r]).T
            gradients = outer(mode, [flat(g[rows, r]) for g in g1], [flat(g[columns, r]) for g in g2])
            place += sum_over_positions(gradients, activations.add_(1) if bias else activations, t, s, mode)  # (1)
    return total


def pairs_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str) -> int:
    """Returns the number of multiply-adds for a layer's contribution to the tangent kernel by pairs of positions.

    >>> a, g = [torch.zeros(10, 1, 1, 5)], [[torch.zeros(10, 1, 1, 7)]]
    >>> pairs_cost(a, a, g, "trace") - MULTIPLY_ADDS_PER_PASS * 100
    1200
    """
    _, groups, positions, d = a1[0].shape
    n, m = sum(map(len, a1)), sum(map(len, a2))
    q = len(grads) ** 2 if mode == "full" else len(grads)
    return n * m * groups * positions * a2[0].shape[2] * (d + q * grads[0][0].shape[3] + MULTIPLY_ADDS_PER_PASS)


def lookups(v1: Tensor, v2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, workspace: int) -> Tensor:
    """Computes an embedding layer's contribution to the tangent kernel, by the cheaper of two methods.

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
        parts.append(sum_over_positions(gradients, equal, t, s, mode))
    return torch.cat(parts, dim=1 if mode in ("diagonal", "full") else 0)


def _table(index: Tensor, g: Tensor, rows: int) -> Tensor:
    table = g.new_zeros(len(g), rows, g.shape[-1])
    return table.scatter_add_(1, index.unsqueeze(-1).expand_as(g), g).flatten(1)


def _exceeds_per_example_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str, *, triangle: bool) -> bool:
    """Whether summing over pairs of positions costs more than per-example gradients, which give the same kernel."""
    share = 0.75 if triangle else 1.0
    return share * pairs_cost(a1, a2, grads, mode) > per_example_cost(a1, a2, grads, mode)


def _join(pieces: Pieces) -> Tensor:
    return torch.cat(pieces) if len(pieces) > 1 else pieces[0]
