"""A residual layer with zero weights returns its input, if the activation's value at zero is subtracted.

    F(x) = x + phi(W x + b) - phi(0),    F[0, 0](x) = x                                                       (1)

W and b are weights and biases, phi is the activation. Reference: [he2016deep].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import ResidualLayer


def inputs(width, seed):
    """Returns ten random input points for the residual layer."""
    return np.random.default_rng(seed).normal(size=(10, width))


def predicted(width, seed):
    """Returns the input points: a residual layer with zero weights must not change them."""
    return inputs(width, seed)


def output(whole, width, seed):
    """Returns a residual layer's output at zero parameters; only with ``whole`` it subtracts the activation at zero."""
    layer, x = ResidualLayer(width, torch.nn.Sigmoid()).double(), torch.from_numpy(inputs(width, seed))
    with torch.no_grad():
        for p in layer.parameters():
            p.zero_()
        return (layer(x) if whole else x + layer.activation(layer.linear(x))).numpy()


observed = partial(output, whole=True)  # The test subtracts the activation at zero, phi(0) = 0.5.
control = partial(output, whole=False)  # Without.

CLAIM = Claim(
    id="residual-layer",
    question="What does a residual layer do if its weights are zero?",
    equation=r"F[0, 0](x) = x",
    axes=("coordinate of the output, for ten inputs", "output"),
    source=Source("definition", "he2016deep"),
    premises=(Premise("the branch is zero if its weights are zero"),),
    parameters={"width": 5},
    judge=equals(rounding=10),
)
