"""In a recurrent network of one direction an output depends on its past alone; in one of both directions on all inputs.

    dy_t / dx_s = 0  for s > t    in one direction                                                            (1)

Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.sequences import causality


def predicted(times):
    """One where an output may depend on an input, equation (1)."""
    return np.tril(np.ones((times, times)))


def seen(both, times, seed):
    """Which outputs change with which inputs."""
    torch.manual_seed(seed)
    rnn = torch.nn.RNN(2, 6, batch_first=True, bidirectional=both)
    return (np.array(causality(rnn, torch.randn(3, times, 2)).dependence) > 0).astype(float)


observed = partial(seen, both=False)  # One direction.
control = partial(seen, both=True)  # Both directions.

CLAIM = Claim(
    id="bidirectional-rnn",
    title="States of one direction see the past alone, those of both directions see everything",
    equation=r"\frac{\partial y_t}{\partial x_s} = 0 \quad (s > t)",
    source=Source("derived"),
    premises=(Premise("the network runs in one direction"),),
    parameters={"times": 7},
    judge=equals(rounding=0),
)
