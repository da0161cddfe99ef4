"""A recurrence whose gates do not depend on the state is linear, so a parallel scan can compute all states.

    z_t = s_t z_{t-1} + (1 - s_t) (V x_t),    s_t = sigmoid(G x_t)                                            (1)

x_t is the input, z_t the state, s_t the gate, V and G are matrices. Reference: [feng2024were].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.scan import linear_scan


def problem(times, seed):
    """Returns random gate inputs and candidate states for each time step."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(times, 3)), rng.normal(size=(times, 3))


def predicted(times, seed):
    """Returns the states by a parallel scan."""
    a, v = (torch.from_numpy(p)[None] for p in problem(times, seed))
    return linear_scan(torch.sigmoid(a), (1 - torch.sigmoid(a)) * v)[0].numpy()


def loop(feedback, times, seed):
    """Returns the states, step by step; with ``feedback`` the gates depend on the state."""
    z, found = np.zeros(3), []
    for a, v in zip(*problem(times, seed), strict=True):
        gate = 1 / (1 + np.exp(-(a + feedback * z)))
        z = gate * z + (1 - gate) * v
        found.append(z)
    return np.array(found)


observed = partial(loop, feedback=0.0)  # The gates depend on the input only, not on the state.
control = partial(loop, feedback=1.0)  # Control: the gates depend on the state, so a scan is wrong.

CLAIM = Claim(
    id="linear-recurrent-unit-mingru",
    question="When can a recurrence be computed in parallel?",
    equation=r"z_t = \sigma_t z_{t-1} + (1 - \sigma_t) V x_t",
    axes=("unit at each time", "state"),
    source=Source("theorem", "feng2024were"),
    premises=(Premise("gates do not see the state"),),
    parameters={"times": 40},
    judge=equals(rounding=1e4),
)
