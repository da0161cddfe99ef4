"""A residual layer whose parameters are zero is the identity.

    F(x) = x + phi(W x + b) - phi(0),    F[0, 0](x) = x                                                       (1)

Reference: [he2016deep].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import ResidualLayer


def inputs(width, seed):
    """Points."""
    return np.random.default_rng(seed).normal(size=(10, width))


def predicted(width, seed):
    """The inputs."""
    return inputs(width, seed)


def observed(width, seed):
    """A residual layer with a sigmoid, all parameters zero."""
    layer = ResidualLayer(width, torch.nn.Sigmoid()).double()
    with torch.no_grad():
        for p in layer.parameters():
            p.zero_()
        return layer(torch.from_numpy(inputs(width, seed))).numpy()


def control(width, seed):
    """The same without phi(0) subtracted."""
    return inputs(width, seed) + 0.5


CLAIM = Claim(
    id="residual-layer",
    title="A residual layer without weights is the identity, if its activation at zero is subtracted",
    equation=r"F[0, 0](x) = x",
    source=Source("theorem", "he2016deep"),
    premises=(Premise("what is added vanishes without weights"),),
    parameters={"width": 5},
    judge=equals(rounding=10),
)
