"""Outputs of a one-directional recurrent network depend on past inputs only; of a bidirectional one, on all inputs.

    dy_t / dx_s = 0  for s > t    in one direction                                                            (1)

y_t is the output at time t and x_s the input at time s. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.sequences import causality


def predicted(times):
    """Returns 1 if an output may depend on an input, otherwise 0."""
    return np.tril(np.ones((times, times)))


def dependence(both, times, seed):
    """Returns 1 if an output changes with an input, else 0, for each pair of time steps."""
    torch.manual_seed(seed)
    rnn = torch.nn.RNN(2, 6, batch_first=True, bidirectional=both)
    return (np.array(causality(rnn, torch.randn(3, times, 2)).dependence) > 0).astype(float)


observed = partial(dependence, both=False)  # One direction.
control = partial(dependence, both=True)  # Both directions.

CLAIM = Claim(
    id="bidirectional-rnn",
    question="Which inputs can an output of a recurrent network depend on?",
    equation=r"\frac{\partial y_t}{\partial x_s} = 0 \quad (s > t)",
    axes=("pair of output and input position", "1 if the output depends on the input"),
    source=Source("derived"),
    premises=(Premise("the network runs in one direction"),),
    parameters={"times": 7},
    judge=equals(rounding=0),
)
