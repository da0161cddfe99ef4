"""The cost of attention grows with the square of the length, the cost of a recurrence in proportion to the length.

    4 T^2 d operations for the products of queries, keys and values;   2 T (d^2 + d^2) for a recurrence       (1)

T is the length and d the width. Counted in operations, not in seconds. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The power of the length."""
    return 2.0


def count_operations(layer, lengths, width):
    """Operations of a forward pass, as torch counts them."""
    found = []
    for t in lengths:
        with FlopCounterMode(display=False) as counter:
            layer(torch.zeros(1, t, width, device="meta"))
        found.append(float(counter.get_total_flops()))
    return np.array(lengths, dtype=float), np.array(found)


def attention(x):
    """Products of all pairs of positions."""
    return torch.softmax(torch.bmm(x, x.transpose(1, 2)), -1) @ x


def recurrence(x):
    """A state carried from step to step."""
    w, h = torch.zeros(x.shape[2], x.shape[2], device="meta"), torch.zeros(1, x.shape[2], device="meta")
    for t in range(x.shape[1]):
        h = torch.tanh(torch.mm(x[:, t], w) + torch.mm(h, w))
    return h


observed = partial(count_operations, layer=attention)  # Attention.
control = partial(count_operations, layer=recurrence)  # A recurrence.

CLAIM = Claim(
    id="rnn-vs-transformer-cost",
    question="How does the cost of attention grow with the length?",
    equation=r"4 T^2 d \quad \text{against} \quad 4 T d^2",
    axes=("length T", "number of operations"),
    source=Source("derived", "vaswani2017attention"),
    premises=(Premise("every position is compared with every other"),),
    parameters={"lengths": (16, 32, 64, 128), "width": 16},
    judge=rate_is(label="length"),
)
