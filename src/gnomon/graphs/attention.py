"""Measures over how many neighbors each node of a graph attention network spreads its attention.

    H_i = -sum_j q_ij log q_ij,    exp(H_i) neighbors; log(degree) if all count equally                         (1)

Reference: [velickovic2018graph].
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors

__all__ = ["neighbor_attention_entropy"]


@add_call_to_errors
def neighbor_attention_entropy(attention: Any) -> Float[Tensor, " nodes"]:
    """Returns for each node the entropy of its attention weights over neighbors, in nats.

    See equation (1) of the module docstring.

    Args:
        attention: weights (nodes, nodes) whose rows sum to one, or a pair (edge_index, weights), as layers of PyTorch
            Geometric return with ``return_attention_weights=True``. Edges go from row 0 to row 1. Each edge has a
            weight, or a weight for each head (heads are averaged).

    Cost: one pass over the weights.

    >>> neighbor_attention_entropy(torch.tensor([[0.5, 0.5], [1.0, 0.0]])).exp().tolist()
    [2.0, 1.0]
    """
    if isinstance(attention, Tensor):
        total, entropy = attention.sum(-1), torch.special.entr(attention).sum(-1)
    else:
        edges, weights = attention
        weights = weights if weights.dim() == 1 else weights.mean(1)
        nodes = int(edges.max()) + 1
        empty = torch.zeros(nodes, dtype=weights.dtype, device=weights.device)
        total = empty.index_add(0, edges[1], weights)
        entropy = empty.index_add(0, edges[1], torch.special.entr(weights))
    if bool(((total - 1).abs() > 1e-3).logical_and(total != 0).any()):
        found = "the weights of a node do not sum to one"
        raise InputError(found, accepted="weights after softmax", fix="Pass attention weights, not logits")
    return entropy.detach()  # (1)
