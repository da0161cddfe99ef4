"""From factors to the kernel: each term in the cheaper of two orders of summation.

With gradients dW_i = sum_t g_it a_it^T the kernel <dW_i, dW_j> is either of

    sum_{t,s} (a_it . a_js) (g_it . g_js)              "pairs": Gram matrices of activations and of gradients      (1)
    <sum_t g_it a_it^T, sum_s g_js a_js^T>             "each": per-example gradients, one product                 (2)

(1) costs n m T^2 (d + q o), (2) costs (n + m) T d o q + n m d o q, for T positions, d inputs, o units, q outputs.
One position makes (1) win always; an image with many positions and few channels makes (2) win. A bias is an input
that is always one: it adds 1 to a_it . a_js. Both are products of matrices on contiguous memory.
"""

import torch
from torch import Tensor

from gnomon.tangent.block import Block, Gradients
from gnomon.tangent.plan import Term

ELEMENTWISE = 16
"""Multiply-adds that cost as much as one pass over an entry that does not stay in cache."""


def outer(mode: str, left: list[Tensor], right: list[Tensor]) -> Tensor:
    """Products of q matrices (r, f) with q matrices (c, f): added (r, c), side by side (q, r, c), or all (q, r, q, c).

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


def contract(
    term: Term, one: Block, two: Block, first: list[Gradients], second: list[Gradients], mode: str, workspace: int
) -> Tensor | None:
    """The term's share of the kernel between two blocks, for the outputs whose gradients are given.

    Cost: the smaller of (1) and (2); temporary memory near ``workspace`` bytes.
    """
    if term.kind == "matrix":
        g1 = [one.grads(term, g) for g in first]
        g2 = g1 if second is first else [two.grads(term, g) for g in second]
        if any(g is None for g in (*g1, *g2)):
            g1, g2 = _filled(g1, g2, one, two, term)
        if g1 is None:
            return None
        a1, a2 = one.inputs(term), two.inputs(term)
        form = pairs if pairs_cost(a1, a2, g1, mode) <= each_cost(a1, a2, g1, mode) else each
        return form(a1, a2, g1, g2, mode, term.bias, workspace)
    if term.kind == "lookup":
        g1 = [one.token_grads(term, g) for g in first]
        g2 = g1 if second is first else [two.token_grads(term, g) for g in second]
        return _matches(one.tokens(term), two.tokens(term), g1, g2, mode, workspace)
    d1 = [one.each(term, g) for g in first]
    d2 = d1 if second is first else [two.each(term, g) for g in second]
    return outer(mode, d1, d2)


def pairs_cost(a1: Tensor, a2: Tensor, grads: list[Tensor], mode: str) -> float:
    """Multiply-adds of (1).

    >>> a, g = torch.zeros(10, 1, 1, 5), [torch.zeros(10, 1, 1, 7)]
    >>> pairs_cost(a, a, g, "trace") - ELEMENTWISE * 100
    1200
    """
    n, groups, positions, d = a1.shape
    q = len(grads) ** 2 if mode == "full" else len(grads)
    return n * len(a2) * groups * positions * a2.shape[2] * (d + q * grads[0].shape[3] + ELEMENTWISE)


def each_cost(a1: Tensor, a2: Tensor, grads: list[Tensor], mode: str) -> float:
    """Multiply-adds of (2).

    >>> a, g = torch.zeros(10, 1, 3, 5), [torch.zeros(10, 1, 3, 7)]
    >>> each_cost(a, a, g, "trace")
    4550
    """
    n, groups, positions, d = a1.shape
    weights = groups * d * grads[0].shape[3]
    q = len(grads)
    rows = n * positions + (0 if a1 is a2 else len(a2) * a2.shape[2])
    return rows * weights * q + n * len(a2) * weights * (q * q if mode == "full" else q)


def pairs(a1: Tensor, a2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, bias: bool, workspace: int) -> Tensor:
    """Equation (1), in strips of examples so that the table of position pairs stays within the workspace.

    >>> a, g = torch.full((2, 1, 1, 1), 3.0), [torch.ones(2, 1, 1, 1)]
    >>> pairs(a, a, g, g, "trace", True, 2**20)                     # 3 * 3 * 1 * 1 and one for the bias
    tensor([[10., 10.],
            [10., 10.]])
    """
    n, groups, t, _ = a1.shape
    m, _, s, _ = a2.shape
    copies = 2 + (len(g1) ** 2 if mode == "full" else len(g1) if mode == "diagonal" else 1)
    strip = max(1, min(n, workspace // max(1, copies * t * m * s * a1.element_size())))
    strips = []
    for start in range(0, n, strip):
        rows = slice(start, start + strip)
        total: Tensor | None = None
        for r in range(groups):
            seen = a1[rows, r].reshape(-1, a1.shape[3]) @ a2[:, r].reshape(m * s, -1).T
            if bias:
                seen += 1
            back = outer(mode, [_flat(g[rows, r]) for g in g1], [_flat(g[:, r]) for g in g2])
            share = _pooled(back, seen, t, s, mode)  # (1)
            total = share if total is None else total.add_(share)
        strips.append(total)
    axis = {"diagonal": 1, "full": 1}.get(mode, 0)
    return strips[0] if len(strips) == 1 else torch.cat(strips, dim=axis)


def each(a1: Tensor, a2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, bias: bool, workspace: int) -> Tensor:
    """Equation (2), a slice of the layer's units at a time so that per-example gradients stay within the workspace.

    >>> a, g = torch.full((2, 1, 1, 1), 3.0), [torch.ones(2, 1, 1, 1)]
    >>> each(a, a, g, g, "trace", True, 2**20)
    tensor([[10., 10.],
            [10., 10.]])
    """
    n, groups, _, d = a1.shape
    units = g1[0].shape[3]
    same = a1 is a2 and g1 is g2
    together = len(g1) if mode == "full" else 1
    row = groups * d * a1.element_size() * together * (n if same else n + len(a2))
    width = max(1, min(units, workspace // max(1, row)))
    total: Tensor | None = None
    for start in range(0, units, width):
        part = slice(start, start + width)
        if mode == "full":
            d1 = [_example_gradients(g[..., part], a1) for g in g1]
            share = outer(mode, d1, d1 if same else [_example_gradients(g[..., part], a2) for g in g2])  # (2)
        else:
            share = _one_output_at_a_time(a1, a2, g1, g2, mode, part, same)
        total = share if total is None else total.add_(share)
    if bias:
        b1 = [g.sum(2).flatten(1) for g in g1]
        total += outer(mode, b1, b1 if same else [g.sum(2).flatten(1) for g in g2])
    return total


def _one_output_at_a_time(a1, a2, g1, g2, mode: str, part: slice, same: bool) -> Tensor:
    shares: list[Tensor] = []
    for u, v in zip(g1, g2, strict=True):
        left = _example_gradients(u[..., part], a1)
        right = left if same else _example_gradients(v[..., part], a2)
        if mode == "diagonal" or not shares:
            shares.append(left @ right.T)  # (2)
        else:
            shares[0].addmm_(left, right.T)
    return torch.stack(shares) if mode == "diagonal" else shares[0]


def _example_gradients(g: Tensor, a: Tensor) -> Tensor:
    return torch.matmul(g.transpose(2, 3), a).flatten(1)


def _flat(g: Tensor) -> Tensor:
    return g.reshape(-1, g.shape[-1])


def _pooled(back: Tensor, seen: Tensor, t: int, s: int, mode: str) -> Tensor:
    """seen * back, summed over the t positions of each row and the s positions of each column."""
    if mode == "full":
        q, rows, _, columns = back.shape
        product = back.mul_(seen.unsqueeze(1))
        return product.reshape(q, rows // t, t, q, columns // s, s).sum((2, 5)) if t * s > 1 else product
    product = back.mul_(seen)
    if t * s == 1:
        return product
    lead = product.shape[:-2]
    rows, columns = product.shape[-2:]
    return product.reshape(*lead, rows // t, t, columns // s, s).sum((-3, -1))


def _matches(v1: Tensor, v2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, workspace: int) -> Tensor:
    """A table: the activations are one-hot, so (1) asks whether two positions hold the same index, and (2) adds up
    the gradients of each index that occurs."""
    n, t = v1.shape
    m, s = v2.shape
    vocabulary, where = torch.unique(torch.cat([v1.flatten(), v2.flatten()]), return_inverse=True)
    f, q = g1[0].shape[-1], len(g1)
    if t * s * (f + ELEMENTWISE) <= len(vocabulary) * f or len(vocabulary) * f * (n + m) * q * 8 > workspace:
        copies = 2 + (q * q if mode == "full" else q if mode == "diagonal" else 1)
        strip = max(1, min(n, workspace // max(1, copies * t * m * s * g1[0].element_size())))
        strips = []
        for start in range(0, n, strip):
            rows = slice(start, start + strip)
            same = (v1[rows].reshape(-1, 1) == v2.reshape(1, -1)).to(g1[0].dtype)
            back = outer(mode, [_flat(g[rows]) for g in g1], [_flat(g) for g in g2])
            strips.append(_pooled(back, same, t, s, mode))
        return torch.cat(strips, dim=1 if mode in ("diagonal", "full") else 0)
    left, right = where[: n * t].reshape(n, t), where[n * t :].reshape(m, s)
    d1 = [_table(left, g, len(vocabulary)) for g in g1]
    d2 = d1 if g1 is g2 else [_table(right, g, len(vocabulary)) for g in g2]
    return outer(mode, d1, d2)


def _table(index: Tensor, g: Tensor, rows: int) -> Tensor:
    table = g.new_zeros(len(g), rows, g.shape[-1])
    return table.scatter_add_(1, index.unsqueeze(-1).expand_as(g), g).flatten(1)


def _filled(g1: list, g2: list, one: Block, two: Block, term: Term) -> tuple[list | None, list | None]:
    """Outputs that do not reach a layer have no gradient there; zeros stand in when some outputs do."""
    given = [g for g in (*g1, *g2) if g is not None]
    if not given:
        return None, None
    shape = given[0].shape[1:]
    left = [given[0].new_zeros(len(one), *shape) if g is None else g for g in g1]
    if g1 is g2:
        return left, left
    return left, [given[0].new_zeros(len(two), *shape) if g is None else g for g in g2]
