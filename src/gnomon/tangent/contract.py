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

Pieces = list[Tensor]
"""Tensors (n, groups, positions, features) for successive examples."""

ELEMENTWISE = 16
"""Multiply-adds that cost as much as one pass over an entry that does not stay in cache."""

HALF = 128
"""Rows per strip of a symmetric product of which only the lower triangle is formed; fewer would slow the product."""

SLICE = 16 * 2**20
"""Bytes of per-example gradients formed before they are multiplied."""


def contract(
    term: Term,
    one: Block,
    two: Block,
    first: list[list[Gradients]],
    second: list[list[Gradients]],
    mode: str,
    workspace: int,
) -> Tensor:
    """The term's share of the kernel between two blocks, for the outputs whose gradients are given.

    Cost: the smaller of (1) and (2); temporary memory near ``workspace`` bytes.
    """
    same = second is first
    if term.kind == "matrix":
        g1 = [one.grads(term, g) for g in first]
        g2 = g1 if same else [two.grads(term, g) for g in second]
        a1 = one.inputs(term)
        a2 = a1 if same else two.inputs(term)
        half = 0.75 if same and mode != "full" and len(one) > HALF else 1.0  # only a triangle of pairs is formed
        if half * pairs_cost(a1, a2, g1, mode) > each_cost(a1, a2, g1, mode):
            return each(a1, a2, g1, g2, mode, term.bias, workspace)
        left, joined = _join(a1), [_join(g) for g in g1]
        right, other = (left, joined) if same else (_join(a2), [_join(g) for g in g2])
        return pairs(left, right, joined, other, mode, term.bias, workspace)
    if term.kind == "lookup":
        t1 = [one.token_grads(term, g) for g in first]
        t2 = t1 if same else [two.token_grads(term, g) for g in second]
        return matches(one.tokens(term), two.tokens(term), t1, t2, mode, workspace)
    d1 = [one.each(term, g) for g in first]
    return outer(mode, d1, d1 if same else [two.each(term, g) for g in second])


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


def pairs_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str) -> int:
    """Multiply-adds of (1).

    >>> a, g = [torch.zeros(10, 1, 1, 5)], [[torch.zeros(10, 1, 1, 7)]]
    >>> pairs_cost(a, a, g, "trace") - ELEMENTWISE * 100
    1200
    """
    _, groups, positions, d = a1[0].shape
    n, m = sum(map(len, a1)), sum(map(len, a2))
    q = len(grads) ** 2 if mode == "full" else len(grads)
    return n * m * groups * positions * a2[0].shape[2] * (d + q * grads[0][0].shape[3] + ELEMENTWISE)


def each_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str) -> int:
    """Multiply-adds of (2).

    >>> a, g = [torch.zeros(10, 1, 3, 5)], [[torch.zeros(10, 1, 3, 7)]]
    >>> each_cost(a, a, g, "trace")
    4550
    """
    _, groups, positions, d = a1[0].shape
    n, m = sum(map(len, a1)), sum(map(len, a2))
    weights, q = groups * d * grads[0][0].shape[3], len(grads)
    rows = n * positions + (0 if a1 is a2 else m * a2[0].shape[2])
    return rows * weights * q + n * m * weights * (q * q if mode == "full" else q)


