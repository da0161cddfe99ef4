"""One term's share of the kernel, by the cheaper of two orders of summation.

With gradients dW_i = sum_t g_it a_it^T, <dW_i, dW_j> comes from pairs of positions (`gnomon.tangent.pairs`) at a cost
of n m T^2 (d + q o) multiply-adds, or from per-example gradients (`gnomon.tangent.per_example`) at a cost of
(n + m) T d o q + n m d o q, for T positions, d inputs, o units, q outputs. With one position pairs are always cheaper;
for an image with many positions and few channels per-example gradients are.
"""

import torch
from torch import Tensor

from gnomon.tangent.block import Block, Gradients
from gnomon.tangent.lookups import lookups
from gnomon.tangent.pairs import ROWS_PER_STRIP, pairs, pairs_cost
from gnomon.tangent.per_example import per_example, per_example_cost
from gnomon.tangent.plan import KernelTerm
from gnomon.tangent.sums import Pieces, outer


def contract(
    term: KernelTerm,
    one: Block,
    two: Block,
    first: list[list[Gradients]],
    second: list[list[Gradients]],
    mode: str,
    workspace: int,
) -> Tensor:
    """The term's share of the kernel between two blocks, for the outputs whose gradients are passed.

    Cost: the smaller of the two counts of the module's docstring; temporary memory near ``workspace`` bytes.
    """
    same = second is first
    if term.kind == "matrix":
        g1 = [one.grads(term, g) for g in first]
        g2 = g1 if same else [two.grads(term, g) for g in second]
        a1 = one.inputs(term)
        a2 = a1 if same else two.inputs(term)
        triangle = same and mode != "full" and len(one) > ROWS_PER_STRIP  # only a triangle of pairs is formed
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


def _exceeds_per_example_cost(a1: Pieces, a2: Pieces, grads: list[Pieces], mode: str, *, triangle: bool) -> bool:
    """Whether pairs of positions cost more than per-example gradients; the sums are the same."""
    share = 0.75 if triangle else 1.0
    return share * pairs_cost(a1, a2, grads, mode) > per_example_cost(a1, a2, grads, mode)


def _join(pieces: Pieces) -> Tensor:
    return torch.cat(pieces) if len(pieces) > 1 else pieces[0]
