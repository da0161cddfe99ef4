"""A recurrence whose gates do not see the state is linear in it, and a scan gives all states at once.

    z_t = s_t z_{t-1} + (1 - s_t) (V x_t),    s_t = sigmoid(G x_t)                                            (1)

Reference: [feng2024were].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.scan import linear_scan


def problem(times, seed):
    """Arguments of the gates, and candidates."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(times, 3)), rng.normal(size=(times, 3))


def predicted(times, seed):
    """The scan."""
    a, v = (torch.from_numpy(p)[None] for p in problem(times, seed))
    return linear_scan(torch.sigmoid(a), (1 - torch.sigmoid(a)) * v)[0].numpy()


def loop(feedback, times, seed):
    """Equation (1), step by step; the gate may see the state."""
    z, found = np.zeros(3), []
    for a, v in zip(*problem(times, seed), strict=True):
        gate = 1 / (1 + np.exp(-(a + feedback * z)))
        z = gate * z + (1 - gate) * v
        found.append(z)
    return np.array(found)


observed = partial(loop, feedback=0.0)  # Gates of the input.
control = partial(loop, feedback=1.0)  # Gates that see the state.

CLAIM = Claim(
    id="linear-recurrent-unit-mingru",
    title="A recurrence whose gates do not see the state is computed for all times at once",
    equation=r"z_t = \sigma_t z_{t-1} + (1 - \sigma_t) V x_t",
    source=Source("theorem", "feng2024were"),
    premises=(Premise("gates do not see the state"),),
    parameters={"times": 40},
    judge=equals(rounding=1e4),
)
