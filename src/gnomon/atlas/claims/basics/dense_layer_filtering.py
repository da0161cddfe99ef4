"""The output of each unit of a dense layer depends on the weights of that unit only.

    y_i = s(<w_i, x> + b_i),    dy_i / dw_j = s'(<w_i, x> + b_i) x 1{i = j}                              (1)

w_i and b_i are the weights and bias of unit i, x is the input and s the activation.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, m, seed):
    """Returns random weights, biases and an input."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((m, n), (m,), (n,))]


def predicted(n, m, seed):
    """Returns the layer's outputs and their derivatives with respect to all weights, by the formula for tanh."""
    w, b, x = (t.numpy() for t in problem(n, m, seed))
    y = np.tanh([sum(w[i, j] * x[j] for j in range(n)) + b[i] for i in range(m)])
    slopes = np.einsum("i,ij,k->ijk", 1 - y**2, np.eye(m), x)
    return [*y, *slopes.ravel()]


def layer(n, m, seed, activation):
    """Returns the outputs of nn.Linear and an activation, then their derivatives with respect to all weights."""
    w, b, x = problem(n, m, seed)
    module = nn.Sequential(nn.Linear(n, m), activation).double()
    with torch.no_grad():
        module[0].weight.copy_(w)
        module[0].bias.copy_(b)
    slopes = torch.autograd.functional.jacobian(lambda weight: activation(weight @ x + b), w)
    return torch.cat([module(x), slopes.flatten()])


observed = partial(layer, activation=nn.Tanh())  # tanh.
control = partial(layer, activation=nn.Softmax(-1))  # Control: softmax, whose outputs depend on all units of the layer.

CLAIM = Claim(
    id="dense-layer-filtering",
    question="What does one unit of a dense layer depend on?",
    equation=r"y_i = \sigma(w_i^T x + b_i)",
    axes=("output of a unit, then derivatives by all weights", "output; derivative"),
    source=Source("definition"),
    premises=(Premise("the activation acts on each unit separately"),),
    parameters={"n": 7, "m": 5},
    full={"n": 100, "m": 50},
    judge=equals(rounding=1000),  # tolerance 1000 x machine precision: a sum of n terms and a tanh round a few n times
)
