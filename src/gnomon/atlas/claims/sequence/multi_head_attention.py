"""Multi-head attention runs attention on blocks of the channels, concatenates the results, and maps them linearly.

    y = W_o [A_1 V_1, ..., A_h V_h],    4 d^2 weights                                                         (1)

A_i are the attention weights and V_i the values of head i of h; W_o is the output matrix, d the size.
Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(size, heads, seed):
    """Returns a multi-head attention module of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.MultiheadAttention(size, heads, bias=False, batch_first=True).double()


def inputs(times, size, seed):
    """Returns a random sequence as input of the attention module."""
    return np.random.default_rng(seed).normal(size=(times, size))


def predicted(times, size, heads, seed):
    """Returns the output of PyTorch's multi-head attention module."""
    x = torch.from_numpy(inputs(times, size, seed))[None]
    with torch.no_grad():
        return net(size, heads, seed)(x, x, x)[0][0].numpy()


def by_heads(stride, times, size, heads, seed):
    """Returns the attention output computed head by head; ``stride`` interleaves the channels of the heads."""
    m, x = net(size, heads, seed), inputs(times, size, seed)
    q, k, v = (x @ w.T for w in m.in_proj_weight.detach().numpy().reshape(3, size, size))
    found = np.zeros((times, size))
    for h in range(heads):
        part = np.arange(h, size, heads) if stride else np.arange(size).reshape(heads, -1)[h]
        weights = np.exp(q[:, part] @ k[:, part].T / np.sqrt(len(part)))
        found[:, part] = weights / weights.sum(1, keepdims=True) @ v[:, part]
    return found @ m.out_proj.weight.detach().numpy().T


observed = partial(by_heads, stride=False)  # Neighboring channels.
control = partial(by_heads, stride=True)  # Interleaved channels.

CLAIM = Claim(
    id="multi-head-attention",
    question="What does multi-head attention compute?",
    equation=r"y = W_o\, [A_1 V_1, \dots, A_h V_h]",
    axes=("output coordinate", "output"),
    source=Source("definition", "vaswani2017attention"),
    premises=(Premise("a head is a block of neighboring channels"),),
    parameters={"times": 5, "size": 8, "heads": 4},
    judge=equals(rounding=1e4),
)
