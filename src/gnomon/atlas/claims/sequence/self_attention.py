"""Attention gives each position a weighted mean of all values, with weights from a softmax of query-key products.

    y_i = sum_t softmax_t(q_i.k_t / sqrt(d)) v_t                                                              (1)

q_i, k_t and v_t are queries, keys and values of size d. Some texts print v_i instead of v_t, which would give v_i
itself. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(times, size, seed):
    """Returns random queries, keys and values for each position."""
    return np.random.default_rng(seed).normal(size=(3, times, size))


def predicted(times, size, seed):
    """Returns the output of PyTorch's scaled_dot_product_attention."""
    q, k, v = torch.from_numpy(problem(times, size, seed))
    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0].numpy()


def attend(own, times, size, seed):
    """Returns the attention output computed in a loop; ``own`` uses only the value of the query's own position."""
    q, k, v = problem(times, size, seed)
    found = np.zeros_like(v)
    for i in range(times):
        weights = np.exp(k @ q[i] / np.sqrt(size))
        for t in range(times):
            found[i] += weights[t] / weights.sum() * v[i if own else t]
    return found


observed = partial(attend, own=False)  # Each output sums the values of all positions.
control = partial(attend, own=True)  # Control: uses only the value at the query's own position, as some texts print.

CLAIM = Claim(
    id="self-attention",
    question="What does attention compute?",
    equation=r"y_i = \sum_t \mathrm{softmax}_t(q_i \cdot k_t / \sqrt{d})\, v_t",
    axes=("output coordinate", "output"),
    source=Source("definition", "vaswani2017attention"),
    premises=(Premise("the values belong to the positions that are attended to"),),
    parameters={"times": 7, "size": 4},
    judge=equals(rounding=1e4),
)
