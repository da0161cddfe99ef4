"""A recurrent state with a constant forget gate g keeps the share g^t of its value after t steps.

    z_t = g z_{t-1}  =>  z_t = g^t z_0                                                                        (1)

z_t is the state. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times, gate):
    """Returns the remaining share g^t of the state after each step t."""
    return gate ** np.arange(1, times + 1)


def cell_values(feedback, times, gate):
    """Returns the cell of torch's LSTM with constant forget gate and no input; ``feedback`` lets the gate see h."""
    cell = torch.nn.LSTMCell(1, 1).double()
    with torch.no_grad():
        for p in cell.parameters():
            p.zero_()
        cell.bias_hh[1] = float(np.log(gate / (1 - gate)))  # rows in torch: input, forget, candidate, output gate
        cell.weight_hh[1, 0] = feedback
        h, c, found = torch.zeros(1, 1).double(), torch.ones(1, 1).double(), []
        for _ in range(times):
            h, c = cell(torch.zeros(1, 1).double(), (h, c))  # Without input the candidate is tanh(0) = 0.
            found.append(float(c))
    return np.array(found)


observed = partial(cell_values, feedback=0.0)  # A constant gate.
control = partial(cell_values, feedback=1.0)  # Control: the gate depends on the state instead of being constant.

CLAIM = Claim(
    id="gating-mechanism",
    question="How long does a gated memory last?",
    equation=r"z_t = g^t z_0",
    axes=("number of steps t", "remaining memory"),
    source=Source("derived"),
    premises=(Premise("the gate does not depend on the state"),),
    parameters={"times": 30, "gate": 0.9},
    judge=equals(rounding=1e3),  # tolerance 1000 x machine precision: thirty products, each with a rounding error
)
