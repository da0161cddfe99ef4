"""At zero weights, the Jacobian of a residual block equals the matrix V of its skip connection.

    F(x) = V x + phi(W x + b) - phi(0),    dF/dx = V at W = 0                                                 (1)

W and b are the weights and biases of the branch, phi is its activation. Reference: [he2016deep].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(inputs, outputs, seed):
    """Returns a random matrix V for the skip connection."""
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(outputs, inputs)))


def predicted(inputs, outputs, seed):
    """Returns the matrix V of the skip connection, which is the Jacobian if all other weights are zero."""
    return net(inputs, outputs, seed).numpy()


def jacobian(skip, inputs, outputs, seed):
    """Returns the Jacobian of the block at zero weights and fixed biases, by automatic differentiation."""
    v = net(inputs, outputs, seed)
    w, b = torch.zeros(outputs, inputs).double(), torch.linspace(-1, 1, outputs).double()

    def block(x):
        return skip * (v @ x) + torch.tanh(w @ x + b) - torch.tanh(torch.zeros(outputs).double())

    return torch.autograd.functional.jacobian(block, torch.ones(inputs).double()).numpy()


observed = partial(jacobian, skip=1.0)  # The block has its skip connection.
control = partial(jacobian, skip=0.0)  # A plain layer.

CLAIM = Claim(
    id="residual-projection",
    question="What does a residual block do at zero weights if it changes the width?",
    equation=r"F(x) = V x + \phi(W x + b) - \phi(0), \quad F'|_{W = 0} = V",
    axes=("entry of the Jacobian", "derivative"),
    source=Source("definition", "he2016deep"),
    premises=(Premise("the skip connection is a matrix of its own"),),
    parameters={"inputs": 5, "outputs": 7},
    judge=equals(rounding=4),
)
