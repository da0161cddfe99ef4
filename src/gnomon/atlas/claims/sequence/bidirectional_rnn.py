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
    """Returns 1 if an output may depend on an input, otherwise 0: for one direction, then for both."""
    return np.stack([np.tril(np.ones((times, times))), np.ones((times, times))])


def dependence(kinds, times, seed):
    """Returns 1 if an output changes with an input, else 0, for both networks; ``kinds`` says which read both ways."""
    torch.manual_seed(seed)
    networks = [torch.nn.RNN(2, 6, batch_first=True, bidirectional=both) for both in kinds]
    return np.array([np.array(causality(r, torch.randn(3, times, 2)).dependence) > 0 for r in networks]).astype(float)


observed = partial(dependence, kinds=(False, True))  # The first network runs in one direction.
control = partial(dependence, kinds=(True, True))  # Control: both networks run in both directions.

CLAIM = Claim(
    id="bidirectional-rnn",
    question="Which inputs can an output of a recurrent network depend on?",
    equation=r"\frac{\partial y_t}{\partial x_s} = 0 \quad (s > t)",
    axes=("pair of output and input position (one direction, then both)", "1 if the output depends on the input"),
    source=Source("derived"),
    premises=(Premise("the first network runs in one direction"),),
    parameters={"times": 7},
    judge=equals(rounding=0),
)
