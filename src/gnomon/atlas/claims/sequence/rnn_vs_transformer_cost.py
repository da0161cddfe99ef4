"""The number of operations of attention grows as the squared sequence length, of a recurrence as the length.

    4 T^2 d operations for the products of queries, keys and values;   4 T d^2 for a recurrence              (1)

T is the length and d the width. Counted in operations, not in seconds. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from gnomon.lab import Claim, Premise, Source, equals


def predicted(lengths, width):
    """Returns the numbers of operations: of attention at each length, then of the recurrence."""
    t = np.array(lengths, dtype=float)
    return np.r_[4 * t**2 * width, 4 * t * width**2]


def count_operations(window, lengths, width):
    """Returns the operations of attention and of the recurrence at each length, as torch counts them."""
    found = []
    for layer in (partial(attention, window=window), recurrence):
        for t in lengths:
            with FlopCounterMode(display=False) as counter:
                layer(torch.zeros(1, t, width, device="meta"))
            found.append(float(counter.get_total_flops()))
    return np.array(found)


def attention(x, window):
    """Returns attention between all pairs of positions, or between pairs within windows of this length."""
    x = x.reshape(-1, window or x.shape[1], x.shape[2])
    return torch.softmax(torch.bmm(x, x.transpose(1, 2)), -1) @ x


def recurrence(x):
    """Returns the last state of a recurrence."""
    w, h = torch.zeros(x.shape[2], x.shape[2], device="meta"), torch.zeros(1, x.shape[2], device="meta")
    for t in range(x.shape[1]):
        h = torch.tanh(torch.mm(x[:, t], w) + torch.mm(h, w))
    return h


observed = partial(count_operations, window=0)  # Every position attends to all positions.
control = partial(count_operations, window=8)  # Control: positions attend within windows of 8 positions only.

CLAIM = Claim(
    id="rnn-vs-transformer-cost",
    question="How does the cost of attention grow with the length?",
    equation=r"N_{\text{attention}} = 4 T^2 d, \quad N_{\text{recurrence}} = 4 T d^2",
    axes=("length T (attention, then recurrence)", "number of operations"),
    source=Source("derived", "vaswani2017attention"),
    premises=(Premise("every position is compared with every other"),),
    parameters={"lengths": (16, 32, 64, 128), "width": 16},
    judge=equals(rounding=0),
)
