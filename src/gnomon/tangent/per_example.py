"""Computes a weight matrix's contribution to the tangent kernel from per-example gradients.

<dW_i, dW_j> = <sum_t g_it a_it^T, sum_s g_js a_js^T>                                             (1)
"""

import torch
from torch import Tensor

from gnomon.tangent.block import Block
from gnomon.tangent.plan import KernelTerm
from gnomon.tangent.sums import SLICE_BYTES, Pieces, outer


def per_example(
    a1: Pieces, a2: Pieces, g1: list[Pieces], g2: list[Pieces], mode: str, bias: bool, workspace: int
) -> Tensor:
    """Computes a layer's contribution to the tangent kernel from per-example gradients, a few units at a time.

    >>> a, g = [torch.full((2, 1, 1, 1), 3.0)], [[torch.ones(2, 1, 1, 1)]]
    >>> per_example(a, a, g, g, "trace", True, 2**20)
    tensor([[10., 10.],
            [10., 10.]])
    """
    units, same = g1[0][0].shape[3], g1 is g2
    together = len(g1) if mode == "full" else 1
    rows = sum(map(len, a1)) + (0 if same else sum(map(len, a2)))
    bytes_per_unit = rows * together * a1[0].shape[1] * a1[0].shape[3] * a1[0].element_size()
    chunk = max(1, min(units, min(workspace, SLICE_BYTES) // bytes_per_unit))
    chunk = -(-units // -(-units // chunk))  # Makes all slices nearly equal in size, so that none wastes memory.
    shares = []
    for start in range(0, units, chunk):
        part = slice(start, start + chunk)
        if mode == "full":
            d1 = [_example_gradients(g, a1, part) for g in g1]
            share = outer(mode, d1, d1 if same else [_example_gradients(g, a2, part) for g in g2])  # (1)
        else:
            share = _one_output_at_a_time(a1, a2, g1, g2, mode, part)
        shares.append(share)
    if bias:
        b1 = [torch.cat([p.sum(2).flatten(1) for p in g]) for g in g1]
        b2 = b1 if same else [torch.cat([p.sum(2).flatten(1) for p in g]) for g in g2]
        shares.append(outer(mode, b1, b2))
    return sum(shares[1:], shares[0])


def per_example_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str) -> int:
    """Returns the number of multiply-adds for a layer's contribution to the tangent kernel by per-example gradients.

    >>> a, g = [torch.zeros(10, 1, 3, 5)], [[torch.zeros(10, 1, 3, 7)]]
    >>> per_example_cost(a, a, g, "trace")
    4550
    """
    _, groups, positions, d = a1[0].shape
    n, m = sum(map(len, a1)), sum(map(len, a2))
    weights, q = groups * d * grads[0][0].shape[3], len(grads)
    rows = n * positions + (0 if a1 is a2 else m * a2[0].shape[2])
    return rows * weights * q + n * m * weights * (q * q if mode == "full" else q)


def gated_kernel(
    term: KernelTerm, one: Block, two: Block, s1: list[Tensor], s2: list[Tensor], mode: str, workspace: int
) -> Tensor:
    """Computes the tangent kernel of a convolution that affects outputs only through one pooled value per unit.

    With E_ic = sum_t H_ict a_it, and s and H of `gnomon.tangent.gate`, the kernel is

        sum_c s_oic s_pjc <E_ic, E_jc>                                                                       (2)

    for all outputs at once, a slice of units at a time.

    Cost: (n + m) T d o + n m d o multiply-adds, whatever the number of outputs.
    """
    same = one is two
    a1, h1 = one.inputs(term), one.readout(term)
    a2, h2 = (a1, h1) if same else (two.inputs(term), two.readout(term))
    _, groups, _, d = a1[0].shape
    units = h1[0].shape[3]
    outputs = {"full": len(s1) ** 2, "diagonal": len(s1)}.get(mode, 1)
    bytes_per_unit = groups * a1[0].element_size() * ((len(one) + len(two)) * d + len(one) * len(two) * (1 + outputs))
    chunk = max(1, min(units, min(workspace, 2 * SLICE_BYTES) // bytes_per_unit))
    # Both tensors have the axes (outputs, examples, groups, units).
    left, right = (torch.stack(s).unflatten(2, (groups, units)) for s in (s1, s2))
    shares = []
    for start in range(0, units, chunk):
        part = slice(start, start + chunk)
        e1 = _unit_sums(h1, a1, part, term.bias)
        e2 = e1 if same else _unit_sums(h2, a2, part, term.bias)
        grams = torch.bmm(e1, e2.mT)  # units, n, m
        u, v = left[..., part].flatten(2), right[..., part].flatten(2)
        if mode == "full":
            shares.append(torch.einsum("oic,pjc,cij->oipj", u, v, grams))  # (2)
        elif mode == "diagonal":
            shares.append(torch.einsum("oic,ojc,cij->oij", u, v, grams))  # (2)
        else:
            shares.append((torch.bmm(u.permute(2, 1, 0), v.permute(2, 0, 1)) * grams).sum(0))  # (2)
    return sum(shares[1:], shares[0])


def _unit_sums(h: Pieces, a: Pieces, part: slice, bias: bool) -> Tensor:
    """Returns for each example sums over positions of activations times pooling gradients, for a slice of units."""
    groups, d = a[0].shape[1], a[0].shape[3]
    sums = _example_gradients(h, a, part).unflatten(1, (groups, -1, d)).flatten(1, 2)
    if bias:
        ones = torch.cat([piece[..., part].sum(2).flatten(1) for piece in h])
        sums = torch.cat([sums, ones.unsqueeze(2)], dim=2)
    return sums.transpose(0, 1)


def _one_output_at_a_time(a1: Pieces, a2: Pieces, g1: list[Pieces], g2: list[Pieces], mode: str, part: slice) -> Tensor:
    shares: list[Tensor] = []
    for u, v in zip(g1, g2, strict=True):
        left = _example_gradients(u, a1, part)
        right = left if u is v else _example_gradients(v, a2, part)
        if mode == "diagonal" or not shares:
            shares.append(left @ right.T)  # (1)
        else:
            shares[0].addmm_(left, right.T)
    return torch.stack(shares) if mode == "diagonal" else shares[0]


def _example_gradients(g: Pieces, a: Pieces, part: slice) -> Tensor:
    """Returns per-example gradients of a layer's weights for a slice of units, of shape (n, groups * units *
    features).
    """
    groups, d = a[0].shape[1], a[0].shape[3]
    units = len(range(*part.indices(g[0].shape[3])))
    gradients = a[0].new_empty(sum(map(len, a)), groups, units, d)
    start = 0
    for gradient, activation in zip(g, a, strict=True):
        rows = gradients[start : start + len(activation)].flatten(0, 1)
        torch.bmm(gradient[..., part].mT.flatten(0, 1), activation.flatten(0, 1), out=rows)
        start += len(activation)
    return gradients.flatten(1)
