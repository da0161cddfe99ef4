"""Attention gives every position a mean of the values of all positions, weighted by softmax of the products.

    y_i = sum_t softmax_t(q_i.k_t / sqrt(d)) v_t                                                              (1)

It is sometimes printed with v_i in the place of v_t, which would give v_i itself.
Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(times, size, seed):
    """Queries, keys and values."""
    return np.random.default_rng(seed).normal(size=(3, times, size))


def predicted(times, size, seed):
    """PyTorch's own function."""
    q, k, v = torch.from_numpy(problem(times, size, seed))
    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0].numpy()


def attended(own, times, size, seed):
    """Equation (1) in a loop, or with the value of the query's own position."""
    q, k, v = problem(times, size, seed)
    found = np.zeros_like(v)
    for i in range(times):
        weights = np.exp(k @ q[i] / np.sqrt(size))
        for t in range(times):
            found[i] += weights[t] / weights.sum() * v[i if own else t]
    return found


observed = partial(attended, own=False)  # The values of all positions.
control = partial(attended, own=True)  # As it is sometimes printed.

CLAIM = Claim(
    id="self-attention",
    title="Attention is a mean of values, weighted by a softmax of products of queries and keys",
    equation=r"y_i = \sum_t \mathrm{softmax}_t(q_i \cdot k_t / \sqrt{d})\, v_t",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("the values are those of the positions that are looked at"),),
    parameters={"times": 7, "size": 4},
    judge=equals(rounding=1e4),
)