def pairs(a1: Tensor, a2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, bias: bool, workspace: int) -> Tensor:
    """Equation (1), in strips of examples so that the table of position pairs stays within the workspace.

    Where both sides are the same, only the lower triangle is sure to be filled.

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
    for rows in _strips(n, t, m * s, q, mode, a1.element_size(), workspace, HALF if triangle else n):
        columns = slice(0, min(n, rows.stop)) if triangle else slice(0, m)
        place = total[:, rows, :, columns] if mode == "full" else total[..., rows, columns]
        for r in range(groups):
            seen = _flat(a1[rows, r]) @ _flat(a2[columns, r]).T
            back = outer(mode, [_flat(g[rows, r]) for g in g1], [_flat(g[columns, r]) for g in g2])
            place += _pooled(back, seen.add_(1) if bias else seen, t, s, mode)  # (1)
    return total


def each(a1: Pieces, a2: Pieces, g1: list[Pieces], g2: list[Pieces], mode: str, bias: bool, workspace: int) -> Tensor:
    """Equation (2), a slice of the layer's units at a time so that per-example gradients stay near the processor.

    >>> a, g = [torch.full((2, 1, 1, 1), 3.0)], [[torch.ones(2, 1, 1, 1)]]
    >>> each(a, a, g, g, "trace", True, 2**20)
    tensor([[10., 10.],
            [10., 10.]])
    """
    units, same = g1[0][0].shape[3], g1 is g2
    together = len(g1) if mode == "full" else 1
    rows = sum(map(len, a1)) + (0 if same else sum(map(len, a2)))
    one_unit = rows * together * a1[0].shape[1] * a1[0].shape[3] * a1[0].element_size()
    width = max(1, min(units, min(workspace, SLICE) // one_unit))
    width = -(-units // -(-units // width))  # even out the last slice
    shares = []
    for start in range(0, units, width):
        part = slice(start, start + width)
        if mode == "full":
            d1 = [_example_gradients(g, a1, part) for g in g1]
            share = outer(mode, d1, d1 if same else [_example_gradients(g, a2, part) for g in g2])  # (2)
        else:
            share = _one_output_at_a_time(a1, a2, g1, g2, mode, part)
        shares.append(share)
    if bias:
        b1 = [torch.cat([p.sum(2).flatten(1) for p in g]) for g in g1]
        b2 = b1 if same else [torch.cat([p.sum(2).flatten(1) for p in g]) for g in g2]
        shares.append(outer(mode, b1, b2))
    return sum(shares[1:], shares[0])


def matches(v1: Tensor, v2: Tensor, g1: list[Tensor], g2: list[Tensor], mode: str, workspace: int) -> Tensor:
    """A table of rows: activations are one-hot, so (1) asks whether two positions hold the same index, and (2) adds
    up the gradients of each index that occurs.

    >>> v, g = torch.tensor([[0, 1], [1, 1]]), [torch.ones(2, 2, 1)]
    >>> matches(v, v, g, g, "trace", 2**20)
    tensor([[2., 2.],
            [2., 4.]])
    """
    (n, t), (m, s) = v1.shape, v2.shape
    vocabulary, where = torch.unique(torch.cat([v1.flatten(), v2.flatten()]), return_inverse=True)
    f, q = g1[0].shape[-1], len(g1)
    table = len(vocabulary) * f
    if t * s * (f + ELEMENTWISE) > table and table * (n + m) * q * g1[0].element_size() <= workspace:
        d1 = [_table(where[: n * t].reshape(n, t), g, len(vocabulary)) for g in g1]
        d2 = d1 if g1 is g2 else [_table(where[n * t :].reshape(m, s), g, len(vocabulary)) for g in g2]
        return outer(mode, d1, d2)
    strips = []
    for rows in _strips(n, t, m * s, q, mode, g1[0].element_size(), workspace, n):
        equal = (v1[rows].reshape(-1, 1) == v2.reshape(1, -1)).to(g1[0].dtype)
        back = outer(mode, [_flat(g[rows]) for g in g1], [_flat(g) for g in g2])
        strips.append(_pooled(back, equal, t, s, mode))
    return torch.cat(strips, dim=1 if mode in ("diagonal", "full") else 0)


def gated(term: Term, one: Block, two: Block, s1: list[Tensor], s2: list[Tensor], mode: str, workspace: int) -> Tensor:
    """A layer seen through pooled values: with E_ic = sum_t H_ict a_it, of `gnomon.tangent.gate`,

        sum_c s_oic s_pjc <E_ic, E_jc>                                                                       (3)

    for all outputs at once, a slice of units at a time.

    Cost: (n + m) T d o + n m d o multiply-adds, whatever the number of outputs.
    """
    same = one is two
    a1, h1 = one.inputs(term), one.readout(term)
    a2, h2 = (a1, h1) if same else (two.inputs(term), two.readout(term))
    _, groups, _, d = a1[0].shape
    units = h1[0].shape[3]
    outputs = {"full": len(s1) ** 2, "diagonal": len(s1)}.get(mode, 1)
    one_unit = groups * a1[0].element_size() * ((len(one) + len(two)) * d + len(one) * len(two) * (1 + outputs))
    width = max(1, min(units, min(workspace, 2 * SLICE) // one_unit))
    left, right = (torch.stack(s).unflatten(2, (groups, units)) for s in (s1, s2))  # outputs, examples, groups, units
    shares = []
    for start in range(0, units, width):
        part = slice(start, start + width)
        e1 = _unit_sums(h1, a1, part, term.bias)
        e2 = e1 if same else _unit_sums(h2, a2, part, term.bias)
        grams = torch.bmm(e1, e2.mT)  # units, n, m
        u, v = left[..., part].flatten(2), right[..., part].flatten(2)
        if mode == "full":
            shares.append(torch.einsum("oic,pjc,cij->oipj", u, v, grams))  # (3)
        elif mode == "diagonal":
            shares.append(torch.einsum("oic,ojc,cij->oij", u, v, grams))  # (3)
        else:
            shares.append((torch.bmm(u.permute(2, 1, 0), v.permute(2, 0, 1)) * grams).sum(0))  # (3)
    return sum(shares[1:], shares[0])


def _unit_sums(h: Pieces, a: Pieces, part: slice, bias: bool) -> Tensor:
    """E for a slice of units, (groups * units, n, features), with the sum of H as one more feature for the bias."""
    groups, d = a[0].shape[1], a[0].shape[3]
    found = _example_gradients(h, a, part).unflatten(1, (groups, -1, d)).flatten(1, 2)
    if bias:
        ones = torch.cat([piece[..., part].sum(2).flatten(1) for piece in h])
        found = torch.cat([found, ones.unsqueeze(2)], dim=2)
    return found.transpose(0, 1)


def _strips(n: int, t: int, columns: int, q: int, mode: str, item: int, workspace: int, most: int) -> list[slice]:
    copies = 2 + {"full": q * q, "diagonal": q}.get(mode, 1)
    strip = max(1, min(n, most, workspace // max(1, copies * t * columns * item)))
    return [slice(start, start + strip) for start in range(0, n, strip)]


def _one_output_at_a_time(a1: Pieces, a2: Pieces, g1: list[Pieces], g2: list[Pieces], mode: str, part: slice) -> Tensor:
    shares: list[Tensor] = []
    for u, v in zip(g1, g2, strict=True):
        left = _example_gradients(u, a1, part)
        right = left if u is v else _example_gradients(v, a2, part)
        if mode == "diagonal" or not shares:
            shares.append(left @ right.T)  # (2)
        else:
            shares[0].addmm_(left, right.T)
    return torch.stack(shares) if mode == "diagonal" else shares[0]


def _example_gradients(g: Pieces, a: Pieces, part: slice) -> Tensor:
    """sum_t g_t a_t^T for a slice of units and all examples, (n, groups * units * features)."""
    groups, d = a[0].shape[1], a[0].shape[3]
    units = len(range(*part.indices(g[0].shape[3])))
    found = a[0].new_empty(sum(map(len, a)), groups, units, d)
    start = 0
    for gradient, activation in zip(g, a, strict=True):
        rows = found[start : start + len(activation)].flatten(0, 1)
        torch.bmm(gradient[..., part].mT.flatten(0, 1), activation.flatten(0, 1), out=rows)
        start += len(activation)
    return found.flatten(1)


def _join(pieces: Pieces) -> Tensor:
    return torch.cat(pieces) if len(pieces) > 1 else pieces[0]


def _flat(t: Tensor) -> Tensor:
    return t.reshape(-1, t.shape[-1])


def _pooled(back: Tensor, seen: Tensor, t: int, s: int, mode: str) -> Tensor:
    """seen * back, summed over the t positions of each row and the s positions of each column."""
    product = back.mul_(seen.unsqueeze(1) if mode == "full" else seen)
    if t * s == 1:
        return product
    if mode == "full":
        q, rows, _, columns = back.shape
        return product.reshape(q, rows // t, t, q, columns // s, s).sum((2, 5))
    rows, columns = product.shape[-2:]
    return product.reshape(*product.shape[:-2], rows // t, t, columns // s, s).sum((-3, -1))


def _table(index: Tensor, g: Tensor, rows: int) -> Tensor:
    table = g.new_zeros(len(g), rows, g.shape[-1])
    return table.scatter_add_(1, index.unsqueeze(-1).expand_as(g), g).flatten(1)
