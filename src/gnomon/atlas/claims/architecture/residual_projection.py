"""Where a residual block changes the width, its skip is a matrix V, and V is all that is left at zero weights.

    F(x) = V x + phi(W x + b) - phi(0),    dF/dx = V at W = 0                                                 (1)

Reference: [he2016deep].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(inputs, outputs, seed):
    """The matrix of the skip."""
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(outputs, inputs)))


def predicted(inputs, outputs, seed):
    """V itself."""
    return net(inputs, outputs, seed).numpy()


def jacobian(skip, inputs, outputs, seed):
    """Of the block at zero weights and random biases, by automatic differentiation."""
    v = net(inputs, outputs, seed)
    w, b = torch.zeros(outputs, inputs).double(), torch.linspace(-1, 1, outputs).double()

    def block(x):
        return skip * (v @ x) + torch.tanh(w @ x + b) - torch.tanh(torch.zeros(outputs).double())

    return torch.autograd.functional.jacobian(block, torch.ones(inputs).double()).numpy()


observed = partial(jacobian, skip=1.0)  # With the skip.
control = partial(jacobian, skip=0.0)  # A plain layer.

CLAIM = Claim(
    id="residual-projection",
    title="At zero weights a residual block of changing width is its matrix of projection",
    equation=r"F(x) = V x + \phi(W x + b) - \phi(0), \quad F'|_{W = 0} = V",
    source=Source("derived", "he2016deep"),
    premises=(Premise("the skip is a matrix of its own"),),
    parameters={"inputs": 5, "outputs": 7},
    judge=equals(rounding=4),
)
