"""Every layer of a dense block sees all before it, so that channels grow linearly.

    channels after l layers = c_0 + l growth                                                                  (1)

Reference: [huang2017densely].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import DenseBlock

BESIDE = "outputs are put beside the inputs"


def predicted(depth, growth, start):
    """Equation (1)."""
    return np.array([float(start + i * growth) for i in range(1, depth + 1)])


def observed(depth, growth, start):
    """Channels of blocks of every depth."""
    x = torch.zeros(1, start)
    with torch.no_grad():
        return np.array([float(DenseBlock(start, growth=growth, depth=i)(x).shape[1]) for i in range(1, depth + 1)])


def control(depth, growth, start):
    """Outputs that take the place of the inputs."""
    return np.array([float(torch.nn.Linear(start, growth)(torch.zeros(1, start)).shape[1])] * depth)


CLAIM = Claim(
    id="densenet",
    title="The channels of a dense block grow by a constant number a layer",
    equation=r"c_\ell = c_0 + \ell k",
    source=Source("theorem", "huang2017densely"),
    premises=(Premise(BESIDE),),
    breaks=BESIDE,
    parameters={"depth": 6, "growth": 3, "start": 4},
    judge=equals(rounding=0),
    predicted=predicted,
    observed=observed,
    control=control,
)
